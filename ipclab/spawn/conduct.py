"""What is asked of a mechanism beside its data: it runs where it was put, and rests while parked."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from ipclab.spawn.processes import children, threads_of
from ipclab.spawn.proof import PayloadError

REST_SHARE = 0.1  # of the time while it is parked, which a mechanism may compute
REST_NS = 20_000_000  # and so long in any case, to bring to an end what it began


class ConductError(PayloadError):
    """A mechanism ran elsewhere, before others, or at other times than it was asked to."""


class Given(NamedTuple):
    """What the scheduler was told of a thread (sched(7))."""

    cpus: frozenset[int]
    policy: int
    nice: int


def given(thread: int) -> Given:
    """Return what the scheduler was told of `thread`; raises `ProcessLookupError` without it."""
    return Given(
        frozenset(os.sched_getaffinity(thread)),
        os.sched_getscheduler(thread),
        os.getpriority(os.PRIO_PROCESS, thread),
    )


def threads() -> dict[int, Given]:
    """Return what the scheduler was told of each thread of this process and of its children."""
    told = {}
    for process in (os.getpid(), *children()):
        for thread in threads_of(process):
            with suppress(ProcessLookupError):
                told[thread] = given(thread)
    return told


def this_thread() -> dict[int, Given]:
    """Return what the scheduler was told of the thread that calls, where others have the process, too."""
    return {threading.get_native_id(): given(0)}


def computed_ns() -> int:
    """Return how long this process and its children have computed, in ns (proc(5), schedstat)."""
    computed = time.process_time_ns()
    for process in children():
        for thread in threads_of(process):
            with suppress(OSError):
                told = Path(f"/proc/{process}/task/{thread}/schedstat").read_text()
                computed += int(told.split()[0])
    return computed


class Conduct:
    """How a process of a launch behaves, from where it was put on its CPUs.

    `looked_at` returns what the scheduler was told of each thread that is the mechanism's.
    """

    def __init__(self, looked_at: Callable[[], dict[int, Given]] = threads) -> None:
        self.looked_at, self.own = looked_at, given(0)
        self.before = looked_at()  # those that a library has made already, which may differ
        self.parked_ns = self.computed_ns = 0

    def check_place(self) -> None:
        """Raise `ConductError` where a thread may run elsewhere than was given, or before others."""
        for thread, now in self.looked_at().items():
            asked = self.before.get(thread, self.own)
            if not now.cpus <= asked.cpus:
                moved, put = (", ".join(map(str, sorted(cpus))) for cpus in (now.cpus, asked.cpus))
                what = f"a thread was moved to CPU {moved}, where CPU {put} was given"
                raise ConductError(what, "its times are those of another placement")
            if now[1:] != asked[1:]:
                what = f"a thread took another priority (policy {now.policy}, nice {now.nice})"
                raise ConductError(what, "it runs before those that it is compared with")

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Count what is computed inside, where others have their turns.

        Raises `ConductError` where that is more than what comes to an end.
        """
        began, computed = time.monotonic_ns(), computed_ns()
        yield
        self.computed_ns += computed_ns() - computed
        self.parked_ns += time.monotonic_ns() - began
        if self.computed_ns > REST_NS + REST_SHARE * self.parked_ns:
            share = self.computed_ns / self.parked_ns
            what = f"it used {share:.0%} of a CPU while it was parked"
            raise ConductError(what, "others have their turns then, which that disturbs")
