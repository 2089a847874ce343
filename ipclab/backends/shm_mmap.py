"""Shared memory mapped with `mmap`: a file in /dev/shm, as in the published program."""

from ipclab.backends.interface import Backend, Segment
from ipclab.spawn import names
from ipclab.spawn.ledger import SHARED_MEMORY


class MmapSegment(Segment):
    """A file below /dev/shm and its mapping."""

    def open(self, create: bool) -> int:
        return (names.make if create else names.open_own)(SHARED_MEMORY / self.name)

    def unlink(self) -> None:
        (SHARED_MEMORY / self.name).unlink(missing_ok=True)


backend = Backend("shm-mmap", segment=MmapSegment, look=("#0072B2", "o"))
