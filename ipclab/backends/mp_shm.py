"""Python's own `multiprocessing.shared_memory`."""

import os
from collections.abc import Iterator, Sized
from contextlib import contextmanager, suppress
from multiprocessing import resource_tracker, shared_memory
from typing import Self

from ipclab.backends.interface import Backend


def _ignore(name: Sized, rtype: str) -> None:
    """Stand in for the resource tracker's calls."""


@contextmanager
def untracked() -> Iterator[None]:
    """Keep the resource tracker out: it unlinks segments that others still use (cpython#82300); our ledger tracks."""
    kept = resource_tracker.register, resource_tracker.unregister
    resource_tracker.register = resource_tracker.unregister = _ignore
    try:
        yield
    finally:
        resource_tracker.register, resource_tracker.unregister = kept


class SharedMemorySegment:
    """A `SharedMemory` object; its buffer is as many bytes of it as were asked for."""

    def __init__(self, memory: shared_memory.SharedMemory, size: int) -> None:
        """Use `memory`."""
        self.memory = memory
        self.buffer = memory.buf[:size]  # type: ignore[index]

    @classmethod
    def create(cls, name: str, size: int) -> Self:
        """Make the object with `size` bytes."""
        with untracked():
            made = cls(shared_memory.SharedMemory(name, create=True, size=size), size)
        try:
            # A full /dev/shm is an error here, not a SIGBUS later.
            os.posix_fallocate(made.memory._fd, 0, size)  # type: ignore[attr-defined]
        except OSError:
            made.close()
            made.unlink()
            raise
        return made

    @classmethod
    def attach(cls, name: str, size: int) -> Self:
        """Map the existing object."""
        with untracked():
            return cls(shared_memory.SharedMemory(name), size)

    def close(self) -> None:
        """Unmap."""
        self.buffer.release()
        self.memory.close()

    def unlink(self) -> None:
        """Remove the name."""
        with untracked(), suppress(FileNotFoundError):
            self.memory.unlink()


backend = Backend("mp-shm", segment=SharedMemorySegment, look=("#009E73", "D"))
