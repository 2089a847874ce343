"""Shared memory mapped with `mmap`: a file in /dev/shm, as the published payload program used it."""

import mmap
import os

from ipclab.backends.interface import Backend, Segment
from ipclab.spawn.ledger import SHARED_MEMORY


class MappedSegment(Segment):
    """A segment that is an object of the kernel's, opened by name and mapped."""

    def __init__(self, name: str, size: int, create: bool) -> None:
        self.name = name
        descriptor = self.open(create)
        try:
            if create:
                os.posix_fallocate(descriptor, 0, size)
            self.map = mmap.mmap(descriptor, size)
        except OSError:
            if create:
                self.unlink()
            raise
        finally:
            os.close(descriptor)
        self.buffer = memoryview(self.map)

    def open(self, create: bool) -> int:
        """Return the descriptor of the object, which is made with mode 0600."""
        raise NotImplementedError

    def close(self) -> None:
        self.buffer.release()
        self.map.close()


class MmapSegment(MappedSegment):
    """A file below /dev/shm and its mapping."""

    def open(self, create: bool) -> int:
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT | os.O_EXCL if create else 0)
        return os.open(SHARED_MEMORY / self.name, flags, 0o600)

    def unlink(self) -> None:
        (SHARED_MEMORY / self.name).unlink(missing_ok=True)


backend = Backend("shm-mmap", segment=MmapSegment, look=("#0072B2", "o"))
