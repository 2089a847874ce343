"""The scratch folder: files that a study makes on disk, marked as ours so that nothing else is ever removed."""

import shutil
from pathlib import Path

from ipclab.errors import LabError

MARK = "ipclab-scratch"


def open_scratch(folder: Path, tag: str) -> Path:
    """Make (or find) the subfolder `ipclab-scratch-<tag>` of `folder`, private to its owner, and return it.

    Raises `LabError` when it cannot be made.
    """
    path = folder / f"{MARK}-{tag}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
        (path / MARK).touch(mode=0o600)
    except OSError as error:
        raise LabError(f"cannot make files in {folder}", error.strerror or "", "name another: --scratch DIR") from error
    return path


def remove_scratch(folder: Path) -> list[Path]:
    """Remove every marked subfolder of `folder` that `open_scratch` made, and `folder` itself when it is then empty."""
    removed = []
    for path in sorted(folder.glob(f"{MARK}-*")) if folder.is_dir() else ():
        if not path.is_symlink() and (path / MARK).is_file():
            shutil.rmtree(path, ignore_errors=True)
            removed.append(path)
    if removed and not any(folder.iterdir()):
        folder.rmdir()
    return removed
