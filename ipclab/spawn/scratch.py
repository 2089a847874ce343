"""The scratch folder: files that a study makes on disk, marked as ours, held while in use."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ipclab.errors import LabError, blamed
from ipclab.machine.mounts import existing
from ipclab.spawn import names
from ipclab.store.files import locked

MARK = "ipclab-scratch"
FIX = "name another: --scratch DIR"


def path_of(folder: Path, tag: str) -> Path:
    """Return the subfolder of `folder` that holds the files of `tag`."""
    return folder / f"{MARK}-{tag}"


def check_writable(folder: Path) -> None:
    """Raise `LabError` when no files can be made in `folder`; it is left as it was."""
    with blamed(f"cannot make files in {folder}", FIX):
        tempfile.TemporaryDirectory(dir=existing(folder)).cleanup()


@contextmanager
def held_subfolder(folder: Path, tag: str, own: Callable[[Path], None]) -> Iterator[Path]:
    """Make (or find) the subfolder for `tag`, private to its owner, and hold it for this process.

    `own` is told of it before it exists, so that whoever owns it removes it. Raises `LabError` when
    it cannot be made, or when another process holds it.
    """
    path = path_of(folder, tag)
    own(path)
    taken = LabError(
        f"{path} is in use", "another process reads files there", f"wait for it, or {FIX}"
    )
    with ExitStack() as stack:
        with blamed(f"cannot make files in {folder}", FIX):
            folder.mkdir(parents=True, exist_ok=True)
            names.make_folder(path)
            held_flags = os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW
            stack.enter_context(locked(path / MARK, taken, held_flags))
        yield path


def remove_subfolder(path: Path) -> bool:
    """Remove a marked subfolder, and the folder around it when empty; tell whether there was one.

    One that some process holds stays, as does everything that `held_subfolder` did not make.
    """
    if path.is_symlink() or not path.name.startswith(f"{MARK}-"):
        return False
    try:
        for mine in (path, path / MARK):
            names.check_owner(mine, mine.lstat().st_uid)
        with locked(path / MARK, BlockingIOError(), os.O_RDWR | os.O_NOFOLLOW):
            shutil.rmtree(path, ignore_errors=True)
    except OSError:
        return False
    with suppress(OSError):
        path.parent.rmdir()
    return True
