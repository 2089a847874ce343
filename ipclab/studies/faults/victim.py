"""A process to which something is done: a child of its worker, so that the launch itself goes on."""

import mmap
import os
import random
import signal
import time
from collections.abc import Callable
from time import perf_counter_ns as clock

from ipclab.spawn.zygote import die_with_parent

READY, DONE, WRONG, OVER = range(4)  # places in a tally; `WRONG`: what it did has failed
SOONEST, LATEST = 0.002, 0.010  # seconds until the fault, once the victim is ready
START_SECONDS = 10.0


class Victim:
    """A forked child that runs `work` with a tally which outlives it: numbers that both processes see.

    `work` sets `READY` when it may be hit, and counts in `DONE`; `OVER` is set here when it may end.
    """

    def __init__(self, work: Callable[[memoryview], object], chance: random.Random) -> None:
        self.tally, self.chance, parent = memoryview(mmap.mmap(-1, mmap.PAGESIZE)).cast("q"), chance, os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                die_with_parent(parent)
                work(self.tally)
            finally:
                os._exit(0)

    def hit(self, number: signal.Signals, stopped_ns: int = 0) -> int:
        """Send a signal at a random moment of its work and return the clock (ns) before; let it go on after a stop."""
        deadline = time.monotonic() + START_SECONDS
        while not self.tally[READY]:
            if time.monotonic() > deadline:
                raise TimeoutError("the process that is to be hit does not begin")
            time.sleep(0.0005)
        time.sleep(self.chance.uniform(SOONEST, LATEST))
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
