"""Two processes: a writer hands a payload over to a reader that waits for it, through a shared segment."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter_ns as clock
from typing import Any

import numpy as np
import posix_ipc

from ipclab.backends.installed import backend as find
from ipclab.spawn.loops import fitting, keep
from ipclab.spawn.proof import digest, payload
from ipclab.spawn.worker import Worker, zeros

WAIT_SECONDS = 10.0
PROOF_MESSAGES = 5
WARM_UP = 5
Ends = tuple[memoryview, posix_ipc.Semaphore, posix_ipc.Semaphore]


@contextmanager
def _opened(worker: Worker, backend: str, size: int, create: bool) -> Iterator[Ends]:
    """Give the segment's memory and two semaphores, of which one says that it is full, the other that it is empty."""
    kind = find(backend).segment
    if kind is None:
        raise TypeError(f"{backend} has no segment")
    if not create:
        worker.meet()  # all is there
    segment = kind(worker.name("segment"), size, create)
    flags, states = posix_ipc.O_CREX if create else 0, (("full", 0), ("empty", 1))
    full, empty = (posix_ipc.Semaphore(f"/{worker.name(tag)}", flags, 0o600, state) for tag, state in states)
    try:
        if create:
            worker.meet()
        yield segment.buffer, full, empty
    finally:
        for each in (full, empty, segment):
            if create:
                each.unlink()
            each.close()


def write(worker: Worker, backend: str, size: int, seed: int, sampling: dict[str, int], **others: object) -> None:
    """Be the writer: create the segment, warm up, agree on a count, hand over `count` payloads, then the proof."""
    with _opened(worker, backend, size, create=True) as ends:
        content = payload(seed, PROOF_MESSAGES, size)  # none of the proof's: a stale segment cannot pass for one
        warm = _put_all(ends, content, WARM_UP)
        _, _, empty = ends
        empty.acquire(WAIT_SECONDS)  # the reader has taken the last one
        empty.release()
        count = fitting((clock() - warm[0]) // WARM_UP, **sampling)
        worker.meet(count=count)
        with worker.counting("write", count):
            starts = _put_all(ends, content, count)
        for sequence in range(PROOF_MESSAGES):
            _put_all(ends, payload(seed, sequence, size), 1)
        worker.meet()  # the reader is done: nothing is closed under it
        worker.outcome.samples["start"] = starts


def _put_all(ends: Ends, content: bytes, count: int) -> Any:
    starts = zeros(count)
    (target, full, empty), size = ends, len(content)
    for i in range(count):
        empty.acquire(WAIT_SECONDS)
        starts[i] = clock()
        target[:size] = content
        full.release()
    return starts


def read(worker: Worker, backend: str, size: int, **others: object) -> None:
    """Be the reader: wait for each payload and copy it into memory of our own."""
    with _opened(worker, backend, size, create=False) as ends:
        local = bytearray(size)
        _take_all(ends, local, WARM_UP)
        count = worker.meet()["writer"]["count"]
        with worker.counting("read", count):
            woken, done = _take_all(ends, local, count)
        for _ in range(PROOF_MESSAGES):
            _take_all(ends, local, 1)
            worker.outcome.proof.append(digest(local))
        worker.meet()
        keep(worker, "read", np.frombuffer(done, np.int64) - np.frombuffer(woken, np.int64))
        worker.outcome.samples["end"] = done


def _take_all(ends: Ends, local: bytearray, count: int) -> tuple[Any, Any]:
    woken, done = zeros(count), zeros(count)
    (source, full, empty), size = ends, len(local)
    for i in range(count):
        full.acquire(WAIT_SECONDS)
        woken[i] = clock()
        local[:] = source[:size]
        done[i] = clock()
        empty.release()
    return woken, done
