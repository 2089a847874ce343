"""Neighbours of a measurement: processes that use CPU, memory, disk or scheduler, and count.

A hog is a child of the measuring process, dies with it, and counts in memory that both share: what
it did between the first and the last sample is read there, not assumed.
"""

import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from ipclab.errors import LabError
from ipclab.studies.forked import DONE, START_SECONDS, Forked

# copied in one step; from one buffer to another of this size
BLOCK_BYTES, COPIED_BYTES = 4 << 20, 64 << 20
PAGES_BYTES, FILE_BYTES = 256 << 10, 64 << 20  # written in one step, and where it begins again
SLEEPERS = 8
LOOPS = 500
FIFO = "sched-fifo"
PRIORITY = 1  # of all real-time ones the lowest: above every other process, below the kernel's own
Counter = memoryview


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
    """Take the scheduling class that `isolation` gives a hog, or an end; new threads inherit it."""
    if isolation == "nice" and hog:
        os.nice(19)
    elif isolation == "sched-idle" and hog:
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    elif isolation == FIFO and not hog:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))


class Hogs:
    """The hogs of one contestant: at work in its turns, stopped while it is parked."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.children = list[Forked]()

    def steps(self) -> list[int]:
        """Return what each has done so far."""
        return [child.tally[DONE] for child in self.children]

    def work(self) -> None:
        """Let all go on and wait until each is at work; `IdleHogError` when one is too late."""
        before = self.steps()
        for child in self.children:
            os.kill(child.pid, signal.SIGCONT)
        self._await(
            lambda: all(late > early for early, late in zip(before, self.steps(), strict=True)),
            "start",
        )

    def rest(self) -> None:
        """Stop all and wait until each has stopped."""
        for child in self.children:
            os.kill(child.pid, signal.SIGSTOP)
        self._await(lambda: all(map(_stopped, self.children)), "stop")

    def end(self) -> None:
        """Kill all."""
        for child in self.children:
            child.end(kill=True)

    def _await(self, ready: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + START_SECONDS
        while not ready():
            if any(map(_ended, self.children)) or time.monotonic() > deadline:
                raise IdleHogError(
                    f"neighbour {self.kind} did not {what}", "it ended, or did nothing in time"
                )
            time.sleep(0.0005)


def _stopped(child: Forked) -> bool:
    """Tell whether a child is stopped (proc(5), stat: its state is the letter after its name)."""
    text = Path(f"/proc/{child.pid}/stat").read_text()
    return text.rpartition(")")[2].split()[0] == "T"


def _ended(child: Forked) -> bool:
    return bool(os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT))


@contextmanager
def hogs_on(kind: str, cpus: Sequence[int], isolation: str, folder: str) -> Iterator[Hogs]:
    """Run a hog of `kind` on each of `cpus` while the block lasts, and give them, at work.

    Files are made in `folder`. Raises `IdleHogError` when one does not start.
    """
    hogs = Hogs(kind)
    try:
        for cpu in cpus:
            hogs.children.append(Forked(partial(_work, kind, cpu, isolation, folder)))
        hogs.work()
        yield hogs
    finally:
        hogs.end()


def _work(kind: str, cpu: int, isolation: str, folder: str, done: Counter) -> None:
    os.sched_setaffinity(0, {cpu})
    take_class(isolation, hog=True)
    KINDS[kind](done, folder)


def check_busy(kind: str, before: Sequence[int], after: Sequence[int]) -> int:
    """Return what all hogs did between two readings; `IdleHogError` when one did nothing."""
    steps = [late - early for early, late in zip(before, after, strict=True)]
    if not all(step > 0 for step in steps):
        raise IdleHogError(
            f"neighbour {kind} was idle",
            "its counter stood still from the first sample to the last",
        )
    return sum(steps)
