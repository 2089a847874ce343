"""Our own shared memory channel, in native code: one slot each way, awaited by spinning or by futex."""

import os
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self

from ipclab.backends.interface import Address, Backend, Data, Place
from ipclab.backends.shm_mmap import FOLDER
from ipclab.backends.waiting import BLOCK, SPIN, SPIN_THEN_BLOCK, Peer


def missing() -> str | None:
    """Say why the channel cannot be had, and the fix."""
    if find_spec("ipclab_native"):
        return None
    return "the native package is not built here; install cargo, then 'make setup' builds it"


class NativeChannel:
    """A segment in /dev/shm and the native code's two slots in it; its methods are the native ones."""

    send: Callable[[Data, int], None]
    recv: Callable[[int], bytes]
    recv_into: Callable[[bytearray | memoryview, int], int]

    def __init__(self, place: Place, create: bool) -> None:
        """Make or find the segment and take its side: 0 is the one that made it."""
        import ipclab_native

        self.address: Address = {}
        self.path: Path | None = FOLDER / place.name("channel") if create else None
        size = ipclab_native.Channel.segment_size(place.capacity)
        flags = os.O_RDWR | os.O_CLOEXEC | (os.O_CREAT | os.O_EXCL if create else 0)
        descriptor = os.open(FOLDER / place.name("channel"), flags, 0o600)
        try:
            if create:
                os.posix_fallocate(descriptor, 0, size)  # a full /dev/shm is an error here, not a SIGBUS later
            native: Any = ipclab_native.Channel(descriptor, place.capacity, 0 if create else 1, place.wait)
        except BaseException:
            self._unlink()
            raise
        finally:
            os.close(descriptor)
        self.native = native
        self.send, self.recv, self.recv_into = native.send, native.recv, native.recv_into

    @classmethod
    def listen(cls, place: Place) -> Self:
        """Make the segment."""
        return cls(place, True)

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Do nothing: the first message says that the other end is there."""

    @classmethod
    def connect(cls, place: Place, address: Address, peer: Peer, timeout_ns: int) -> Self:
        """Map the segment."""
        return cls(place, False)

    def close(self) -> None:
        """Close this end, and remove the segment where it was made."""
        self.native.close()
        self._unlink()

    def _unlink(self) -> None:
        if self.path:
            with suppress(FileNotFoundError):
                self.path.unlink()


RECEIVES = ("bytes", "into")
spin = Backend(
    "shm-spin",
    channel=NativeChannel,
    waits=(SPIN,),
    receives=RECEIVES,
    missing=missing,
    limit="echo-shm-spin",
    look=("#000000", "o"),
)
futex = Backend(
    "shm-futex",
    channel=NativeChannel,
    waits=(BLOCK, SPIN_THEN_BLOCK),
    receives=RECEIVES,
    missing=missing,
    limit="echo-shm-futex",
    look=("#0072B2", "v"),
)
