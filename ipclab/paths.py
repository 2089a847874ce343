"""Every path of a checkout, in one object."""

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class Paths:
    """The folders of one checkout below `root`."""

    root: Path

    @cached_property
    def data(self) -> Path:
        """Runs, published tables, the reference run; `IPCLAB_DATA` moves it."""
        return Path(os.environ.get("IPCLAB_DATA") or self.root / "data")

    @property
    def runs(self) -> Path:
        """Runs made in this checkout, one folder a machine."""
        return self.data / "runs"

    @property
    def imported(self) -> Path:
        """Runs brought from other machines, one folder a machine; never this machine's own newest run."""
        return self.data / "imported"

    @property
    def opened(self) -> Path:
        """The committed runs, taken out of their bundles on first use; one folder a machine."""
        return self.data / "opened"

    @property
    def ledger(self) -> Path:
        """What measuring sessions own outside the checkout."""
        return self.data / "runs" / ".ledger"

    @property
    def scratch(self) -> Path:
        """Files that the file-reading study makes, when the person names no other place."""
        return self.data / "scratch"

    @property
    def published(self) -> Path:
        """The transcribed tables of the published texts."""
        return self.root / "data" / "published"

    @property
    def reference(self) -> Path:
        """The committed run, a bundle."""
        return self.root / "data" / "reference.ipclab"

    @property
    def compared(self) -> Path:
        """A committed run of another machine, for the comparison in a fresh clone; a bundle."""
        return self.root / "data" / "compared.ipclab"

    @property
    def notebooks(self) -> Path:
        """The notebooks, outputs stripped."""
        return self.root / "notebooks"

    @property
    def package(self) -> Path:
        """The `ipclab` package itself."""
        return Path(__file__).parent

    @property
    def locale(self) -> Path:
        """The gettext catalogues."""
        return self.package / "locale"

    @property
    def figures(self) -> Path:
        """SVG and PNG, made."""
        return self.root / "figures"

    @property
    def reports(self) -> Path:
        """HTML and PDF, made."""
        return self.root / "reports"

    @property
    def lock(self) -> Path:
        """The lock file that pins the environment."""
        return self.root / "requirements.lock"


def checkout() -> Paths:
    """Return the paths of the checkout that this package lies in, or of `IPCLAB_ROOT`."""
    return Paths(Path(os.environ.get("IPCLAB_ROOT") or Path(__file__).parent.parent))
