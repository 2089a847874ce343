"""Shared memory mapped with `mmap`: a file in /dev/shm, as in the published program."""

import os

from ipclab.backends.interface import Backend, Segment
from ipclab.spawn.ledger import SHARED_MEMORY


class MmapSegment(Segment):
    """A file below /dev/shm and its mapping."""

    def open(self, create: bool) -> int:
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT | os.O_EXCL if create else 0)
        return os.open(SHARED_MEMORY / self.name, flags, 0o600)

    def unlink(self) -> None:
        (SHARED_MEMORY / self.name).unlink(missing_ok=True)


backend = Backend("shm-mmap", segment=MmapSegment, look=("#0072B2", "o"))
