"""A ring in shared memory each way, woken by eventfd(2) and awaited in `selectors`.

An eventfd counts the messages that lie in a ring, another its free places: each end takes one from
a count before it touches a place, so that the kernel orders what both see, on every processor.
Nothing of it has a name: memory and eventfds are passed over the launch's socket.
"""

import fcntl
import mmap
import os
import selectors
from collections.abc import Sequence

from ipclab.backends.calls import eventfd_missing, memfd_missing
from ipclab.backends.interface import INTO, Backend, Data, Place, too_long
from ipclab.backends.sockets import NotesEnd
from ipclab.backends.waiting import BLOCK, SPIN_THEN_BLOCK, Peer, closed, wait

LENGTH = 8  # bytes of a message's length
RING_BYTES, FEWEST, MOST = 1 << 20, 4, 64  # of a ring, and of its places
FLAGS = os.EFD_CLOEXEC | os.EFD_NONBLOCK | os.EFD_SEMAPHORE


class _Ring:
    """One direction: `many` places from `start` on, and the counts `full` and `free`."""

    def __init__(self, start: int, place: int, many: int, counts: Sequence[int]) -> None:
        self.start, self.place, self.many, self.number = start, place, many, 0
        self.full, self.free = counts

    def next(self) -> int:
        """Return where the next place begins."""
        at = self.start + self.number % self.many * self.place
        self.number += 1
        return at


class EventfdChannel(NotesEnd):
    """Two rings; `fileno` is readable while a message waits, for a `recv` with no time."""

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.place_bytes = -(-(LENGTH + place.capacity) // LENGTH) * LENGTH
        self.places = max(FEWEST, min(MOST, RING_BYTES // self.place_bytes))

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Pass on, or take, memory and counts: full and free of requests, then of answers."""
        super().accept(peer, timeout_ns)
        passed = self._made() if self.create else self.next_note(timeout_ns)[1]
        for descriptor in passed:
            self.held.callback(os.close, descriptor)
        if self.create:
            self.send_note(b"rings", timeout_ns, passed)
        self.memory = self.held.enter_context(mmap.mmap(passed[0], 0))
        starts = (0, passed[1:3]), (self.places * self.place_bytes, passed[3:5])
        rings = [_Ring(start, self.place_bytes, self.places, counts) for start, counts in starts]
        self.inbox, self.outbox = rings if self.create else rings[::-1]
        self.came, self.freed = (
            self._selector(count) for count in (self.inbox.full, self.outbox.free)
        )

    def _made(self) -> list[int]:
        memory = os.memfd_create("ipclab", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(memory, 2 * self.places * self.place_bytes)
        # the peer cannot cut it short
        fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        return [memory, *(os.eventfd(count, FLAGS) for count in (0, self.places, 0, self.places))]

    def _selector(self, count: int) -> selectors.BaseSelector:
        """Return what waits for `count`, and for the end of the peer."""
        selector = self.held.enter_context(selectors.DefaultSelector())
        selector.register(count, selectors.EVENT_READ)
        selector.register(self.notes, selectors.EVENT_READ)
        return selector

    def fileno(self) -> int:
        return self.inbox.full

    def _take(self, count: int, selector: selectors.BaseSelector, timeout_ns: int) -> None:
        """Take one from `count`, waiting for it where it is 0."""

        def ready() -> bool:
            try:
                return bool(os.eventfd_read(count))
            except BlockingIOError:
                return False

        def block(left_ns: int) -> bool:
            readable = {key.fd for key, _ in selector.select(left_ns / 1e9)}
            if ready():  # also what a peer has left that is gone
                return True
            if self.notes.fileno() in readable:
                raise closed()
            return False

        if not ready():
            wait(self.strategy, ready, block, timeout_ns)

    def send(self, data: Data, timeout_ns: int) -> None:
        size, ring = len(data), self.outbox
        if size > self.capacity:
            raise too_long(size, self.capacity)
        self._take(ring.free, self.freed, timeout_ns)
        at = ring.next()
        self.memory[at : at + LENGTH] = size.to_bytes(LENGTH, "little")
        self.memory[at + LENGTH : at + LENGTH + size] = data
        os.eventfd_write(ring.full, 1)

    def _next(self, timeout_ns: int) -> tuple[int, int]:
        """Return where the next message begins and ends, once it is there."""
        self._take(self.inbox.full, self.came, timeout_ns)
        begin = self.inbox.next() + LENGTH
        size = int.from_bytes(self.memory[begin - LENGTH : begin], "little")
        if size > self.capacity:
            raise too_long(size, self.capacity)
        return begin, begin + size

    def recv(self, timeout_ns: int) -> bytes:
        begin, end = self._next(timeout_ns)
        data = self.memory[begin:end]
        os.eventfd_write(self.inbox.free, 1)
        return data

    def recv_into(self, buffer: bytearray | memoryview, timeout_ns: int) -> int:
        begin, end = self._next(timeout_ns)
        with memoryview(self.memory) as memory:
            buffer[: end - begin] = memory[begin:end]
        os.eventfd_write(self.inbox.free, 1)
        return end - begin


backend = Backend(
    "shm-eventfd",
    channel=EventfdChannel,
    waits=(BLOCK, SPIN_THEN_BLOCK),
    receives=INTO,
    missing=lambda: memfd_missing() or eventfd_missing(),
    limit="shm-futex",
    look=("#56B4E9", "D"),
    brief=False,
)
