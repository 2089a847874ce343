"""A file in /dev/shm, mapped with `mmap`: what the published payload program used."""

import os
from pathlib import Path

from ipclab.backends.ends import MappedSegment
from ipclab.backends.interface import Backend

FOLDER = Path("/dev/shm")


class MmapSegment(MappedSegment):
    """A file below /dev/shm and its mapping."""

    def open(self, create: bool) -> int:
        """Open or make the file."""
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT | os.O_EXCL if create else 0)
        return os.open(FOLDER / self.name, flags, 0o600)

    def unlink(self) -> None:
        """Remove the file."""
        (FOLDER / self.name).unlink(missing_ok=True)


backend = Backend("shm-mmap", segment=MmapSegment, look=("#0072B2", "o"))
