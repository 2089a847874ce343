"""What a session owns outside the checkout, written down before it exists, to be removed.

Every shared name begins with the session's id, the owner's pid and a random part, and goes on with
what nobody else can foresee (`names`). A name is removed only when a ledger file says that the
session made it and the owner is gone, never because it looks like ours. The owner holds a lock
(flock) on its ledger file for as long as it lives: unlike its pid, that means the same in every PID
namespace.

A ledger file is the session as one line of JSON, and below it a line for each thing of another kind
(`owned`).
"""

import errno
import os
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Annotated

import msgspec

from ipclab.errors import LabError
from ipclab.spawn import owned
from ipclab.spawn.names import is_own_folder, is_private
from ipclab.store.files import PART, locked

SHARED_MEMORY = Path("/dev/shm")
# How glibc names shared memory and named semaphores below /dev/shm; shm-rpc-bridge puts letters of
# its own before.
NAME_KINDS = ("", "sem.", "srb_", "sem.srb_")
OPENING_SECONDS = 60.0  # a ledger file younger than this may still be without its first line
# Leaves 19 bytes of unix(7)'s sun_path for what a session puts below its folder
LONGEST_FOLDER = 88
SHORT = ("/tmp", "/var/tmp")
_locks: dict[str, ExitStack] = {}  # of this process's own sessions, by id


class Session(msgspec.Struct, frozen=True):
    """One measuring process and what it may leave; `folder` is private: sockets, databases."""

    id: Annotated[str, msgspec.Meta(pattern=r"\Aipclab-[0-9]+-[0-9a-f-]+\Z")]
    folder: str

    def prefix(self, launch: int) -> str:
        """Return the prefix of every shared name of launch number `launch`."""
        return f"{self.id}-{launch}"


def _temporary(length: int) -> Path:
    """Return the folder for temporary files, or a shorter one where names of `length` need it.

    A socket's path has 107 bytes at most.
    """
    usual = Path(tempfile.gettempdir())
    places = [usual, *(place for place in map(Path, SHORT) if os.access(place, os.W_OK | os.X_OK))]
    return next(
        (place for place in places if len(os.fsencode(place)) + length <= LONGEST_FOLDER), usual
    )


def ledger_file(ledger: Path, session: str) -> Path:
    """Return the ledger file of the session whose id is `session`."""
    return ledger / f"{session}.json"


def open_session(ledger: Path) -> Session:
    """Write down a new session of this process in folder `ledger`, then create its private folder.

    Raises `LabError` when the ledger or the folder for temporary files cannot be written.
    """
    name = f"ipclab-{os.getpid()}-{secrets.token_hex(4)}"
    folder = _temporary(len(name)) / name
    session = Session(name, str(folder))
    place, lock = ledger, ExitStack()
    _locks[name] = lock
    try:
        ledger.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not is_own_folder(ledger):
            raise PermissionError(errno.EPERM, "another user owns it, or may write to it")
        flags = os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_WRONLY
        made = locked(ledger_file(ledger, name), BlockingIOError(), flags)
        os.write(lock.enter_context(made), msgspec.json.encode(session) + b"\n")
        place = folder
        folder.mkdir(mode=0o700)
    except BaseException as error:
        close_session(ledger, session)
        if not isinstance(error, OSError):
            raise
        fix = (
            "make the folder writable or set IPCLAB_DATA (data) or TMPDIR (temporary files) to one"
            " that is"
        )
        raise LabError(f"cannot write in {place}", error.strerror or "", fix) from error
    return session


@contextmanager
def private(ledger: Path, *files: Path) -> Iterator[Path]:
    """Give a private folder that goes when the block ends, or with `ipclab clean` after a kill.

    `files`, which must not be there yet, go the same way. Raises as `open_session` does.
    """
    session = open_session(ledger)
    try:
        for path in files:
            try:
                owned.own(ledger_file(ledger, session.id), "file", str(path))
            except FileExistsError as error:
                raise LabError(f"{path} is there already", "", "remove it") from error
        yield Path(session.folder)
    finally:
        close_session(ledger, session)


