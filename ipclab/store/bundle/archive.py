"""A tar file (ustar) in a zstd stream: plain files only, equal bytes for equal content, read without trust.

Python's `tarfile` follows what a header asks for (links, devices, names and sizes without bound). Here a header either
describes a plain file or ends the reading.
"""

import io
import shutil
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import pyarrow as pa

from ipclab.errors import LabError

BLOCK = 512
CHUNK = 1 << 20
PLAIN = (b"0", b"\0")


class HostileError(LabError):
    """The archive is not one that `write` makes."""

    def __init__(self, why: str) -> None:
        super().__init__("the bundle is refused", why, "get it again from who made it; nothing was placed")


class Member(NamedTuple):
    """A plain file of an archive: its name and size, and its content, which must be read before the next member."""

    name: str
    size: int
    chunks: Iterator[bytes]


def write(file: IO[bytes], members: Iterable[tuple[str, bytes | Path]]) -> None:
    """Write `members` (name and content, or the file that holds it) as a compressed archive into `file`.

    Raises `LabError` for a name that is too long for the format.
    """
    with pa.CompressedOutputStream(pa.PythonFile(file, mode="w"), "zstd") as out:
        for name, content in members:
            about = tarfile.TarInfo(name)
            about.size = size = len(content) if isinstance(content, bytes) else content.stat().st_size
            try:
                out.write(about.tobuf(tarfile.USTAR_FORMAT))
            except ValueError as error:
                fix = "its name is too long for the archive"
                raise LabError(f"{name} cannot be bundled", str(error), fix) from error
            with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as source:
                shutil.copyfileobj(source, out, CHUNK)
            out.write(bytes(-size % BLOCK))
        out.write(bytes(2 * BLOCK))


def read(path: Path) -> Iterator[Member]:
    """Yield the members of an archive in their order; raises `HostileError` for anything but plain files."""
    try:
        with path.open("rb") as file, pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd") as stream:
            yield from _members(stream)
    except (OSError, pa.ArrowException) as error:
        raise _incomplete(str(error)) from error


def _members(stream: Any) -> Iterator[Member]:
    while any(block := _exactly(stream, BLOCK)):
        try:
            about = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        except (tarfile.HeaderError, UnicodeError, ValueError) as error:
            raise HostileError(f"a header is damaged ({error})") from error
        if about.type not in PLAIN or about.linkname or about.size < 0:
            raise HostileError(f"{about.name!r} is no plain file")
        member = Member(about.name, about.size, _content(stream, about.size))
        yield member
        for _ in member.chunks:  # what the caller did not read
            pass
        if any(_exactly(stream, -about.size % BLOCK)):
            raise HostileError(f"something follows {about.name!r}")
    if any(_exactly(stream, BLOCK)) or stream.read(1):
        raise HostileError("something follows its end")


def _content(stream: Any, size: int) -> Iterator[bytes]:
    for at in range(0, size, CHUNK):
        yield _exactly(stream, min(size - at, CHUNK))


def _exactly(stream: Any, size: int) -> bytes:
    """Return the next `size` bytes; raises `HostileError` here, since a member's chunks are read outside of `read`."""
    found = bytearray()
    while len(found) < size:
        try:
            more = stream.read(size - len(found))
        except (OSError, pa.ArrowException) as error:
            raise _incomplete(str(error)) from error
        if not more:
            raise _incomplete("it ends too early")
        found += more
    return bytes(found)


def _incomplete(reason: str) -> HostileError:
    return HostileError(f"it is no complete archive ({reason.partition(chr(10))[0] or 'it cannot be read'})")
