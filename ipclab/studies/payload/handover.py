"""Two processes: a writer hands a payload to a waiting reader through a shared segment."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from time import perf_counter_ns as clock
from typing import Any

import numpy as np
import posix_ipc

from ipclab.backends.installed import backend as find
from ipclab.backends.posix_shm import semaphore
from ipclab.spawn.loops import DISCARDED, LEAST_LONG, keep_parted, operations
from ipclab.spawn.proof import LOOKED, Numbered, recorded
from ipclab.spawn.worker import Turns, Worker, zeros
from ipclab.store.launch import Samples

WAIT_SECONDS = 10.0
WRITE, READ = "write", "read"
START, END = "start", "end"  # clocks, joined by the study into the time of a handover
Ends = tuple[memoryview, posix_ipc.Semaphore, posix_ipc.Semaphore]


@contextmanager
def _opened(
    worker: Worker, backend: str, size: int, create: bool
) -> Iterator[tuple[Ends, Numbered]]:
    """Give the segment's memory and two semaphores, `full` and `empty`, and the proof."""
    kind = find(backend).segment
    if kind is None:
        raise TypeError(f"{backend} has no segment")
    secret = secrets.token_hex(16)
    if not create:
        secret = worker.meet()["writer"]["secret"]  # all is there
    with ExitStack() as held:

        def holding(part: Any) -> Any:
            held.callback(part.close)
            if create:
                held.callback(part.unlink)
            return part

        segment = holding(kind(worker.name("segment"), size, create))
        worker.outcome.facts |= segment.facts
        full = holding(semaphore(worker.name("full"), create, 0))
        empty = holding(semaphore(worker.name("empty"), create, 1))
        if create:
            worker.meet(secret=secret)
        yield (segment.buffer, full, empty), Numbered(f"{worker.prefix} {secret}", size)


def write_payloads(
    worker: Worker, backend: str, size: int, sampling: dict[str, int], **others: object
) -> Turns:
    """Be the writer: create the segment, and hand payloads over in each turn."""
    with _opened(worker, backend, size, create=True) as (ends, proof):
        count = DISCARDED + LEAST_LONG + LOOKED
        while (yield {"count": count}):
            plan = proof.plan(count)
            with worker.counting(WRITE, count):
                starts = _put_all(ends, proof, count)
            keep_parted(worker, START, starts, recorded(plan, DISCARDED))
            each_ns = float(np.median(np.diff(starts)))
            count = DISCARDED + operations(each_ns, **sampling) + LOOKED
        worker.meet()  # the reader is done: nothing is closed under it


def _put_all(ends: Ends, proof: Numbered, count: int) -> Samples:
    starts = zeros(count)
    (target, full, empty), size = ends, proof.size
    for i in range(count):
        content = proof.next()
        empty.acquire(WAIT_SECONDS)
        starts[i] = clock()
        target[:size] = content
        full.release()
    return np.frombuffer(starts, np.int64)


def read_payloads(worker: Worker, backend: str, size: int, **others: object) -> Turns:
    """Be the reader: wait for each payload and copy it into memory of our own."""
    with _opened(worker, backend, size, create=False) as (ends, proof):
        local = bytearray(size)
        while roles := (yield {}):
            count = roles["writer"]["count"]
            plan = proof.plan(count)
            with worker.counting(READ, count):
                woken, done = _take_all(ends, local, proof, plan)
            kept = recorded(plan, DISCARDED)
            keep_parted(worker, READ, done - woken, kept)
            keep_parted(worker, END, done, kept)
        worker.outcome.facts |= proof.told()
        worker.meet()


def _take_all(
    ends: Ends, local: bytearray, proof: Numbered, plan: Sequence[bool]
) -> tuple[Samples, Samples]:
    woken, done = zeros(len(plan)), zeros(len(plan))
    (source, full, empty) = ends
    size = len(local)
    for i, look in enumerate(plan):
        proof.next()
        full.acquire(WAIT_SECONDS)
        woken[i] = clock()
        local[:] = source[:size]
        done[i] = clock()
        proof.check(local, look)  # before the writer may go on
        empty.release()
    return np.frombuffer(woken, np.int64), np.frombuffer(done, np.int64)
