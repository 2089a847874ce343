"""A tar file (ustar) in a zstd stream: plain files only, equal bytes for equal content, read without trust.

Python's `tarfile` follows what a header asks for (links, devices, names and sizes without bound). Here a header either
describes a plain file or ends the reading.
"""

import io
import shutil
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, NamedTuple, Self

import pyarrow as pa

from ipclab.errors import LabError

CHUNK = 1 << 20


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
            out.write(bytes(-size % tarfile.BLOCKSIZE))
        out.write(bytes(2 * tarfile.BLOCKSIZE))


class _Plain(tarfile.TarInfo):
    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """Return what a header says, before anything acts on it; raises `HostileError` when it is no plain file's."""
        about = super().frombuf(buf, encoding, errors)
        if about.type not in tarfile.REGULAR_TYPES[:2] or about.linkname or about.size < 0:
            raise HostileError(f"{about.name!r} is no plain file")
        return about


def read(path: Path) -> Iterator[Member]:
    """Yield the members of an archive in their order; raises `HostileError` for anything but plain files."""
    with _refusing(), path.open("rb") as file, ExitStack() as stack:
        stream = stack.enter_context(pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd"))
        members = stack.enter_context(
            tarfile.open(fileobj=stream, mode="r|", bufsize=CHUNK, tarinfo=_Plain, errors="strict")
        )
        for about in members:
            yield Member(about.name, about.size, _content(members, about))


def _content(members: tarfile.TarFile, about: tarfile.TarInfo) -> Iterator[bytes]:
    with _refusing():  # here too, since a member's chunks are read outside of `read`
        content = members.extractfile(about)
        while content and (chunk := content.read(CHUNK)):
            yield chunk


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, tarfile.TarError, pa.ArrowException) as error:
        raise HostileError(f"it is no complete archive ({str(error).partition(chr(10))[0]})") from error
