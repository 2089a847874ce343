"""The packages of ours that are installed: reports are made with their words."""

from importlib.util import find_spec
from pathlib import Path

from ipclab.paths import Paths

PACKAGES = "ipclab", "ipclab_more"
LOCALE = Path(__file__).with_name("locale")  # the gettext catalogues


def packages_with_words() -> tuple[Path, ...]:
    """Return the folders of the packages that are installed."""
    specs = [find_spec(name) for name in PACKAGES]
    return tuple(Path(spec.origin).parent for spec in specs if spec and spec.origin)


def control_file(paths: Paths) -> Path:
    """Return the file of what a document's first page says, and of requirements; it may be empty."""
    own = paths.home / "report.toml"
    return own if own.is_file() else paths.root / "report.toml"