def read_session(file: Path) -> Session | None:
    """Return the session of a ledger file, or None when it does not say.

    Raises `OSError` when it cannot be read.
    """
    try:
        return msgspec.json.decode(file.read_bytes().partition(b"\n")[0], type=Session)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def free_shared_memory() -> int:
    """Return how many bytes are free in /dev/shm."""
    return shutil.disk_usage(SHARED_MEMORY).free


def remove_names(start: str) -> list[str]:
    """Unlink the shared names that begin with `start` and a hyphen, and return them."""
    starts = tuple(f"{kind}{start}-" for kind in NAME_KINDS)
    removed = []
    with suppress(OSError):  # no such folder here
        for entry in sorted(os.scandir(SHARED_MEMORY), key=lambda entry: entry.name):
            # The session's fork server may be removing the same names at this moment.
            with suppress(FileNotFoundError):
                if (
                    entry.name.startswith(starts)
                    and entry.stat(follow_symlinks=False).st_uid == os.getuid()
                ):
                    _remove(Path(entry.path))
                    removed.append(entry.name)
    return removed


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def remove_launch(prefix: str, folder: str) -> None:
    """Remove all that the launch whose names start with `prefix` has left, in `folder` too."""
    remove_names(prefix)
    number = prefix.rpartition("-")[2]
    with suppress(OSError):
        owned.remove_owned((Path(folder) / f"{number}-{owned.FILE}").read_bytes())
    for start in (number, prefix):
        for path in Path(folder).glob(f"{start}-*") if folder else ():
            _remove(path)


def close_session(ledger: Path, session: Session) -> list[str]:
    """Remove all that `session` owns, then its ledger file; return what was removed."""
    removed = remove_names(session.id)
    file, folder = ledger_file(ledger, session.id), Path(session.folder)
    if folder.name == session.id and is_own_folder(folder):
        for listed in sorted(folder.glob(f"*-{owned.FILE}")):
            removed += owned.remove_owned(listed.read_bytes())
        shutil.rmtree(folder, ignore_errors=True)
        removed.append(str(folder))
    with suppress(OSError):
        lines = file.read_bytes().partition(b"\n")[2]
        removed += owned.remove_owned(lines, owned.NAMED_ANYWHERE)
        file.unlink(missing_ok=True)
    _locks.pop(session.id, ExitStack()).close()
    return removed


def is_alive(file: Path) -> bool:
    """Tell whether some process holds the ledger file `file`."""
    try:
        with suppress(FileNotFoundError), locked(file, BlockingIOError()):
            pass
    except BlockingIOError:
        return True
    return False


def close_dead_sessions(ledger: Path) -> list[str]:
    """Close every session whose owner is dead; return what was removed.

    What cannot be read is left alone, and what another user may have written.
    """
    removed: list[str] = []
    if not is_own_folder(ledger):
        return removed
    for file in sorted(ledger.glob("ipclab-*.json")):
        with suppress(OSError):  # not ours to read, or its fork server closed it in the meantime
            about = file.lstat()
            if not stat.S_ISREG(about.st_mode) or about.st_nlink > 1 or not is_private(about):
                continue
            session = read_session(file)
            if is_alive(file):
                continue
            if session is None:
                # Killed while writing its first line: nothing had been created yet.
                age = abs(time.time() - about.st_mtime)  # a clock may be set back
                if age > OPENING_SECONDS:
                    file.unlink()
            elif file.stem == session.id:
                removed += close_session(ledger, session)
    return removed


def clean_parts(tops: Iterable[Path]) -> list[str]:
    """Remove what killed processes were writing below the folders `tops`; return the names."""
    removed = []
    for path in (path for top in tops for path in sorted(top.rglob(f"*{PART}"))):
        pid = path.name.removesuffix(PART).rpartition(".")[2]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            path.unlink(missing_ok=True)
            removed.append(str(path))
    return removed
