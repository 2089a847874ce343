"""Every path of a checkout, in one object."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


def _below(top: str, path: str) -> "cached_property[Path]":
    """Return a path below another one of the same checkout."""
    return cached_property(lambda paths: Path(getattr(paths, top)) / path)


@dataclass(frozen=True)
class Paths:
    """The folders of one checkout below `root`."""

    root: Path

    @cached_property
    def data(self) -> Path:
        """Runs, published tables, the reference run; `IPCLAB_DATA` moves it."""
        return Path(os.environ.get("IPCLAB_DATA") or self.root / "data")

    runs = _below("data", "runs")  # made in this checkout, one folder a machine
    imported = _below("data", "imported")  # brought from other machines, one folder each; never the newest run here
    opened = _below("data", "opened")  # the committed runs, taken out of their bundles on first use
    ledger = _below("data", "runs/.ledger")  # what measuring sessions own outside the checkout
    scratch = _below("data", "scratch")  # files that the file-reading study makes, when no other place is named
    published = _below("root", "data/published")  # the transcribed tables of the published texts
    reference = _below("root", "data/reference.ipclab")  # the committed run, a bundle
    compared = _below("root", "data/compared.ipclab")  # a run of another machine, to compare in a fresh clone
    notebooks = _below("root", "notebooks")  # outputs stripped
    figures = _below("root", "figures")  # SVG and PNG, made
    reports = _below("root", "reports")  # HTML and PDF, made
    lock = _below("root", "requirements.lock")  # pins the environment
    control = _below("root", "report.toml")  # what the appendix's first page says of the document; requirements
    package = Path(__file__).parent
    locale = package / "locale"  # the gettext catalogues


def existing(folder: Path) -> Path:
    """Return `folder`, or its nearest parent that is there already."""
    return next(place for place in (folder, *folder.parents) if place.exists())


def checkout() -> Paths:
    """Return the paths of the checkout that this package lies in, or of `IPCLAB_ROOT`."""
    return Paths(Path(os.environ.get("IPCLAB_ROOT") or Path(__file__).parent.parent))
