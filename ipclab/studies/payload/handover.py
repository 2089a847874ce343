"""Two processes: a writer hands a payload to a waiting reader through a shared segment."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from time import perf_counter_ns as clock
from typing import Any

import numpy as np
import posix_ipc

from ipclab.backends.installed import backend as find
from ipclab.backends.posix_shm import semaphore
from ipclab.spawn.loops import DISCARDED, LEAST_LONG, keep, operations
from ipclab.spawn.proof import digest, payload
from ipclab.spawn.worker import Turns, Worker, zeros
from ipclab.store.launch import Samples

WAIT_SECONDS = 10.0
PROOF_MESSAGES = 5
WRITE, READ = "write", "read"
START, END = "start", "end"  # clocks, joined by the study into the time of a handover
Ends = tuple[memoryview, posix_ipc.Semaphore, posix_ipc.Semaphore]


@contextmanager
def _opened(worker: Worker, backend: str, size: int, create: bool) -> Iterator[Ends]:
    """Give the segment's memory and two semaphores, `full` and `empty`."""
    kind = find(backend).segment
    if kind is None:
        raise TypeError(f"{backend} has no segment")
    if not create:
        worker.meet()  # all is there
    with ExitStack() as held:

        def holding(part: Any) -> Any:
            held.callback(part.close)
            if create:
                held.callback(part.unlink)
            return part

        segment = holding(kind(worker.name("segment"), size, create))
        full = holding(semaphore(worker.name("full"), create, 0))
        empty = holding(semaphore(worker.name("empty"), create, 1))
        if create:
            worker.meet()
        yield segment.buffer, full, empty


def write(
    worker: Worker, backend: str, size: int, seed: int, sampling: dict[str, int], **others: object
) -> Turns:
    """Be the writer: create the segment, hand payloads over in each turn, then the proof."""
    with _opened(worker, backend, size, create=True) as ends:
        # none of the proof's: a stale segment cannot pass for one
        content = payload(seed, PROOF_MESSAGES, size)
        count = LEAST_LONG
        while (yield {"count": DISCARDED + count}):
            with worker.counting(WRITE, DISCARDED + count):
                starts = _put_all(ends, content, DISCARDED + count)
            keep(worker, START, starts[DISCARDED:])
            count = operations(float(np.median(np.diff(starts))), **sampling)
        for sequence in range(PROOF_MESSAGES):
            _put_all(ends, payload(seed, sequence, size), 1)
        worker.meet()  # the reader is done: nothing is closed under it


def _put_all(ends: Ends, content: bytes, count: int) -> Samples:
    starts = zeros(count)
    (target, full, empty) = ends
    size = len(content)
    for i in range(count):
        empty.acquire(WAIT_SECONDS)
        starts[i] = clock()
        target[:size] = content
        full.release()
    return np.frombuffer(starts, np.int64)


def read(worker: Worker, backend: str, size: int, **others: object) -> Turns:
    """Be the reader: wait for each payload and copy it into memory of our own."""
    with _opened(worker, backend, size, create=False) as ends:
        local = bytearray(size)
        while roles := (yield {}):
            count = roles["writer"]["count"]
            with worker.counting(READ, count):
                woken, done = _take_all(ends, local, count)
            keep(worker, READ, (done - woken)[DISCARDED:])
            keep(worker, END, done[DISCARDED:])
        for _ in range(PROOF_MESSAGES):
            _take_all(ends, local, 1)
            worker.outcome.proof.append(digest(local))
        worker.meet()


def _take_all(ends: Ends, local: bytearray, count: int) -> tuple[Samples, Samples]:
    woken, done = zeros(count), zeros(count)
    (source, full, empty) = ends
    size = len(local)
    for i in range(count):
        full.acquire(WAIT_SECONDS)
        woken[i] = clock()
        local[:] = source[:size]
        done[i] = clock()
        empty.release()
    return np.frombuffer(woken, np.int64), np.frombuffer(done, np.int64)
