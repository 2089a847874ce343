"""What a bundle is: `bundle.json`, which names every other file with its digest, then those files.

They lie in a tar file (ustar) in a zstd stream: plain files only, equal bytes for equal content,
read without trust. Python's `tarfile` follows what a header asks for (links, devices, names and
sizes without bound). Here a header either describes a plain file or ends the reading.
"""

import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tarfile import BLOCKSIZE
from typing import IO, Annotated, Any, NamedTuple

import msgspec
import pyarrow as pa
from msgspec import Meta, Struct

from ipclab.errors import LabError
from ipclab.store.run import INDEX
from ipclab.store.schema import Count, Digest, FileName, MachineName, parse_run

CHUNK = 1 << 20
FORMAT = 1
INDEX_OF_BUNDLE = "bundle.json"
CRATE = "ro-crate-metadata.json"
CALIBRATION = "calibration.json"
BESIDE = (INDEX, CRATE, CALIBRATION)  # what a bundle holds and the run's own index does not name
LARGEST_INDEX = 64 << 20
# samples hardly shrink; a machine's texts shrink some twenty times
BOMB_RATIO, BOMB_SLACK = 200, 64 << 20
MAGIC = bytes([0x28, 0xB5, 0x2F, 0xFD])  # with which a zstd frame begins
REPEATED = 1  # the kind of a block that is one byte, many times
RUN_NAME = "[0-9]{8}T[0-9]{6}Z-[0-9a-f]{6}"


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


def _plain(header: bytes) -> tarfile.TarInfo:
    """Return what a header says, before anything acts on it.

    Raises `HostileError` when it is no plain file's.
    """
    about = tarfile.TarInfo.frombuf(header, "utf-8", "strict")
    if about.type not in tarfile.REGULAR_TYPES[:2] or about.linkname or about.size < 0:
        raise HostileError(f"{about.name!r} is no plain file")
    return about


def read_members(path: Path) -> Iterator[Member]:
    """Yield the members of an archive in their order.

    Raises `HostileError` for anything but plain files.
    """
    with (
        _refusing(),
        path.open("rb") as file,
        pa.CompressedInputStream(pa.PythonFile(file, mode="r"), "zstd") as stream,
    ):
        while (header := _exactly(stream, BLOCKSIZE)) != bytes(BLOCKSIZE):
            about = _plain(header)
            chunks = _content(stream, about.size)
            yield Member(about.name, about.size, chunks)
            for _ in chunks:  # what nobody took
                pass
        if stream.read(CHUNK) != bytes(BLOCKSIZE):
            raise HostileError("bytes lie behind the archive's end")


def _content(stream: pa.NativeFile, size: int) -> Iterator[bytes]:
    with _refusing():  # here too, since a member's chunks are read outside of `read_members`
        for start in range(0, size, CHUNK):
            yield _exactly(stream, min(CHUNK, size - start))
        if any(_exactly(stream, -size % BLOCKSIZE)):
            raise ValueError("bytes lie between two files")


def _exactly(stream: pa.NativeFile, size: int) -> bytes:
    """Return the next `size` bytes of `stream`; raises `ValueError` where it ends before."""
    content: bytes = stream.read(size)
    if len(content) < size:
        raise ValueError(f"{len(content)} bytes where {size} belong")
    return content


@contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, tarfile.TarError, pa.ArrowException) as error:
        raise HostileError(
            f"it is no complete archive ({str(error).partition(chr(10))[0]})"
        ) from error


def one_frame(path: Path) -> None:
    """Raise `HostileError` unless the file is one frame of zstd, which was decoded before.

    A decoder passes over what lies behind it.
    """
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC or _end(file) != path.stat().st_size:
            raise HostileError("bytes lie before or behind its archive")


def _end(file: IO[bytes]) -> int:
    """Return where the frame ends whose header comes next (RFC 8878, 3.1.1)."""
    (about,) = file.read(1)
    single = about >> 5 & 1  # then no byte tells the window
    size = (single, 2, 4, 8)[about >> 6]
    dictionary = (0, 1, 2, 4)[about & 3]
    file.seek(1 - single + dictionary + size, 1)
    last = False
    while not last and (head := file.read(3)):
        block = int.from_bytes(head, "little")
        last = bool(block & 1)
        file.seek(1 if block >> 1 & 3 == REPEATED else block >> 3, 1)
    checksum = 4 * (about >> 2 & 1)
    return file.tell() + checksum


class Entry(Struct, frozen=True):
    """One file of a bundle: its size in bytes and its SHA-256."""

    name: str
    size: Count
    sha256: Digest


class Contents(Struct, frozen=True, kw_only=True):
    """A bundle's own index: the run's name and machine, and its files in the archive's order."""

    format: int = FORMAT
    run: Annotated[str, Meta(pattern=rf"\A{RUN_NAME}\Z")]
    machine: MachineName
    files: list[Entry]

    def by_name(self) -> Mapping[str, Entry]:
        """Return the files by their names."""
        return {entry.name: entry for entry in self.files}


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
            raise LabError(
                f"the bundle has format {version}",
                f"this ipclab knows {FORMAT}",
                "use a newer ipclab",
            )
        contents = msgspec.json.decode(text, type=Contents)
    except (ValueError, RecursionError) as error:
        raise HostileError(f"{INDEX_OF_BUNDLE} cannot be read ({error})") from error
    if contents.format != FORMAT:
        raise HostileError(f"its format is {contents.format}")
    files = contents.by_name()
    total = sum(entry.size for entry in contents.files)
    for name in files.keys() - set(BESIDE):
        try:
            msgspec.convert(name, FileName)
        except ValueError as error:
            raise HostileError(f"{name!r} is no file of a run") from error
    if len({name.lower() for name in files}) < len(contents.files):
        raise HostileError("two files have one name")
    if total > BOMB_RATIO * packed + BOMB_SLACK:
        raise HostileError(f"{total:,} bytes in a file of {packed:,}")
    if large := [name for name in BESIDE if name in files and files[name].size > LARGEST_INDEX]:
        raise HostileError(f"its {large[0]} has {files[large[0]].size:,} bytes")
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
