"""Timed loops: how often to repeat, stamps into preallocated arrays, and exact page-fault counts."""

import os
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipclab.spawn.worker import Worker, usage, zeros

AWAKE_NS = 200_000
Step = Callable[[], tuple[int, ...]]
FAULT_REPEATS = 9


def await_due(at_ns: int) -> None:
    """Wait until the clock (perf_counter_ns) says `at_ns`; the last of it awake, since a sleep ends too late.

    It offers its CPU meanwhile, which the other end may need to come to rest: CPU time counted here has that in it.
    """
    left = at_ns - time.perf_counter_ns()
    if left > 2 * AWAKE_NS:
        time.sleep((left - AWAKE_NS) / 1e9)
    while time.perf_counter_ns() < at_ns:
        os.sched_yield()


def repeats(step: Callable[[], object], budget_ns: int, least: int, most: int, warm_up: int = 3) -> int:
    """Warm `step` up and return how many repeats fit into `budget_ns`, between `least` and `most`."""
    step()
    start = time.perf_counter_ns()
    for _ in range(warm_up):
        step()
    return fitting((time.perf_counter_ns() - start) // warm_up, budget_ns, least, most)


def fitting(each_ns: int, budget_ns: int, least: int, most: int) -> int:
    """Return how many repeats of `each_ns` fit into `budget_ns`, between `least` and `most`."""
    return min(most, max(least, budget_ns // max(1, each_ns)))


def record(worker: Worker, op: str, phases: Sequence[str], step: Step, count: int) -> None:
    """Run `step` `count` times and keep its samples as `op`, and each phase's as `op.phase`.

    `step` returns the clock (ns) at its start and after each of its phases: one stamp more than `phases`. With one
    phase, only `op` itself is kept.
    """
    width = len(phases) + 1
    stamps = zeros(count * width)
    with worker.counting(op, count):
        place = 0
        for _ in range(count):
            for stamp in step():
                stamps[place] = stamp
                place += 1
    keep_phases(worker, op, phases, np.frombuffer(stamps, dtype=np.int64).reshape(count, width))


def keep_phases(worker: Worker, op: str, phases: Sequence[str], rows: "np.ndarray[Any, np.dtype[np.int64]]") -> None:
    """Keep the samples of `op` and of each of its phases from `rows` of int64 clocks, as `record` does."""
    keep(worker, op, rows[:, -1] - rows[:, 0])
    if len(phases) > 1:
        for phase, column in zip(phases, np.diff(rows, axis=1).T, strict=True):
            keep(worker, f"{op}.{phase}", column)


def keep(worker: Worker, op: str, values: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> None:
    """Keep int64 `values` (ns) as the samples of `op`."""
    samples = zeros(0)
    samples.frombytes(np.ascontiguousarray(values, dtype=np.int64).tobytes())
    worker.outcome.samples[op] = samples


def count_faults(worker: Worker, op: str, step: Callable[[], object]) -> None:
    """Replace the counted minor faults of `op` by the median over single steps, apart from the timed loop.

    Counting step by step makes the number exact; reading the counter inside the timed loop would disturb it.
    """
    counts = []
    for _ in range(FAULT_REPEATS):
        before = usage()[0]
        step()
        counts.append(usage()[0] - before)
    worker.outcome.counters.setdefault(op, {})["minor_faults"] = statistics.median(counts)
