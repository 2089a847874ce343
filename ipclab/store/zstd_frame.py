"""Is a bundle one zstd frame and nothing more? A decoder passes over what lies behind it."""

from pathlib import Path
from typing import IO

from ipclab.store.archive import HostileError

MAGIC = bytes([0x28, 0xB5, 0x2F, 0xFD])
REPEATED = 1  # the kind of a block that is one byte, many times


def one_frame(path: Path) -> None:
    """Raise `HostileError` unless the file is one frame of zstd, which was decoded before."""
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
