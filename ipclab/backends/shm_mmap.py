"""A file in /dev/shm, mapped with `mmap`: what the published payload program used."""

import mmap
import os
from contextlib import suppress
from pathlib import Path
from typing import Self

from ipclab.backends.interface import Backend

FOLDER = Path("/dev/shm")


class MmapSegment:
    """A file below /dev/shm and its mapping."""

    def __init__(self, name: str, size: int, flags: int) -> None:
        """Open the file with `flags` and map `size` bytes of it."""
        self.path = FOLDER / name
        descriptor = os.open(self.path, flags | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            if flags & os.O_CREAT:
                os.posix_fallocate(descriptor, 0, size)  # a full /dev/shm is an error here, not a SIGBUS later
            self.map = mmap.mmap(descriptor, size)
        except OSError:
            if flags & os.O_CREAT:
                self.unlink()
            raise
        finally:
            os.close(descriptor)
        self.buffer = memoryview(self.map)

    @classmethod
    def create(cls, name: str, size: int) -> Self:
        """Make the file with `size` bytes."""
        return cls(name, size, os.O_CREAT | os.O_EXCL)

    @classmethod
    def attach(cls, name: str, size: int) -> Self:
        """Map the existing file."""
        return cls(name, size, 0)

    def close(self) -> None:
        """Unmap."""
        self.buffer.release()
        self.map.close()

    def unlink(self) -> None:
        """Remove the file."""
        with suppress(FileNotFoundError):
            self.path.unlink()


backend = Backend("shm-mmap", segment=MmapSegment, look=("#0072B2", "o"))
