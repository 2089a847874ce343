"""What a bundle is: `bundle.json`, which names every other file with its digest, then those files.

They lie in a tar file (ustar) in a zstd stream: plain files only, equal bytes for equal content,
read without trust. Python's `tarfile` follows what a header asks for (links, devices, names and
sizes without bound). Here a header either describes a plain file or ends the reading.
"""

import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tarfile import BLOCKSIZE
from typing import IO, Any, NamedTuple

import msgspec
import zstandard
from msgspec import Struct

from ipclab.errors import LabError
from ipclab.store.run import INDEX
from ipclab.store.schema import Count, Digest, FileName, MachineName, RunName, parse_run

CHUNK = 1 << 20
FORMAT = 1
INDEX_OF_BUNDLE = "bundle.json"
CRATE = "ro-crate-metadata.json"
CALIBRATION = "calibration.json"
BESIDE = (INDEX, CRATE, CALIBRATION)  # what a bundle holds and the run's own index does not name
LARGEST_INDEX = 64 << 20
# samples hardly shrink; a machine's texts shrink some twenty times
BOMB_RATIO, BOMB_SLACK = 200, 64 << 20
# bytes that are decoded at once: a block of 128 KiB takes 4 at least, so that 32 MiB come of them
STEP = 1 << 10
WINDOW = 1 << 27  # bytes that a decoder keeps at most


class HostileError(LabError):
    """The archive is not one that `write` makes."""

    def __init__(self, why: str) -> None:
        super().__init__(
            "the bundle is refused", why, "get it again from who made it; nothing was placed"
        )


class Member(NamedTuple):
    """A plain file of an archive; its content must be read before the next member."""

    name: str
    size: int
    chunks: Iterator[bytes]


class _Frame:
    """The content of a file that is one frame of zstd, decoded in steps of bounded size."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._frame = zstandard.ZstdDecompressor(max_window_size=WINDOW).decompressobj()
        self._left = bytearray()

    def exactly(self, size: int) -> bytes:
        """Return the next `size` bytes; raises `ValueError` where they end before."""
        while len(self._left) < size and not self._frame.eof and (step := self._file.read(STEP)):
            self._left += self._frame.decompress(step)
        content = bytes(self._left[:size])
        if len(content) < size:
            raise ValueError(f"{len(content)} bytes where {size} belong")
        del self._left[:size]
        return content

    def end(self) -> None:
        """Raise `HostileError` unless nothing follows: a decoder passes over what lies behind."""
        while not (self._left or self._frame.eof) and (step := self._file.read(STEP)):
            self._left += self._frame.decompress(step)
        if self._left or self._frame.unused_data or (self._frame.eof and self._file.read(1)):
            raise HostileError("bytes lie behind the archive's end")
        if not self._frame.eof:
            raise ValueError("it ends too early")


def read_members(path: Path) -> Iterator[Member]:
    """Yield the members of an archive in their order.

    Raises `HostileError` for anything but plain files, and for more than the archive.
    """
    with _refusing(), path.open("rb") as file:
        stream = _Frame(file)
        while (header := stream.exactly(BLOCKSIZE)) != bytes(BLOCKSIZE):
            about = tarfile.TarInfo.frombuf(header, "utf-8", "strict")  # nothing acts on it yet
            if about.type not in tarfile.REGULAR_TYPES[:2] or about.linkname or about.size < 0:
                raise HostileError(f"{about.name!r} is no plain file")
            chunks = _content(stream, about.size)
            yield Member(about.name, about.size, chunks)
            for _ in chunks:  # what nobody took
                pass
        if any(stream.exactly(BLOCKSIZE)):
            raise HostileError("bytes lie behind the archive's end")
        stream.end()


def _content(stream: _Frame, size: int) -> Iterator[bytes]:
    with _refusing():  # here too, since a member's chunks are read outside of `read_members`
        for start in range(0, size, CHUNK):
            yield stream.exactly(min(CHUNK, size - start))
        if any(stream.exactly(-size % BLOCKSIZE)):
            raise ValueError("bytes lie between two files")


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, tarfile.TarError, zstandard.ZstdError) as error:
        raise HostileError(
            f"it is no complete archive ({str(error).partition(chr(10))[0]})"
        ) from error


class Entry(Struct, frozen=True):
    """One file of a bundle: its size in bytes and its SHA-256."""

    name: str
    size: Count
    sha256: Digest


class Contents(Struct, frozen=True, kw_only=True):
    """A bundle's own index: the run's name and machine, and its files in the archive's order."""

    format: int = FORMAT
    run: RunName
    machine: MachineName
    files: list[Entry]


