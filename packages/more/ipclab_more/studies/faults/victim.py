"""The victim of a planted fault: a forked child that is hit, while the launch itself goes on."""

import mmap
import os
import random
import signal
import time
from collections.abc import Callable
from time import perf_counter_ns as clock

from ipclab.spawn.exits import die_with_parent

READY, DONE, WRONG, OVER = range(4)  # places in a tally; `WRONG`: what it did has failed
SOONEST, LATEST = 0.002, 0.010  # seconds until it is hit, once it is ready
START_SECONDS = 60.0


class Victim:
    """A forked child that runs `work` with a tally which outlives it: int64 shared by both.

    It dies with its parent. `work` sets `READY` when it may be hit, and counts in `DONE`; `OVER` is
    set here when it may end.
    """

    def __init__(self, work: Callable[[memoryview], object]) -> None:
        self.tally = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("q")
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                die_with_parent(parent)
                work(self.tally)
            finally:
                os._exit(0)

    def hit(self, number: signal.Signals, chance: random.Random, stopped_ns: int = 0) -> int:
        """Send a signal while it works, at random; return the clock (ns) before.

        After a stop of `stopped_ns` it goes on.
        """
        deadline = time.monotonic() + START_SECONDS
        while not self.tally[READY]:
            if time.monotonic() > deadline:
                raise TimeoutError("the process that is to be hit does not begin")
            time.sleep(0.0005)
        time.sleep(chance.uniform(SOONEST, LATEST))
        at = clock()
        os.kill(self.pid, number)
        if stopped_ns:
            time.sleep(stopped_ns / 1e9)
            os.kill(self.pid, signal.SIGCONT)
        return at

    def end(self) -> None:
        """Let it end, and wait for that."""
        self.tally[OVER] = 1
        os.waitpid(self.pid, 0)
