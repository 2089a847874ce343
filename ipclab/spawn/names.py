"""Names that nobody else can foresee, and things made and opened under them that are only ours.

What lies in a place that all users share (/dev/shm, the kernel's message queues) is named by a key
that lies in the session's private folder: whoever sees one name cannot tell the next. It is made
exclusively; who opens it later follows no link and looks at its owner.
"""

import errno
import os
import secrets
import stat
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path

from ipclab.errors import LabError

KEY, KEY_BYTES = "key", 16


class TakenError(LabError, FileExistsError):
    """What was to be made, or opened as ours, is somebody else's."""


def taken(name: object) -> TakenError:
    """Return the error of a `name` that somebody else has made."""
    fix = "remove it, or have its owner remove it; then start again"
    return TakenError(f"{name} is there already", "another process or user made it", fix)


@contextmanager
def exclusively(name: object, there: type[Exception] = FileExistsError) -> Iterator[None]:
    """Raise the error `there` of a block that makes `name` as a `TakenError`."""
    try:
        yield
    except there as error:
        raise taken(name) from error


def make(path: Path, flags: int = os.O_RDWR) -> int:
    """Make the file at `path`, for its owner only, and return its descriptor.

    Raises `TakenError` when anything is there, a link to nowhere too.
    """
    flags |= os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with exclusively(path):
        return os.open(path, flags, 0o600)


def open_own(path: Path, flags: int = os.O_RDWR) -> int:
    """Open what this user has made at `path` and return its descriptor.

    Raises `TakenError` for a link and for what another user owns.
    """
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise taken(path) from error
        raise
    try:
        check_owner(path, os.fstat(descriptor).st_uid)
    except TakenError:
        os.close(descriptor)
        raise
    return descriptor


def check_owner(name: object, owner: int) -> None:
    """Raise `TakenError` unless `owner` is this user's id."""
    if owner != os.geteuid():
        raise taken(name)


def make_folder(path: Path) -> None:
    """Make the folder at `path`, for its owner only, or find it as it was made.

    Raises `TakenError` for a link, another user's folder and one that others may write to.
    """
    with suppress(FileExistsError):
        path.mkdir(mode=0o700)
    if not is_own_folder(path):
        raise taken(path)


def is_own_folder(path: Path) -> bool:
    """Tell whether `path` is a folder, not a link to one, that is this user's alone."""
    try:
        found = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and is_private(found)


def is_private(found: os.stat_result) -> bool:
    """Tell whether this user owns something that nobody else may write, link or share."""
    return found.st_uid == os.geteuid() and not found.st_mode & 0o022


@cache
def _key(folder: str) -> bytes:
    """Return the key in the private `folder`, made by whoever of its processes comes first.

    Raises `ValueError` without a folder: the working directory is not private.
    """
    if not folder:
        raise ValueError("the key of names needs a folder")
    path, fresh = Path(folder, KEY), Path(folder, secrets.token_hex(KEY_BYTES))
    if not path.exists():
        with os.fdopen(make(fresh, os.O_WRONLY), "wb") as file:
            file.write(secrets.token_bytes(KEY_BYTES))
        with suppress(FileExistsError):
            path.hardlink_to(fresh)
        fresh.unlink()
    with os.fdopen(open_own(path, os.O_RDONLY), "rb") as file:
        return file.read()


def name_digest(prefix: str, folder: str, tag: str, size: int = KEY_BYTES) -> bytes:
    """Return `size` bytes that stand for `tag` of the launch `prefix`, from the key in `folder`."""
    return blake2b(f"{prefix}-{tag}".encode(), key=_key(folder), digest_size=size).digest()


def shared(prefix: str, folder: str, tag: str) -> str:
    """Return the launch's own shared name for `tag`: 128 bits that only its processes can tell.

    It begins with `prefix`, by which the ledger finds what a dead owner has left.
    """
    told = urlsafe_b64encode(name_digest(prefix, folder, tag)).decode().rstrip("=")
    return f"{prefix}-{told}"