def contents_told(first: Member | None, packed: int) -> Contents:
    """Return what an archive's first file, `bundle.json`, says; the bundle has `packed` bytes.

    Raises `LabError` for a newer format and `HostileError` for names, sizes or digests that no
    bundle has.
    """
    if first is None or first.name.rpartition("/")[2] != INDEX_OF_BUNDLE:
        raise HostileError(f"it does not begin with {INDEX_OF_BUNDLE}")
    if first.size > LARGEST_INDEX:
        raise HostileError(f"its index has {first.size:,} bytes")
    text = b"".join(first.chunks)
    try:
        version = msgspec.json.decode(text, type=dict[str, Any]).get("format")
        if type(version) is int and version > FORMAT:
            why = f"this ipclab knows {FORMAT}"
            raise LabError(f"the bundle has format {version}", why, "use a newer ipclab")
        contents = msgspec.json.decode(text, type=Contents)
    except (ValueError, RecursionError) as error:
        raise HostileError(f"{INDEX_OF_BUNDLE} cannot be read ({error})") from error
    if contents.format != FORMAT:
        raise HostileError(f"its format is {contents.format}")
    for entry in contents.files:
        if entry.name in BESIDE:
            if entry.size > LARGEST_INDEX:
                raise HostileError(f"its {entry.name} has {entry.size:,} bytes")
            continue
        try:
            msgspec.convert(entry.name, FileName)
        except ValueError as error:
            raise HostileError(f"{entry.name!r} is no file of a run") from error
    if len({entry.name.lower() for entry in contents.files}) < len(contents.files):
        raise HostileError("two files have one name")
    total = sum(entry.size for entry in contents.files)
    if total > BOMB_RATIO * packed + BOMB_SLACK:
        raise HostileError(f"{total:,} bytes in a file of {packed:,}")
    return contents


def check_run(contents: Contents, text: bytes) -> None:
    """Raise `LabError` unless the run's index `text` is whole, known, and names these files."""
    about = parse_run(text, f"the bundle's {INDEX}")
    if about["machine"]["digest"] != contents.machine or not about["finished"]:
        raise HostileError(f"{INDEX} is of another machine, or of a run that is not finished")
    listed = {entry.name: entry.sha256 for entry in contents.files if entry.name not in BESIDE}
    if listed != about["files"]:
        odd = sorted(listed.items() ^ about["files"].items())[0][0]
        raise HostileError(f"{INDEX} and {INDEX_OF_BUNDLE} do not agree on {odd!r}")


class _File(Struct, frozen=True, rename={"id": "@id"}):
    id: str


class _Crate(Struct, frozen=True, rename={"graph": "@graph", "context": "@context"}):
    context: Any
    graph: list[_File]


def check_crate(text: bytes, names: set[str]) -> None:
    """Raise `HostileError` unless `text` describes a bundle with files of these `names`."""
    try:
        crate = msgspec.json.decode(text, type=_Crate)
    except (ValueError, RecursionError) as error:
        raise HostileError(f"{CRATE} cannot be read ({error})") from error
    if lacking := names - {entry.id for entry in crate.graph} - {CRATE}:
        raise HostileError(f"{CRATE} does not name {min(lacking)}")
