"""What a measuring session owns outside the checkout, written down before it exists, so that it can be removed.

Every shared name carries the session's id: the owner's pid, its start time and a random part. A name is removed only
when a ledger file says that the session made it and the owner is gone, never because it looks like ours.
"""

import json
import os
import secrets
import shutil
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from ipclab.errors import LabError

SHARED_MEMORY = Path("/dev/shm")
NAME_KINDS = ("", "sem.")  # how glibc names shared memory and named semaphores below /dev/shm


@dataclass(frozen=True)
class Session:
    """One measuring process and what it may leave behind."""

    id: str
    pid: int
    start_ticks: int
    boot_id: str
    folder: str  # private temporary folder: sockets, databases

    def prefix(self, launch: int) -> str:
        """Return the prefix of every shared name of launch number `launch`."""
        return f"{self.id}-{launch}"


def start_ticks(pid: int) -> int | None:
    """Return the start time of process `pid` in clock ticks since boot, or None when there is none."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])


def boot_id() -> str:
    """Return the random id of this boot of the kernel."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def open_session(ledger: Path) -> Session:
    """Write down a new session of this process in folder `ledger`, then create its private folder.

    Raises `LabError` when the ledger cannot be written.
    """
    pid = os.getpid()
    ticks = start_ticks(pid) or 0
    name = f"ipclab-{pid}-{ticks}-{secrets.token_hex(4)}"
    session = Session(name, pid, ticks, boot_id(), str(Path(tempfile.gettempdir()) / name))
    try:
        ledger.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(ledger / f"{name}.json", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except OSError as error:
        fix = "make the data folder writable or set IPCLAB_DATA to one that is"
        raise LabError(f"cannot write in {ledger}", error.strerror or "", fix) from error
    with os.fdopen(descriptor, "w") as file:
        json.dump(asdict(session), file)
    Path(session.folder).mkdir(mode=0o700)
    return session


def remove_names(session: Session, launch: int | None = None, shared_memory: Path = SHARED_MEMORY) -> list[str]:
    """Unlink the shared names of `session` (of one launch when given) and return them."""
    prefix = session.id if launch is None else session.prefix(launch)
    starts = tuple(f"{kind}{prefix}-" for kind in NAME_KINDS)
    removed = []
    for entry in sorted(os.scandir(shared_memory), key=lambda entry: entry.name):
        # The session's fork server may be removing the same names at this moment.
        with suppress(FileNotFoundError):
            if entry.name.startswith(starts) and entry.stat(follow_symlinks=False).st_uid == os.getuid():
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    Path(entry.path).unlink()
                removed.append(entry.name)
    return removed


def close_session(ledger: Path, session: Session, shared_memory: Path = SHARED_MEMORY) -> list[str]:
    """Remove all that `session` owns, then its ledger file; return what was removed."""
    removed = remove_names(session, shared_memory=shared_memory)
    folder = Path(session.folder)
    if folder.name == session.id and folder.is_dir() and not folder.is_symlink():
        shutil.rmtree(folder, ignore_errors=True)
        removed.append(str(folder))
    (ledger / f"{session.id}.json").unlink(missing_ok=True)
    return removed


def is_alive(session: Session) -> bool:
    """Tell whether the very process that opened `session` still runs."""
    return session.boot_id == boot_id() and start_ticks(session.pid) == session.start_ticks


def clean(ledger: Path, shared_memory: Path = SHARED_MEMORY) -> list[str]:
    """Close every session whose owner is dead; return what was removed."""
    removed: list[str] = []
    for file in sorted(ledger.glob("ipclab-*.json")):
        try:
            session = Session(**json.loads(file.read_text()))
        except FileNotFoundError:
            continue  # its fork server closed it in the meantime
        except (ValueError, TypeError):
            # Killed while writing its first line: nothing had been created yet.
            if (ticks := _owner_in_name(file)) is None or start_ticks(ticks[0]) != ticks[1]:
                file.unlink(missing_ok=True)
            continue
        if file.stem == session.id and not is_alive(session):
            removed += close_session(ledger, session, shared_memory)
    return removed


def _owner_in_name(file: Path) -> tuple[int, int] | None:
    parts = file.stem.split("-")
    try:
        return int(parts[1]), int(parts[2])
    except (IndexError, ValueError):
        return None
