"""Many bundles as one page: machines by mechanisms, over their limits, and by rank."""

from collections.abc import Iterator
from pathlib import Path

from ipclab.errors import UsageError

SUFFIX = ".ipclab"


def files_in(folder: Path) -> Iterator[Path]:
    """Yield the bundles in `folder`, at any depth."""
    if folder.is_dir():
        yield from filter(Path.is_file, folder.rglob(f"*{SUFFIX}"))


def require_bundles(folder: Path) -> None:
    """Raise `UsageError` for a folder without any bundle."""
    if next(files_in(folder), None) is None:
        why = f"no file ends in {SUFFIX}" if folder.is_dir() else "there is no such folder"
        raise UsageError(f"{folder} holds no bundle", why, "put there what 'ipclab bundle' wrote")
