"""Neighbours of a measurement: processes that use a CPU, memory, the disk or the scheduler, and count what they do.

A hog is a child of the measuring process, dies with it, and counts in memory that both share: what it did between the
first and the last sample is read there, not assumed.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np

from ipclab.errors import LabError
from ipclab.studies.forked import DONE, START_SECONDS, Forked

BLOCK_BYTES, COPIED_BYTES = 4 << 20, 64 << 20  # copied in one step; from one buffer to another of this size
PAGES_BYTES, FILE_BYTES = 256 << 10, 64 << 20  # written in one step, and where it begins again
SLEEPERS = 8
LOOPS = 500
FIFO = "sched-fifo"
PRIORITY = 1  # of all real-time ones the lowest: above every other process, below the kernel's own
Counter = memoryview
Work = Callable[[], Sequence[int]]


class IdleHogError(LabError):
    """A hog did nothing while samples were taken, so that they are none of its neighbourhood."""


def _cpu(done: Counter, folder: str) -> None:
    while True:
        for _ in range(LOOPS):
            pass
        done[DONE] += 1


def _memory(done: Counter, folder: str) -> None:
    source, target = (np.ones(COPIED_BYTES, np.uint8) for _ in range(2))
    while True:
        for start in range(0, COPIED_BYTES, BLOCK_BYTES):
            target[start : start + BLOCK_BYTES] = source[start : start + BLOCK_BYTES]
            done[DONE] += 1


def _writeback(done: Counter, folder: str) -> None:
    pages = os.urandom(PAGES_BYTES)
    with tempfile.TemporaryFile(dir=folder) as file:  # without a name: nothing is left behind
        while True:
            for start in range(0, FILE_BYTES, PAGES_BYTES):
                os.pwrite(file.fileno(), pages, start)
                os.fdatasync(file.fileno())
                done[DONE] += 1


def _wakes(done: Counter, folder: str) -> None:
    """Wake several sleepers at once, again and again; each wakes its waker."""
    call, back = (os.eventfd(0, os.EFD_SEMAPHORE) for _ in range(2))

    def sleep(tally: Counter) -> None:
        while True:
            os.eventfd_read(call)
            os.eventfd_write(back, 1)

    for _ in range(SLEEPERS):
        Forked(sleep)
    while True:
        os.eventfd_write(call, SLEEPERS)
        for _ in range(SLEEPERS):
            os.eventfd_read(back)
        done[DONE] += SLEEPERS


KINDS = {"cpu": _cpu, "memory": _memory, "writeback": _writeback, "wakes": _wakes}


def take_class(isolation: str, hog: bool) -> None:
    """Take the scheduling class that `isolation` gives a hog, or else an end, and so all threads that it starts."""
    if isolation == "nice" and hog:
        os.nice(19)
    elif isolation == "sched-idle" and hog:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    elif isolation == FIFO and not hog:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))


@contextmanager
def beside(kind: str, cpus: Sequence[int], isolation: str, folder: str) -> Iterator[Work]:
    """Run a hog of `kind` on each of `cpus` (none: nothing) while the block lasts; give how to read what each has done.

    Each is at work before the block begins. Files are made in `folder`. Raises `IdleHogError` when one does not start.
    """
    hogs: list[Forked] = []
    try:
        for cpu in cpus:
            hogs.append(Forked(partial(_work, kind, cpu, isolation, folder)))
        deadline = time.monotonic() + START_SECONDS
        while not all(hog.tally[DONE] for hog in hogs):
            ended = any(os.waitid(os.P_PID, hog.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) for hog in hogs)
            if ended or time.monotonic() > deadline:
                raise IdleHogError(f"neighbour {kind} did not start", "it ended" if ended else "it did nothing")
            time.sleep(0.001)
        yield lambda: [hog.tally[DONE] for hog in hogs]
    finally:
        for hog in hogs:
            hog.end(kill=True)


def _work(kind: str, cpu: int, isolation: str, folder: str, done: Counter) -> None:
    os.sched_setaffinity(0, {cpu})
    take_class(isolation, hog=True)
    KINDS[kind](done, folder)


def check_busy(kind: str, before: Sequence[int], after: Sequence[int]) -> int:
    """Return what all hogs did between two readings; raises `IdleHogError` when one of them did nothing."""
    steps = [late - early for early, late in zip(before, after, strict=True)]
    if not all(step > 0 for step in steps):
        raise IdleHogError(f"neighbour {kind} was idle", "its counter stood still from the first sample to the last")
    return sum(steps)
