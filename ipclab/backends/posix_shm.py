"""POSIX shared memory through `posix_ipc`."""

import mmap
import os
from contextlib import suppress
from typing import Self

import posix_ipc

from ipclab.backends.interface import Backend


class PosixSegment:
    """A POSIX shared-memory object and its mapping."""

    def __init__(self, name: str, size: int, flags: int) -> None:
        """Open the object with `flags` and map `size` bytes of it."""
        self.name = f"/{name}"
        memory = posix_ipc.SharedMemory(self.name, flags, mode=0o600, size=0)
        try:
            if flags:
                os.posix_fallocate(memory.fd, 0, size)  # a full /dev/shm is an error here, not a SIGBUS later
            self.map = mmap.mmap(memory.fd, size)
        except OSError:
            if flags:
                self.unlink()
            raise
        finally:
            memory.close_fd()
        self.buffer = memoryview(self.map)

    @classmethod
    def create(cls, name: str, size: int) -> Self:
        """Make the object with `size` bytes."""
        try:
            return cls(name, size, posix_ipc.O_CREX)
        except posix_ipc.ExistentialError as error:
            raise FileExistsError(name) from error

    @classmethod
    def attach(cls, name: str, size: int) -> Self:
        """Map the existing object."""
        try:
            return cls(name, size, 0)
        except posix_ipc.ExistentialError as error:
            raise FileNotFoundError(name) from error

    def close(self) -> None:
        """Unmap."""
        self.buffer.release()
        self.map.close()

    def unlink(self) -> None:
        """Remove the name."""
        with suppress(posix_ipc.ExistentialError):
            posix_ipc.unlink_shared_memory(self.name)


backend = Backend("posix-shm", segment=PosixSegment)
