"""A launch: one fresh start of a point's processes, with its samples, counters and conditions."""

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from msgspec import Meta

from ipclab.store.schema import LARGEST, Count, Whole

BUSY = "busy_cpus"  # a counter: CPU time over the time in which it was counted
UNRECORDED = "unrecorded."  # begins the name of what was timed of an op beside its samples
Samples = np.ndarray[tuple[int], np.dtype[np.int64]]
# of one operation, where a sample stands for several
Times = np.ndarray[tuple[int], np.dtype[np.float64]]


@dataclass
class Launch:
    """The samples of one launch of one point.

    `samples`: op -> int64 ns in the order taken. `counters`: op -> counter -> number per operation.
    `order` is the launch's place among all launches of the run, `started_ns` its start on the run's
    clock. `per`: op -> how many operations one sample stands for (1 where not given, the same in
    all launches of a point): an operation that takes less than a clock can tell is timed in
    batches. `whole`: op -> what was found of all its samples, where `samples` are but some of them.
    """

    samples: dict[str, Samples]
    counters: dict[str, dict[str, float]]
    order: Whole = 0
    started_ns: Whole = 0
    elapsed_ns: Whole = 0
    flags: list[str] = field(default_factory=list)
    cpus: dict[str, list[Count]] = field(default_factory=dict)
    facts: dict[str, object] = field(default_factory=dict)
    per: dict[str, Annotated[int, Meta(ge=1, le=LARGEST)]] = field(default_factory=dict)
    whole: dict[str, dict[str, float]] = field(default_factory=dict)
    turns: dict[str, list[Count]] = field(default_factory=dict)

    def op_names(self) -> list[str]:
        """Return the ops that have values: not what was timed before, beside and between these.

        That (warm, first and looked-at operations) is in `samples` under `UNRECORDED` and the op.
        """
        return [op for op in self.samples if not op.startswith(UNRECORDED)]

    def times(self, op: str) -> Samples | Times:
        """Return the ns of one operation for each sample of `op`."""
        batch = self.per.get(op, 1)
        return self.samples[op] if batch == 1 else self.samples[op] / batch

    def median(self, op: str) -> float:
        """Return the median of one operation (ns) over all samples of `op`.

        It is the mean of both where two are in the middle.
        """
        if op in self.whole:
            return self.whole[op]["median"]
        return float(np.median(self.times(op)))

    def turn_medians(self, op: str) -> list[float]:
        """Return the median of one operation (ns) in each turn of `op`, if it has turns."""
        turns = self.turns.get(op, [])
        if op in self.whole:
            return [self.whole[op][turn_name(number)] for number in range(len(turns))]
        parts = np.split(self.times(op), np.cumsum(turns)[:-1])
        return [float(np.median(part)) for part in parts] if turns else []


def turn_name(number: int) -> str:
    """Return how `Launch.whole` calls the median of turn `number`."""
    return f"turn-{number}"


def samples_of(launch: Launch) -> int:
    """Return how many samples a launch has, of all ops."""
    return sum(map(len, launch.samples.values()))
