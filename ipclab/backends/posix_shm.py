"""POSIX shared memory and named semaphores by `posix_ipc`; its channel is as published."""

import os
from contextlib import ExitStack, suppress

import posix_ipc

from ipclab.backends.interface import (
    INTO,
    Backend,
    Channel,
    Data,
    Place,
    Segment,
    too_long,
    variant,
)
from ipclab.backends.seqlock import START, SegmentStore
from ipclab.backends.waiting import BLOCK, SLICE_NS, WAITS, wait
from ipclab.spawn import names
from ipclab.spawn.ledger import SHARED_MEMORY

LENGTH = 4  # bytes of a message's length
SLICE_SECONDS = SLICE_NS / 1e9


class PosixSegment(Segment):
    """A POSIX shared-memory object and its mapping."""

    def open(self, create: bool) -> int:
        flags = posix_ipc.O_CREX if create else 0
        try:
            return int(posix_ipc.SharedMemory(f"/{self.name}", flags, mode=0o600, size=0).fd)
        except posix_ipc.ExistentialError as error:
            raise (names.taken if create else FileNotFoundError)(self.name) from error

    def unlink(self) -> None:
        with suppress(posix_ipc.ExistentialError):
            posix_ipc.unlink_shared_memory(f"/{self.name}")


def semaphore(name: str, create: bool, value: int) -> posix_ipc.Semaphore:
    """Make the semaphore `name` with `value`, or find it; `TakenError` for somebody else's."""
    flags = posix_ipc.O_CREX if create else 0
    with names.exclusively(name, posix_ipc.ExistentialError if create else FileExistsError):
        made = posix_ipc.Semaphore(f"/{name}", flags, mode=0o600, initial_value=value)
    names.check_owner(name, (SHARED_MEMORY / f"sem.{name}").lstat().st_uid)
    return made


class _Slot:
    """One direction: a segment of length and message, and the semaphores `empty` and `full`."""

    def __init__(self, place: Place, tag: str, create: bool, held: ExitStack) -> None:
        self.segment = PosixSegment(place.name(tag), START + place.capacity, create)
        if create:
            held.callback(self.segment.unlink)
        held.callback(self.segment.close)
        self.map = self.segment.map
        self.length = self.segment.buffer[:LENGTH].cast("I")
        held.callback(self.length.release)

        def held_semaphore(state: str, value: int) -> posix_ipc.Semaphore:
            made = semaphore(place.name(f"{tag}-{state}"), create, value)
            held.callback(made.close)
            if create:  # before it is closed: it could not be unlinked any more
                held.callback(made.unlink)
            return made

        self.empty, self.full = held_semaphore("empty", 1), held_semaphore("full", 0)
        # Looked up once: these four are what a message costs.
        self.take_empty, self.give_empty = self.empty.acquire, self.empty.release
        self.take_full, self.give_full = self.full.acquire, self.full.release


class _PosixChannel(Channel):
    """Two segments and four named semaphores: one slot each way, each message copied twice."""

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.blocks = place.wait == BLOCK
        self.held.enter_context(suppress(posix_ipc.ExistentialError))
        with self.whole():
            self.inbox = _Slot(place, self.tag_in, create, self.held)
            self.outbox = _Slot(place, self.tag_out, create, self.held)

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
        size = len(data)
        if size > self.capacity:
            raise too_long(size, self.capacity)
        slot = self.outbox
        try:
            slot.take_empty(0)
        except posix_ipc.BusyError:
            self._take(slot.empty, timeout_ns)
        slot.length[0] = size
        slot.map[START : START + size] = data
        slot.give_full()

    def recv(self, timeout_ns: int) -> bytes:
        slot = self.inbox
        self._take_full(slot, timeout_ns)
        data = slot.map[START : START + slot.length[0]]
        slot.give_empty()
        return data

    def recv_into(self, buffer: bytearray | memoryview, timeout_ns: int) -> int:
        slot = self.inbox
        self._take_full(slot, timeout_ns)
        size = slot.length[0]
        buffer[:size] = slot.segment.buffer[START : START + size]
        slot.give_empty()
        return size

    def _take_full(self, slot: _Slot, timeout_ns: int) -> None:
        if not self.blocks or timeout_ns < SLICE_NS:
            self._take(slot.full, timeout_ns)
            return
        if not slot.full.value:
            # Offers the CPU once: a peer that shares it may answer now, without a sleep and a
            # wake-up on either side.
            os.sched_yield()
        try:
            slot.take_full(SLICE_SECONDS)
        except posix_ipc.BusyError:
            self._take(slot.full, timeout_ns - SLICE_NS)


backend = Backend(
    "posix-shm",
    segment=PosixSegment,
    channel=_PosixChannel,
    store=variant(SegmentStore, kind=PosixSegment),
    waits=WAITS,
    receives=INTO,
    limit="shm-futex",
    look=("#56B4E9", "s"),
    yields=True,
)
