"""Every path of a checkout, in one object."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


class _Below:
    """A path below another one of the same checkout."""

    def __init__(self, top: str, path: str) -> None:
        self.top, self.path = top, path

    def __get__(self, paths: "Paths", _owner: type) -> Path:
        return Path(getattr(paths, self.top)) / self.path


@dataclass(frozen=True)
class Paths:
    """The folders of one checkout below `root`."""

    root: Path

    @cached_property
    def data(self) -> Path:
        """Runs, published tables, the reference run; `IPCLAB_DATA` moves it."""
        return Path(os.environ.get("IPCLAB_DATA") or self.root / "data")

    runs = _Below("data", "runs")  # made in this checkout, one folder a machine
    imported = _Below("data", "imported")  # brought from other machines, one folder each; never the newest run here
    opened = _Below("data", "opened")  # the committed runs, taken out of their bundles on first use
    ledger = _Below("data", "runs/.ledger")  # what measuring sessions own outside the checkout
    scratch = _Below("data", "scratch")  # files that the file-reading study makes, when no other place is named
    published = _Below("root", "data/published")  # the transcribed tables of the published texts
    reference = _Below("root", "data/reference.ipclab")  # the committed run, a bundle
    compared = _Below("root", "data/compared.ipclab")  # a run of another machine, to compare in a fresh clone
    notebooks = _Below("root", "notebooks")  # outputs stripped
    figures = _Below("root", "figures")  # SVG and PNG, made
    reports = _Below("root", "reports")  # HTML and PDF, made
    lock = _Below("root", "requirements.lock")  # pins the environment
    control = _Below("root", "report.toml")  # what the appendix's first page says of the document; requirements
    package = Path(__file__).parent
    locale = package / "locale"  # the gettext catalogues


def existing(folder: Path) -> Path:
    """Return `folder`, or its nearest parent that is there already."""
    return next(place for place in (folder, *folder.parents) if place.exists())


def checkout() -> Paths:
    """Return the paths of the checkout that this package lies in, or of `IPCLAB_ROOT`."""
    return Paths(Path(os.environ.get("IPCLAB_ROOT") or Path(__file__).parent.parent))
