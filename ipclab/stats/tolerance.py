"""Deadlines: one-sided tolerance limits that assume no shape, and whether launches may be given one.

With n values of one distribution, whatever its shape, the r-th largest lies above a share `coverage` of it with a
probability that follows from n alone (Wilks, Ann. Math. Statist. 12, 1941, 91-96). The largest of 59 covers 95 % with
95 % confidence. It holds for values that are exchangeable, and for an n that was fixed before one was seen.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import comb, fsum
from statistics import NormalDist

import numpy as np

from ipclab.stats.intervals import Floats
from ipclab.stats.ranktest import drift

ERROR = 0.05  # of calling exchangeable launches something else, in both tests together
MOST = 100_000  # launches that are looked for
HOLDS, FEW, DRIFTS = "holds", "few-launches", "drift"
FOLLOWS, FAILED, NO_TIMES = "autocorrelation", "failed", "no-times"


@dataclass(frozen=True)
class Deadline:
    """What is asked for: a `coverage` of launches (a share), a `confidence`, and which largest launch bounds them."""

    coverage: float
    confidence: float
    rank: int = 1

    def __post_init__(self) -> None:
        """Raise `ValueError` for shares that are not within 0 and 1, and for a rank below 1."""
        if not (0 < self.coverage < 1 and 0 < self.confidence < 1 and self.rank >= 1):
            raise ValueError("a deadline's shares lie between 0 and 1, its rank is 1 or more")

    @classmethod
    def of(cls, text: str) -> "Deadline":
        """Return what `95/95` (percent) or, for the second largest, `95/95/2` means; raises `ValueError` for others."""
        coverage, confidence, *more = text.split("/")
        (rank,) = more or ["1"]
        return cls(float(coverage) / 100, float(confidence) / 100, int(rank))

    @property
    def launches(self) -> int:
        """Return the fewest launches that give it; raises `ValueError` above `MOST`."""
        return launches_needed(self.coverage, self.confidence, self.rank)


@dataclass(frozen=True)
class Statement:
    """Whether a deadline `holds`, or why none is stated; `bound` is in the values' unit, None where none is stated.

    `drift` and `follows` are the p of no drift over the launches, and of launches that do not follow from the last.
    """

    state: str
    bound: float | None
    launches: int
    drift: float
    follows: float


def confidence_of(launches: int, coverage: float, rank: int = 1) -> float:
    """Return the probability that the `rank`-th largest of `launches` lies above a share `coverage` of all.

    That fewer than `rank` of them lie in the rest: a binomial sum, exact for a continuous distribution and never too
    large for another. Raises `ValueError` for a `rank` so large that its terms are no floating-point numbers.
    """
    rest, ranks = 1 - coverage, range(min(rank, launches + 1))
    try:
        return 1 - fsum(comb(launches, k) * rest**k * coverage ** (launches - k) for k in ranks)
    except OverflowError as error:
        raise ValueError(f"the {rank}-th largest of {launches} launches is too far from the largest") from error


def launches_needed(coverage: float, confidence: float, rank: int = 1) -> int:
    """Return the fewest launches of which the `rank`-th largest covers a share `coverage` with `confidence`.

    Raises `ValueError` above `MOST`.
    """
    high = rank
    while confidence_of(high, coverage, rank) < confidence:
        if high > MOST:
            raise ValueError(f"a deadline of so much takes more than {MOST:,} launches")
        high *= 2
    covers = partial(confidence_of, coverage=coverage, rank=rank)
    return bisect_left(range(high), confidence, lo=max(rank, high // 2), key=covers)


def tolerance_limit(values: Sequence[float] | Floats, asked: Deadline) -> float | None:
    """Return the value below which a share of all lies, as `asked`; None when there are too few values."""
    if confidence_of(len(values), asked.coverage, asked.rank) < asked.confidence:
        return None
    return float(np.sort(np.asarray(values, np.float64))[-asked.rank])


def follows(values: Sequence[float] | Floats) -> float:
    """Return the two-sided p of values in the order taken not following from the one before (autocorrelation, lag 1).

    The rank version of von Neumann's ratio, ties at their middle rank, with a normal approximation (Bartels, J. Am.
    Statist. Assoc. 77, 1982, 40-46). Equal values give 1: nothing speaks against them.
    """
    found = np.asarray(values, np.float64)
    ordered, count = np.sort(found), len(found)
    ranks = np.searchsorted(ordered, found, "left") + np.searchsorted(ordered, found, "right")
    spread = float(((ranks - ranks.mean()) ** 2).sum()) if count else 0.0
    if not spread:
        return 1.0
    ratio = float((np.diff(ranks) ** 2).sum()) / spread
    return 2 * NormalDist().cdf(-abs(ratio - 2) / (20 / (5 * count + 7)) ** 0.5)


def statement(values: Sequence[float] | Floats, asked: Deadline, failures: int = 0) -> Statement:
    """Return the deadline of one value a launch, in the order taken, or why none can be stated.

    Refused when launches failed, which have no value, when values are not positive and finite, are too few, drift or
    follow from each other.
    """
    found = np.asarray(values, np.float64)
    if not (np.isfinite(found).all() and (found > 0).all()):
        return Statement(NO_TIMES, None, len(found), 1.0, 1.0)
    moved, chained, bound = drift(found.tolist()).p, follows(found), tolerance_limit(found, asked)
    if failures or bound is None:
        state = FAILED if failures else FEW
    else:
        state = DRIFTS if moved < ERROR / 2 else FOLLOWS if chained < ERROR / 2 else HOLDS
    return Statement(state, bound if state == HOLDS else None, len(found), moved, chained)
