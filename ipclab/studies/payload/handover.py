"""Two processes: a writer hands a payload over to a reader that waits for it, through a shared segment."""

from time import perf_counter_ns as clock
from typing import Any

import numpy as np
import posix_ipc

from ipclab.backends.installed import backend as find
from ipclab.backends.interface import Segment
from ipclab.spawn.loops import fitting, keep
from ipclab.spawn.proof import digest, payload
from ipclab.spawn.worker import Worker, zeros

WAIT_SECONDS = 10.0
PROOF_MESSAGES = 5
WARM_UP = 5


class Signals:
    """Two named semaphores: one says that the segment is full, the other that it is empty."""

    def __init__(self, worker: Worker, create: bool) -> None:
        """Create the launch's semaphores, or open those that the peer created."""
        flags = posix_ipc.O_CREX if create else 0
        names = {tag: f"/{worker.name(tag)}" for tag in ("full", "empty")}
        self.full = posix_ipc.Semaphore(names["full"], flags, mode=0o600, initial_value=0)
        self.empty = posix_ipc.Semaphore(names["empty"], flags, mode=0o600, initial_value=1)

    def close(self, unlink: bool) -> None:
        """Close both, and remove their names when `unlink`."""
        for semaphore in (self.full, self.empty):
            if unlink:
                semaphore.unlink()
            semaphore.close()


def _kind(backend: str) -> type[Segment]:
    kind = find(backend).segment
    if kind is None:
        raise TypeError(f"{backend} has no segment")
    return kind


def write(worker: Worker, backend: str, size: int, seed: int, **sampling: int) -> None:
    """Be the writer: create the segment, warm up, agree on a count, hand over `count` payloads, then the proof."""
    segment = _kind(backend).create(worker.name("segment"), size)
    signals = Signals(worker, create=True)
    try:
        worker.meet()
        content = payload(seed, PROOF_MESSAGES, size)  # none of the proof's: a stale segment cannot pass for one
        warm = _put_all(signals, segment, content, WARM_UP)
        signals.empty.acquire(WAIT_SECONDS)  # the reader has taken the last one
        signals.empty.release()
        count = fitting((clock() - warm[0]) // WARM_UP, **sampling)
        worker.meet(count=count)
        with worker.counting("write", count):
            starts = _put_all(signals, segment, content, count)
        for sequence in range(PROOF_MESSAGES):
            _put_all(signals, segment, payload(seed, sequence, size), 1)
        worker.meet()  # the reader is done: nothing is closed under it
        worker.outcome.samples["start"] = starts
    finally:
        signals.close(unlink=True)
        segment.close()
        segment.unlink()


def _put_all(signals: Signals, segment: Segment, content: bytes, count: int) -> Any:
    starts = zeros(count)
    target, size = segment.buffer, len(content)
    empty, full = signals.empty, signals.full
    for i in range(count):
        empty.acquire(WAIT_SECONDS)
        starts[i] = clock()
        target[:size] = content
        full.release()
    return starts


def read(worker: Worker, backend: str, size: int) -> None:
    """Be the reader: wait for each payload and copy it into memory of our own."""
    kind = _kind(backend)
    worker.meet()
    segment = kind.attach(worker.name("segment"), size)
    signals = Signals(worker, create=False)
    try:
        local = bytearray(size)
        _take_all(signals, segment, local, WARM_UP)
        count = worker.meet()["writer"]["count"]
        with worker.counting("read", count):
            woken, ends = _take_all(signals, segment, local, count)
        for _ in range(PROOF_MESSAGES):
            _take_all(signals, segment, local, 1)
            worker.outcome.proof.append(digest(local))
        worker.meet()
        keep(worker, "read", np.frombuffer(ends, np.int64) - np.frombuffer(woken, np.int64))
        worker.outcome.samples["end"] = ends
    finally:
        signals.close(unlink=False)
        segment.close()


def _take_all(signals: Signals, segment: Segment, local: bytearray, count: int) -> tuple[Any, Any]:
    woken, ends = zeros(count), zeros(count)
    source, size = segment.buffer, len(local)
    empty, full = signals.empty, signals.full
    for i in range(count):
        full.acquire(WAIT_SECONDS)
        woken[i] = clock()
        local[:] = source[:size]
        ends[i] = clock()
        empty.release()
    return woken, ends
