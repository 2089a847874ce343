"""Files that appear whole or not at all, their digests, and how they are read."""

import errno
import fcntl
import hashlib
import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from platformdirs import user_cache_path

from ipclab.errors import LabError, blamed

Kind = TypeVar("Kind")
PART = ".part"
LOCK = ".lock"  # in a folder that one process holds
POLL = 0.05  # seconds
PATIENCE = 120.0  # seconds, for what another process is making
MOST_TEXT = 1 << 20  # bytes of a file that a person writes
# of a file that must be made here and now: nobody's link is followed
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def state_of(file: str) -> tuple[int, ...]:
    """Return what changes when a file is touched; empty where there is none."""
    with suppress(OSError):
        status = os.stat(file)  # noqa: PTH116  # a Path takes longer to make than to look up
        return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
    return ()


def bounded(file: Path, most: int) -> bytes:
    """Return the content of a file.

    Raises `OSError`, and `ValueError` for one of more than `most` bytes.
    """
    with file.open("rb") as opened:
        content = opened.read(most + 1)
    if len(content) > most:
        raise ValueError(f"it has more than {most:,} bytes")
    return content


def read_json(file: Path, most: int, kind: type[Kind], fix: str) -> Kind:
    """Return the JSON of a file of at most `most` bytes; raises `LabError` for what is no `kind`."""
    named = f"{file} cannot be read"
    try:
        with blamed(named, fix):
            return msgspec.json.decode(bounded(file, most), type=kind)
    except (ValueError, RecursionError) as error:
        raise LabError(named, str(error), fix) from error


def file_text(file: Path) -> str:
    """Return the text of a small file that a person writes; raises as `bounded` for others."""
    return bounded(file, MOST_TEXT).decode()


def private_cache(name: str) -> Path:
    """Return a folder of the user's cache, made when missing; `PermissionError` for another's."""
    folder = user_cache_path("ipclab", appauthor=False) / name
    folder.mkdir(0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    private = stat.S_ISDIR(status.st_mode) and not status.st_mode & 0o077
    if not private or status.st_uid != os.geteuid():
        raise PermissionError(f"{folder} is not this user's alone")
    return folder


def part_of(path: Path) -> Path:
    """Return the file beside `path` in which this process writes what then takes its place."""
    return path.parent / f"{path.name}.{os.getpid()}{PART}"


@contextmanager
def whole(path: Path, mode: int = 0o666) -> Iterator[Path]:
    """Give a new, empty file of `mode` beside `path` to write, which then takes its place.

    Raises `LabError` when that cannot be written, or another user has made something there.
    """
    part = part_of(path)
    fix = "free some room, or choose a folder that can be written (IPCLAB_DATA, --out)"
    try:
        with blamed(f"cannot write {path}", fix):
            if path.exists() and not path.is_file():
                raise OSError("it is no regular file")
            path.parent.mkdir(parents=True, exist_ok=True)
            part.unlink(missing_ok=True)  # of a killed process that had our number, or a link
            os.close(os.open(part, NEW, mode))
            yield part
            part.replace(path)
    finally:
        # gone after the rename; on a file system that is read-only it never was
        with suppress(OSError):
            part.unlink()


@contextmanager
def written(path: Path, content: bytes) -> Iterator[Path]:
    """Give the complete temporary file with `content`, which then takes the place of `path`."""
    with whole(path) as part:
        with part.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        yield part


def write_whole(path: Path, content: bytes) -> None:
    """Write as `whole` does."""
    with written(path, content):
        pass


@contextmanager
def locked(
    path: Path, taken: Exception, flags: int = os.O_RDONLY, patience: float = 0
) -> Iterator[int]:
    """Hold `path` (flock) for this process and give its descriptor.

    Raises `taken` when another process holds it for longer than `patience` seconds, `OSError` when
    it cannot be opened.
    """
    descriptor = os.open(path, flags | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    deadline = time.monotonic() + patience
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                pass
            except OSError as error:
                if error.errno != errno.ENOLCK:
                    raise
                fix = "put the data where files can be locked (IPCLAB_DATA), or have it mounted so"
                raise LabError(f"{path} cannot be locked", error.strerror or "", fix) from error
            if time.monotonic() >= deadline:
                raise taken
            time.sleep(POLL)
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def once(digest: str) -> Iterator[None]:
    """Hold the right to make what the user's cache keeps of `digest`: others wait, and find it.

    Whoever cannot hold it, or not within `PATIENCE` seconds, makes it as well.
    """
    with ExitStack() as stack:
        with suppress(OSError, LabError):
            lock = private_cache("making") / f"{digest[:2]}{LOCK}"
            held = LabError(f"{lock} is held by another process")
            stack.enter_context(locked(lock, held, os.O_RDWR | os.O_CREAT, PATIENCE))
        yield


@contextmanager
def locked_folder(folder: Path, taken: LabError, patience: float = 0) -> Iterator[None]:
    """Hold `folder` for this process by a file in it that only this user can open.

    The folder itself anybody could hold who can read it. Raises as `locked` does, and `LabError`
    where the file is another user's, or cannot be made.
    """
    lock = folder / LOCK
    with ExitStack() as stack:
        with blamed(f"cannot lock {folder}", "remove it, or choose another IPCLAB_DATA"):
            if lock.is_symlink() or (lock.exists() and lock.stat().st_uid != os.geteuid()):
                raise PermissionError(f"{lock} is another user's")
            stack.enter_context(locked(lock, taken, os.O_RDWR | os.O_CREAT, patience))
        yield


def dump_json(value: Any) -> bytes:
    """Return `value` as JSON that is the same for equal values."""
    return (json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def unsealed(about: dict[str, Any]) -> dict[str, Any]:
    """Return `about` without its `digest`, the SHA-256 of all else as `dump_json` writes it.

    Raises `ValueError` when that is not the content's.
    """
    content = {name: value for name, value in about.items() if name != "digest"}
    if about.get("digest") != hashlib.sha256(dump_json(content)).hexdigest():
        raise ValueError("it was altered: its digest is not that of its content")
    return content
