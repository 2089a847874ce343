"""Every path of a checkout, or of an installed package, in one object."""

import os
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from platformdirs import user_data_path

SHIPPED = Path(__file__).parent / "shipped"  # where a wheel holds what a checkout has at its root
# of the goals that are no commands
INSTALL = {"setup": "pip install --upgrade 'ipclab[more,published,queues]'"}


def _below(top: str, path: str) -> "cached_property[Path]":
    """Return a path below another one of the same checkout."""
    return cached_property(lambda paths: getattr(paths, top) / path)


@dataclass(frozen=True)
class Paths:
    """What is read, below `root`, and what is made, below `home`: a checkout is both.

    Outside a checkout `root` belongs to the environment, which may be removed, and `home` is the
    user's.
    """

    root: Path
    user: Path | None = None

    @cached_property
    def home(self) -> Path:
        """The folder below which everything is made."""
        return self.user or self.root

    @cached_property
    def data(self) -> Path:
        """Runs and what was imported; `IPCLAB_DATA` moves it."""
        return Path(os.environ.get("IPCLAB_DATA") or self.home / "data")

    runs = _below("data", "runs")  # made in this checkout, one folder a machine
    # brought from other machines, one folder each; never the newest run here
    imported = _below("data", "imported")
    opened = _below("data", "opened")  # the committed runs, taken out of their bundles on first use
    ledger = _below("data", "runs/.ledger")  # what measuring sessions own outside the checkout
    published = _below("root", "data/published")  # the transcribed tables of the published texts
    reference = _below("root", "data/reference.ipclab")  # the committed run, a bundle
    notebooks = _below("root", "notebooks")  # 01 to 05 with outputs
    own = _below("home", "notebooks/own")  # a person's own, rendered with them
    figures = _below("home", "figures")  # SVG, PNG and PDF, made
    reports = _below("home", "reports")  # HTML and PDF, made
    lock = _below("root", "requirements.lock")  # pins the environment

    @property
    def control(self) -> Path:
        """What a document's first page says, and requirements; it may not be there."""
        own = self.home / "report.toml"
        return own if own.is_file() else self.root / "report.toml"


def table_beside(module: str, name: str) -> dict[str, Any]:
    """Return the TOML table `name` that lies beside the file of a module."""
    return tomllib.loads(Path(module).with_name(name).read_text("utf-8"))


def checkout() -> Paths:
    """Return the paths of the checkout in `IPCLAB_ROOT` or around this package, or installed."""
    if named := os.environ.get("IPCLAB_ROOT"):
        return Paths(Path(named))
    if SHIPPED.is_dir():
        return Paths(SHIPPED, user_data_path("ipclab", appauthor=False))
    return Paths(Path(__file__).parent.parent)


def measured_in(profile: str) -> str:
    """Return what to type for a report of a run in `profile`, which is measured first."""
    if not SHIPPED.is_dir():
        return f"make report PROFILE={profile}"
    return f"ipclab report --profile {profile} --measure"


def typed(goal: str, run: object = "") -> str:
    """Return what to type for `goal` of the Makefile about `run`; installed ones have none."""
    if not SHIPPED.is_dir():
        return f"make {goal} RUN={run}" if run else f"make {goal}"
    line = INSTALL.get(goal, f"ipclab {goal}")
    return f"{line} --run {run}" if run else line
