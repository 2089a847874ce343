"""Tolerance: one-sided tolerance limits of no assumed shape, and whether launches may have one.

With n values of one distribution, whatever its shape, the r-th largest lies above a share
`coverage` of it with a probability that follows from n alone (Wilks, Ann. Math. Statist. 12, 1941,
91-96). The largest of 59 covers 95 % with 95 % confidence. It holds for values that are
exchangeable, and for an n that was fixed before one was seen.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, fsum
from statistics import NormalDist

import numpy as np

from ipclab.errors import UsageError
from ipclab.stats.intervals import Floats
from ipclab.stats.ranktest import drift

ERROR = 0.05  # of calling exchangeable launches something else, in both tests together
MOST = 100_000  # launches that are looked for
HOLDS, FEW, DRIFTS = "holds", "few-launches", "drift"
FOLLOWS, FAILED, NO_TIMES = "autocorrelation", "failed", "no-times"
Values = Sequence[float] | Floats


@dataclass(frozen=True)
class Deadline:
    """What is asked for: the share of launches that it covers, how surely, by which largest one."""

    coverage: float
    confidence: float
    rank: int = 1

    def __post_init__(self) -> None:
        """Raise `ValueError` for shares that are not within 0 and 1, and for a rank below 1."""
        are_shares = 0 < self.coverage < 1 and 0 < self.confidence < 1
        if not are_shares or self.rank < 1:
            raise ValueError("a deadline's shares lie between 0 and 1, its rank is 1 or more")

    @classmethod
    def of(cls, text: str) -> "Deadline":
        """Return what `95/95` (percent) or, for the second largest, `95/95/2` means.

        Raises `ValueError` for other texts.
        """
        coverage, confidence, *rank = text.split("/")
        (largest,) = rank or ["1"]
        return cls(float(coverage) / 100, float(confidence) / 100, int(largest))

    def confidence_of(self, launches: int) -> float:
        """Return the probability that the `rank`-th largest lies above a share `coverage` of all.

        That fewer than `rank` of them lie in the rest: a binomial sum, exact for a continuous
        distribution and never too large for another. Raises `ValueError` for a `rank` so large that
        its terms are no floating-point numbers.
        """
        rest = 1 - self.coverage
        terms = []
        try:
            for k in range(min(self.rank, launches + 1)):
                terms.append(comb(launches, k) * rest**k * self.coverage ** (launches - k))
        except OverflowError as error:
            what = f"the {self.rank}-th largest of {launches} launches is too far from the largest"
            raise ValueError(what) from error
        return 1 - fsum(terms)

    @property
    def launches(self) -> int:
        """Return the fewest launches that give it; raises `ValueError` above `MOST`."""
        enough = self.rank
        while self.confidence_of(enough) < self.confidence:
            if enough > MOST:
                raise ValueError(f"a deadline of so much takes more than {MOST:,} launches")
            enough *= 2
        least = max(self.rank, enough // 2)
        return bisect_left(range(enough), self.confidence, lo=least, key=self.confidence_of)


@dataclass(frozen=True)
class Statement:
    """Whether a deadline `holds`, or why none is stated.

    `value` is the bound, None where none is stated; `drift` and `follows` are the p of no drift
    over the launches, and of launches that do not follow from the last.
    """

    state: str
    value: float | None
    launches: int
    drift: float
    follows: float


def launches_for(text: str) -> int:
    """Return how many launches of each point a deadline such as `95/95` takes, 0 for none.

    Raises `UsageError` for a text that means nothing.
    """
    try:
        return Deadline.of(text).launches if text else 0
    except ValueError as error:
        fix = "in percent, such as 95/95, or 95/95/2 for the second largest launch"
        what = f"--deadline {text}"
        raise UsageError(what, str(error), f"write coverage/confidence {fix}") from error


def tolerance_limit(values: Values, asked: Deadline) -> float | None:
    """Return the value below which a share of all lies, as `asked`; None for too few values."""
    if asked.confidence_of(len(values)) < asked.confidence:
        return None
    return float(np.sort(values)[-asked.rank])


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


def statement(values: Values, asked: Deadline, failures: int = 0) -> Statement:
    """Return the deadline of one value a launch, in the order taken, or why none can be stated.

    Refused when launches failed, which have no value, when values are not positive and finite, are
    too few, drift or follow from each other.
    """
    times = np.asarray(values, np.float64)
    possible = np.isfinite(times) & (times > 0)
    if not possible.all():
        return Statement(NO_TIMES, None, len(times), 1.0, 1.0)
    drifting = drift(times.tolist()).p
    following = follows(times)
    bound = tolerance_limit(times, asked)
    state = HOLDS
    if failures:
        state = FAILED
    elif bound is None:
        state = FEW
    elif drifting < ERROR / 2:
        state = DRIFTS
    elif following < ERROR / 2:
        state = FOLLOWS
    if state != HOLDS:
        bound = None
    return Statement(state, bound, len(times), drifting, following)
