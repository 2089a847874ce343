"""Timed loops: how often to repeat, stamps in preallocated arrays, and exact page faults."""

import os
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipclab.spawn.proof import recorded
from ipclab.spawn.worker import Worker, usage, zeros
from ipclab.store.launch import UNRECORDED, Samples

AWAKE_NS = 200_000
DISCARDED = 2  # operations at the start of a turn, in which caches and predictors come back
LEAST_LONG = 3  # operations of a turn, where one takes longer than a turn is meant to
Step = Callable[[], tuple[int, ...]]
FAULT_REPEATS = 9


def await_due(at_ns: int) -> None:
    """Wait until the clock (perf_counter_ns) says `at_ns`.

    It does not sleep to the end, since a sleep ends too late. It offers its CPU meanwhile, which
    the other end may need to come to rest: CPU time counted here has that in it.
    """
    left = at_ns - time.perf_counter_ns()
    if left > 2 * AWAKE_NS:
        time.sleep((left - AWAKE_NS) / 1e9)
    while time.perf_counter_ns() < at_ns:
        os.sched_yield()


def sleep_until(at_ns: int) -> None:
    """Sleep until the clock (perf_counter_ns) says `at_ns`, or a little longer, at no CPU time."""
    left = at_ns - time.perf_counter_ns()
    if left > 0:
        time.sleep(left / 1e9)


def paced(
    step: Callable[[int], object],
    count: int,
    period_ns: int,
    wait: Callable[[int], None] = await_due,
    after: Callable[[int], object] | None = None,
) -> tuple[Samples, Samples, Samples]:
    """Call `step(0)` to `step(count - 1)`, one every `period_ns`, by a schedule fixed beforehand.

    Return when each was due, when it began and when it ended (clocks, int64 ns). `wait(at_ns)`
    waits until one is due; what is late begins at once. `after` is called with the number of each
    that has ended, outside of its times. Counted from when it was due, a stall shows
    in all that it delays: whoever asks anew from the end of a stall omits those (coordinated
    omission).
    """
    starts, ends = zeros(count), zeros(count)
    first = time.perf_counter_ns() + period_ns
    for number in range(count):
        wait(first + number * period_ns)
        starts[number] = time.perf_counter_ns()
        step(number)
        ends[number] = time.perf_counter_ns()
        if after:
            after(number)
    due = first + period_ns * np.arange(count, dtype=np.int64)
    return due, np.frombuffer(starts, np.int64), np.frombuffer(ends, np.int64)


def fitting(each_ns: int, budget_ns: int, least: int, most: int) -> int:
    """Return how many repeats of `each_ns` fit into `budget_ns`, between `least` and `most`."""
    return min(most, max(least, budget_ns // max(1, each_ns)))


def operations(each_ns: float, budget_ns: int, least: int, most: int) -> int:
    """Return how many operations of `each_ns` a turn of `budget_ns` times, discarded ones apart.

    As many as fit, at least `least`; of those that each take longer than the turn three are enough.
    """
    if each_ns > budget_ns:
        least = min(least, LEAST_LONG)
    return fitting(round(each_ns), budget_ns, least, most)


def record(
    worker: Worker,
    op: str,
    phases: Sequence[str],
    step: Step,
    count: int,
    discarded: int = 0,
    plan: Sequence[bool] = (),
) -> float:
    """Run `step` `count` times; keep samples of `op` and of each `op.phase`; return the median.

    `step` returns the clock (ns) at its start and after each of its phases: one stamp more than
    `phases`. With one phase, only `op` itself is kept. The first `discarded` steps are kept apart,
    and so are those that `plan` looks at and what follows these.
    """
    width = len(phases) + 1
    stamps = zeros(count * width)
    with worker.counting(op, count):
        place = 0
        for _ in range(count):
            for stamp in step():
                stamps[place] = stamp
                place += 1
    kept = recorded(plan or [False] * count, discarded)
    every = np.frombuffer(stamps, dtype=np.int64).reshape(count, width)
    rows = every[kept]
    keep_phases(worker, op, phases, rows)
    keep_unrecorded(worker, op, every[:, -1] - every[:, 0], kept)
    return float(np.median(rows[:, -1] - rows[:, 0]))


def keep_phases(
    worker: Worker, op: str, phases: Sequence[str], rows: "np.ndarray[Any, np.dtype[np.int64]]"
) -> None:
    """Keep the samples of `op` and each of its phases from `rows` of clocks, as `record` does."""
    keep(worker, op, rows[:, -1] - rows[:, 0])
    if len(phases) > 1:
        for phase, column in zip(phases, np.diff(rows, axis=1).T, strict=True):
            keep(worker, f"{op}.{phase}", column)


def keep(worker: Worker, op: str, values: "np.ndarray[Any, Any]") -> None:
    """Keep int64 `values` (ns) as samples of `op`: those of one turn, if it is recorded."""
    if worker.recording:
        samples = worker.outcome.samples.setdefault(op, zeros(0))
        samples.frombytes(np.ascontiguousarray(values, dtype=np.int64).tobytes())
        worker.outcome.turns.setdefault(op, []).append(len(values))


def keep_parted(
    worker: Worker,
    op: str,
    values: "np.ndarray[Any, Any]",
    recorded: "np.ndarray[Any, np.dtype[np.bool_]]",
) -> None:
    """Keep those of all `values` (int64 ns) of a turn that are `recorded` as samples of `op`.

    The others are kept apart.
    """
    keep(worker, op, values[recorded])
    keep_unrecorded(worker, op, values, recorded)


def keep_unrecorded(
    worker: Worker,
    op: str,
    values: "np.ndarray[Any, Any]",
    recorded: "np.ndarray[Any, np.dtype[np.bool_]] | None" = None,
) -> None:
    """Keep those of `values` (int64 ns) that are no samples of `op` under a name of their own.

    That is all of a turn that only warms up, and of none where `recorded` is not given. Whoever
    asks for the worst of all operations needs them.
    """
    if recorded is not None and worker.recording:
        values = values[~recorded]
    if len(values):
        samples = worker.outcome.samples.setdefault(UNRECORDED + op, zeros(0))
        samples.frombytes(np.ascontiguousarray(values, dtype=np.int64).tobytes())


def count_faults(worker: Worker, op: str, step: Callable[[], object]) -> None:
    """Replace the counted minor faults of `op` by the median over single steps, not timed.

    Counting step by step makes the number exact; reading the counter inside the timed loop would
    disturb it.
    """
    counts = []
    for _ in range(FAULT_REPEATS):
        before = usage()[0]
        step()
        counts.append(usage()[0] - before)
    worker.outcome.counters.setdefault(op, {})["minor_faults"] = statistics.median(counts)
