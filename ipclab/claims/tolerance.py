"""Tolerance: one-sided tolerance limits of no assumed shape, and whether launches may have one.

With n values of one distribution, whatever its shape, the r-th largest lies above a given share
of it with a probability that follows from n alone (Wilks, Ann. Math. Statist. 12, 1941, 91-96).
The largest of 59 covers 95 % with 95 % confidence. It holds for values that are exchangeable, and
for an n that was fixed before one was seen.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from scipy.special import betainc

from ipclab.stats.intervals import Floats
from ipclab.stats.shape import drift_p

ERROR = 0.05  # of calling exchangeable launches something else, in both tests together
MOST = 100_000  # launches that are looked for
HOLDS, FEW, DRIFTS = "holds", "few-launches", "drift"
FOLLOWS, FAILED, NO_TIMES = "autocorrelation", "failed", "no-times"
Values = Sequence[float] | Floats


@dataclass(frozen=True)
class Coverage:
    """What is asked for: the share of launches that is covered, how surely, by which largest one."""

    share: float
    confidence: float
    rank: int = 1

    def __post_init__(self) -> None:
        """Raise `ValueError` for shares that are not within 0 and 1."""
        if not (0 < self.share < 1 and 0 < self.confidence < 1):
            raise ValueError("its shares lie between 0 and 1")

    @classmethod
    def of(cls, text: str) -> "Coverage":
        """Return what `95/95` (percent) means; raises `ValueError` for other texts."""
        share, slash, confidence = text.partition("/")
        if not slash:
            raise ValueError("it has no confidence")
        return cls(float(share) / 100, float(confidence) / 100)

    def confidence_of(self, launches: int) -> float:
        """Return the probability that the `rank`-th largest lies above the `share` of all.

        That is a binomial sum, at least `rank` of them in the rest: exact for a continuous
        distribution and never too large for another.
        """
        if launches < self.rank:
            return 0.0
        return float(betainc(self.rank, launches - self.rank + 1, 1 - self.share))

    @property
    def launches(self) -> int:
        """Return the fewest launches that give it; raises `ValueError` above `MOST`."""
        if self.confidence_of(MOST) < self.confidence:
            raise ValueError(f"so much takes more than {MOST:,} launches")
        return bisect_left(range(MOST), self.confidence, lo=self.rank, key=self.confidence_of)


def follows(values: Values) -> float:
    """Return the two-sided p of values, in the order taken, not following from the one before.

    That is autocorrelation of lag 1: the rank version of von Neumann's ratio, ties at their middle
    rank, with a normal approximation (Bartels, J. Am. Statist. Assoc. 77, 1982, 40-46). Equal
    values give 1: nothing speaks against them.
    """
    ordered = np.sort(values)
    first = np.searchsorted(ordered, values, "left")
    last = np.searchsorted(ordered, values, "right")
    ranks = first + last
    steps = np.diff(ranks)
    if not steps.any():
        return 1.0
    scatter = ranks - ranks.mean()
    between = (steps**2).sum()
    within = (scatter**2).sum()
    ratio = float(between / within)
    deviation = (20 / (5 * len(values) + 7)) ** 0.5
    return 2 * NormalDist().cdf(-abs(ratio - 2) / deviation)


def state(values: Values, asked: Coverage, failures: int = 0) -> str:
    """Return `HOLDS` where the `rank`-th largest of one value a launch, in the order taken, covers.

    Else the reason why that cannot be stated: launches failed, which have no value, or values are
    not positive and finite, too few, drift or follow from each other.
    """
    times = np.asarray(values, np.float64)
    possible = np.isfinite(times) & (times > 0)
    if not possible.all():
        return NO_TIMES
    if failures:
        return FAILED
    if asked.confidence_of(len(times)) < asked.confidence:
        return FEW
    if drift_p(times.tolist()) < ERROR / 2:
        return DRIFTS
    if follows(times) < ERROR / 2:
        return FOLLOWS
    return HOLDS
