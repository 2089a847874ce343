"""Python's own `multiprocessing`: its connection, its queue and its shared memory.

A `Queue` is inherited or given to a child; two workers that are nobody's child to the other join
theirs by named pipes instead of an unnamed one. What is unpickled comes from a pipe in the
session's private folder, which no other user can write to; the connection moves bytes only. One
thing is cheaper than usual, without weight: a queue's locks have one process each.
"""

import multiprocessing
import os
import secrets
import select
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import process, resource_tracker, shared_memory
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from typing import Any

from ipclab.backends.interface import Backend, Data, Place, Segment, too_long, variant
from ipclab.backends.seqlock import SegmentStore
from ipclab.backends.sockets import UnixEnd
from ipclab.backends.stream import PipesEnd
from ipclab.backends.waiting import BLOCK, Peer, closed, wait
from ipclab.spawn import names

KEY_BYTES = 16


class _PipeChannel(UnixEnd):
    """A `Connection`, authenticated with a key of the launch as `Listener` and `Client` do it."""

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.address = {"key": secrets.token_hex(KEY_BYTES)} if create else {}

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Take the connection and prove the key both ways."""
        self.sock = self.join(timeout_ns)  # it blocks in the kernel, as it does without a deadline
        self.link: Connection = self.held.enter_context(Connection(self.sock.fileno()))
        self.held.callback(self.sock.detach)
        proofs = [deliver_challenge, answer_challenge]
        for prove in proofs if self.create else proofs[::-1]:
            self.sock.within(timeout_ns)
            prove(self.link, bytes.fromhex(str(self.address["key"])))

    def send(self, data: Data, timeout_ns: int) -> None:
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        try:
            self.sock.within(timeout_ns)
            self.link.send_bytes(data)
        except BlockingIOError as error:
            raise TimeoutError("there was no room in time") from error
        except ConnectionResetError as error:
            raise closed() from error

    def recv(self, timeout_ns: int) -> bytes:
        try:
            self.sock.within(timeout_ns)
            return self.link.recv_bytes(self.capacity)
        except BlockingIOError as error:
            raise TimeoutError("nothing came in time") from error
        except (EOFError, ConnectionResetError) as error:
            raise closed() from error


@dataclass(frozen=True)
class _Unforeseen:
    """How names of a launch begin, another one each time it is asked."""

    prefix: str

    def __str__(self) -> str:
        return f"/{self.prefix}-{secrets.token_urlsafe(KEY_BYTES)}"


def _queue(place: Place, reading: int | None, writing: int | None) -> Any:
    """Return a `Queue` whose pipe has the descriptors given, or /dev/null for one that is None."""
    # Semaphores lose their name as soon as they are made; were we killed in between, it must be
    # known as ours.
    vars(process.current_process())["_config"]["semprefix"] = _Unforeseen(place.prefix)
    context = multiprocessing.get_context("fork")
    made: Any = context.Queue()
    made._reader.close()
    made._writer.close()
    ends = [os.open(os.devnull, os.O_RDWR) if end is None else end for end in (reading, writing)]
    for end in ends:
        os.set_blocking(end, True)
    made._reader, made._writer = map(Connection, ends)
    if writing is None:
        # taking gives back what the peer's `put` took, which is another process's semaphore here
        made._sem = context.Semaphore(0)
    made._ignore_epipe = True  # the feeder is silent about a dead peer: `recv` notices
    made._reset()
    return made


class _QueueChannel(PipesEnd):
    """A queue each way."""

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Make both queues once the other end has opened its pipes."""
        writing = self.open_writing(timeout_ns, peer)
        self.outgoing = _queue(self.place, None, writing)
        self.incoming = _queue(self.place, os.dup(self.inward), None)
        self.held.callback(self._end)
        self.poller = select.poll()
        self.poller.register(self.inward, select.POLLIN)

    def send(self, data: Data, timeout_ns: int) -> None:
        """Put `data`: the feeder thread pickles and writes it."""
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        self.outgoing.put(data if isinstance(data, bytes) else bytes(data))

    def put(self, content: object) -> None:
        """Put any object, which the feeder thread pickles."""
        self.outgoing.put(content)

    def recv(self, timeout_ns: int) -> bytes:
        poll = self.poller.poll
        wait(BLOCK, lambda: False, lambda left_ns: poll(left_ns / 1e6), timeout_ns)
        try:
            data: bytes = self.incoming.get()
        except (EOFError, OSError) as error:
            raise closed() from error
        return data

    def _end(self) -> None:
        for queued in (self.outgoing, self.incoming):
            queued.close()
            if not queued._thread:  # else the feeder closes them when it has written all
                queued._reader.close()
                queued._writer.close()


@contextmanager
def untracked() -> Iterator[None]:
    """Keep the resource tracker out: it unlinks segments in use (cpython#82300); ours tracks."""
    kept = resource_tracker.register, resource_tracker.unregister
    resource_tracker.register = resource_tracker.unregister = lambda name, rtype: None
    try:
        yield
    finally:
        resource_tracker.register, resource_tracker.unregister = kept


class _SharedMemorySegment(Segment):
    """A `SharedMemory` object; its buffer is as many bytes of it as were asked for."""

    def __init__(self, name: str, size: int, create: bool) -> None:
        with untracked(), names.exclusively(name):
            self.memory = shared_memory.SharedMemory(name, create, size if create else 0)
        names.check_owner(name, os.fstat(self.memory._fd).st_uid)  # type: ignore[attr-defined]
        self.buffer = self.memory.buf[:size]  # type: ignore[index]
        try:
            if create:
                os.posix_fallocate(self.memory._fd, 0, size)  # type: ignore[attr-defined]
        except OSError:
            self.close()
            self.unlink()
            raise

    def close(self) -> None:
        self.buffer.release()
        self.memory.close()

    def unlink(self) -> None:
        with untracked(), suppress(FileNotFoundError):
            self.memory.unlink()


ONLY_PYTHON = ("one host", "python")  # what both ends must be
pipe = Backend(
    "mp-pipe", channel=_PipeChannel, limit="unix", demands=ONLY_PYTHON, look=("#8A6B00", "D")
)
queue = Backend(
    "mp-queue", channel=_QueueChannel, limit="pipe", demands=ONLY_PYTHON, look=("#8A6B00", "s")
)
shm = Backend("mp-shm", segment=_SharedMemorySegment, look=("#009E73", "D"))
store = Backend(
    "shared-memory", store=variant(SegmentStore, kind=_SharedMemorySegment), look=("#0072B2", "D")
)
