"""POSIX shared memory and named semaphores through `posix_ipc`; its channel is built as the published one."""

import mmap
import os
from contextlib import suppress
from typing import Self

import posix_ipc

from ipclab.backends.interface import Address, Backend, Data, Place
from ipclab.backends.seqlock import SegmentStore
from ipclab.backends.waiting import BLOCK, SLICE_NS, SPIN, SPIN_THEN_BLOCK, Peer, wait

LENGTH = 4  # bytes of a message's length
# Where the message begins. Not the next cache line: a large bytes object starts 48 bytes into its page, and copies
# whose ends lie 4 to 28 bytes apart within a page are many times slower on some processors (seen on Zen 4 with 64).
START = 128
SLICE_SECONDS = SLICE_NS / 1e9


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


class Slot:
    """One direction: a segment that holds one message behind its length, and the semaphores `empty` and `full`."""

    def __init__(self, place: Place, tag: str, create: bool) -> None:
        """Create or open the direction called `tag`."""
        self.semaphores: list[posix_ipc.Semaphore] = []
        make = PosixSegment.create if create else PosixSegment.attach
        self.segment = make(place.name(tag), START + place.capacity)
        self.created = create
        self.map = self.segment.map
        self.length = self.segment.buffer[:LENGTH].cast("I")
        self.empty = self._semaphore(place.name(f"{tag}-empty"), 1)
        self.full = self._semaphore(place.name(f"{tag}-full"), 0)
        # Looked up once: these four are what a message costs.
        self.take_empty, self.give_empty = self.empty.acquire, self.empty.release
        self.take_full, self.give_full = self.full.acquire, self.full.release

    def _semaphore(self, name: str, value: int) -> posix_ipc.Semaphore:
        flags = posix_ipc.O_CREX if self.created else 0
        self.semaphores.append(posix_ipc.Semaphore(f"/{name}", flags, mode=0o600, initial_value=value))
        return self.semaphores[-1]

    def close(self) -> None:
        """Give both semaphores and the segment back, and remove the names that were created here."""
        self.length.release()
        self.segment.close()
        for semaphore in self.semaphores:
            if self.created:  # a closed semaphore could not be unlinked any more
                with suppress(posix_ipc.ExistentialError):
                    semaphore.unlink()
            semaphore.close()
        if self.created:
            self.segment.unlink()


class PosixChannel:
    """Two segments and four named semaphores: one slot each way, each message copied in and out once."""

    def __init__(self, place: Place, create: bool) -> None:
        """Create both slots, or open them."""
        self.address: Address = {}
        self.capacity, self.strategy = place.capacity, place.wait
        self.blocks = place.wait == BLOCK
        self.peer: Peer | None = None
        self.closed = False
        slots = [Slot(place, tag, create) for tag in ("request", "answer")]
        self.inbox, self.outbox = slots if create else slots[::-1]

    @classmethod
    def listen(cls, place: Place) -> Self:
        """Create both slots."""
        return cls(place, True)

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Note whose end to look at while waiting: the first message says that it is there."""
        self.peer = peer

    @classmethod
    def connect(cls, place: Place, address: Address, peer: Peer, timeout_ns: int) -> Self:
        """Open both slots."""
        channel = cls(place, False)
        channel.peer = peer
        return channel

    def _take(self, semaphore: posix_ipc.Semaphore, timeout_ns: int) -> None:
        def block(left_ns: int) -> bool:
            try:
                semaphore.acquire(left_ns / 1e9)
            except posix_ipc.BusyError:
                return False
            return True

        # Only this end takes from the semaphore: what it shows is there to be taken.
        wait(self.strategy, lambda: semaphore.value and block(0), block, timeout_ns, self.peer)

    def send(self, data: Data, timeout_ns: int) -> None:
        """Copy `data` into the free slot and say that it is full."""
        size = len(data)
        if size > self.capacity:
            raise ValueError(f"{size} bytes are above the capacity of {self.capacity}")
        slot = self.outbox
        try:
            slot.take_empty(0)
        except posix_ipc.BusyError:
            self._take(slot.empty, timeout_ns)
        slot.length[0] = size
        slot.map[START : START + size] = data
        slot.give_full()

    def recv(self, timeout_ns: int) -> bytes:
        """Copy the message out of the full slot and say that it is free."""
        slot = self.inbox
        self._take_full(slot, timeout_ns)
        data = slot.map[START : START + slot.length[0]]
        slot.give_empty()
        return data

    def recv_into(self, buffer: bytearray | memoryview, timeout_ns: int) -> int:
        """Copy the message out of the full slot into `buffer`."""
        slot = self.inbox
        self._take_full(slot, timeout_ns)
        size = slot.length[0]
        buffer[:size] = slot.segment.buffer[START : START + size]
        slot.give_empty()
        return size

    def _take_full(self, slot: Slot, timeout_ns: int) -> None:
        if not self.blocks or timeout_ns < SLICE_NS:
            self._take(slot.full, timeout_ns)
            return
        if not slot.full.value:
            # Offers the CPU once: a peer that shares it may answer now, without a sleep and a wake-up on either side.
            os.sched_yield()
        try:
            slot.take_full(SLICE_SECONDS)
        except posix_ipc.BusyError:
            self._take(slot.full, timeout_ns - SLICE_NS)

    def close(self) -> None:
        """Close both slots; the end that listened removes their names."""
        if not self.closed:
            self.closed = True
            self.inbox.close()
            self.outbox.close()


class PosixStore(SegmentStore):
    """A POSIX shared-memory object with a versioned header."""

    kind = PosixSegment


backend = Backend(
    "posix-shm",
    segment=PosixSegment,
    channel=PosixChannel,
    store=PosixStore,
    waits=(BLOCK, SPIN_THEN_BLOCK, SPIN),
    receives=("bytes", "into"),
    limit="echo-shm-futex",
    look=("#56B4E9", "s"),
)
