"""Stopping rules: small objects that are told of each launch and say when a point is done."""

from dataclasses import dataclass, field

import numpy as np

from ipclab.stats.intervals import median_interval
from ipclab.store.launch import Launch

SETTLED_LAUNCHES = 6
SETTLED_CHANGE = 0.05


@dataclass
class Precision:
    """Stop when the interval of every primary op is narrow, when its width has settled above that, or at the end.

    `target` is the full width of the 95 % interval over the median of the launch medians. A disturbed launch is kept
    but does not count towards `least`, so it is repeated until `most` launches were made.
    """

    ops: tuple[str, ...]
    least: int
    most: int
    target: float
    medians: dict[str, list[float]] = field(default_factory=dict)
    widths: list[float] = field(default_factory=list)
    launches: int = 0
    clean: int = 0

    def add(self, launch: Launch) -> None:
        """Take the next launch into account."""
        self.launches += 1
        self.clean += not launch.flags
        for op in self.ops or tuple(launch.samples):
            self.medians.setdefault(op, []).append(float(np.median(launch.samples[op])))
        if self.launches >= 2:  # noqa: PLR2004  one launch has no interval
            self.widths.append(max(_width(values) for values in self.medians.values()))

    def finished(self) -> str | None:
        """Return why the point is done: `precise`, `settled`, `budget`; None when it is not."""
        if self.launches >= self.most:
            return "precise" if self.widths and self.widths[-1] <= self.target else "budget"
        if self.clean < self.least:
            return None
        if self.widths and self.widths[-1] <= self.target:
            return "precise"
        return "settled" if self._settled() else None

    def _settled(self) -> bool:
        recent = self.widths[-SETTLED_LAUNCHES:]
        if len(recent) < SETTLED_LAUNCHES or self.launches < 2 * self.least:
            return False
        return max(recent) - min(recent) <= SETTLED_CHANGE * min(recent)


def _width(values: list[float]) -> float:
    low, high = median_interval(np.array(values))
    middle = float(np.median(values))
    return (high - low) / middle if middle else 0.0
