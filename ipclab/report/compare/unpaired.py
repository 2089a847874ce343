"""The comparison of two runs that were measured apart, on other days or machines, point by point.

Their launches share no heats, and two sessions on one machine have luck of their own, which no
launch of theirs can show. So the question is whether a difference is larger than `EQUIVALENCE`, or
none: an interval beyond it shows a point `faster` or `slower` (a minimum effect), one inside it
`same` (Schuirmann, J. Pharmacokin. Biopharm. 15, 1987, 657-680).

A point has few launches, whose scatter says little. So each is tested by Welch's t of the log times
(Biometrika 34, 1947, 28-35), with the scatter of each side steadied by that of all points of its
run that scatter for the same reasons (Smyth, Stat. Appl. Genet. Mol. Biol. 3, 2004, article 3).
Ranks of five launches a side have no p below 2 / 252: corrected for hundreds of points they show
nothing, however large the difference is.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import stdtr, stdtrit

from ipclab.stats import paired
from ipclab.stats.compare import EQUIVALENCE, Comparison, Side, judge_ratio, refusal
from ipclab.stats.intervals import Scatter, exp

RUNS_ALPHA = 0.05  # of all points of two runs
BOUND = math.log1p(EQUIVALENCE)


class Difference(NamedTuple):
    """The log ratio of a point's times in two runs, its standard error, and its freedom."""

    log_ratio: float
    error: float
    freedom: float

    def least_level(self) -> float:
        """Return the level from which on its interval lies beyond `EQUIVALENCE`, or inside it."""
        beyond_low = self._chance(self.log_ratio + BOUND)
        beyond_high = self._chance(BOUND - self.log_ratio)
        inside = max(1 - beyond_low, 1 - beyond_high)
        return min(1.0, 2 * min(beyond_low, beyond_high, inside))

    def _chance(self, distance: float) -> float:
        return float(stdtr(self.freedom, distance / self.error))

    def compared(self, level: float) -> Comparison:
        """Return what it shows at `level`, and the slow-down found there with 95 % power."""
        tested = float(stdtrit(self.freedom, 1 - level / 2)) * self.error
        missed = float(stdtrit(self.freedom, paired.POWER)) * self.error
        ends = exp(self.log_ratio - tested), exp(self.log_ratio + tested)
        comparison = judge_ratio(exp(self.log_ratio), *ends, EQUIVALENCE, apart=True)
        found = exp(BOUND + tested + missed) - 1
        return replace(comparison, detectable=found if math.isfinite(found) else None, level=level)


def compare_runs(
    pairs: Sequence[tuple[Side, Side]], kinds: Sequence[Hashable] = ()
) -> list[Comparison]:
    """Return what is known about each second side over its first of two runs.

    `kinds` says of each pair with which others it shares its reasons to scatter (all are of one
    kind when it is empty). The rate of false discoveries among all points is held by Benjamini and
    Hochberg (J. R. Statist. Soc. B 57, 1995, 289-300); all intervals are as wide as their threshold
    has them, to agree with the tests (Benjamini and Yekutieli, J. Am. Statist. Assoc. 100, 2005,
    71-81).
    """
    refused = [refusal(first, second, first.medians, second.medians) for first, second in pairs]
    by_kind: dict[Hashable, list[int]] = {}
    for number, kind in enumerate(kinds or [None] * len(pairs)):
        if refused[number] is None:
            by_kind.setdefault(kind, []).append(number)
    differences: dict[int, Difference] = {}
    for numbers in by_kind.values():
        scatters = [
            paired.scatter(np.log(pairs[number][side].medians) for number in numbers)
            for side in (0, 1)
        ]
        for number in numbers:
            differences[number] = difference(*pairs[number], *scatters)
    level = threshold([one.least_level() for one in differences.values()], RUNS_ALPHA)
    comparisons = []
    for number, (first, second) in enumerate(pairs):
        comparison = refused[number] or differences[number].compared(level)
        comparisons.append(replace(comparison, launches=(len(first.medians), len(second.medians))))
    return comparisons


def difference(first: Side, second: Side, scatter: Scatter, second_scatter: Scatter) -> Difference:
    """Return the difference of two sides of two or more launches, with each run's `scatter`."""
    sides = np.log(first.medians), np.log(second.medians)
    steadied = [
        paired.steadied(*each) for each in zip(sides, (scatter, second_scatter), strict=True)
    ]
    parts = [one.error**2 for one in steadied]
    squares = sum(parts)
    freedom = squares**2 / sum(
        part**2 / one.freedom for part, one in zip(parts, steadied, strict=True)
    )
    return Difference(float(sides[1].mean() - sides[0].mean()), math.sqrt(squares), freedom)


def threshold(chances: Sequence[float], alpha: float) -> float:
    """Return the p up to which Benjamini-Hochberg rejects, at least `alpha` over their number."""
    count = max(1, len(chances))
    rejected = 1
    for number, p in enumerate(sorted(chances), 1):
        if p <= alpha * number / count:
            rejected = number
    return alpha * rejected / count
