"""The comparison of two runs that were measured apart: other sessions, other days, other machines.

Their launches share no rounds, so that nothing pairs them: the launch medians of one run are compared with those of the
other by the exact test of Wilcoxon, Mann and Whitney (Ann. Math. Statist. 18, 1947, 50-60), which takes any two numbers
of launches. Only medians of launches take part, since resampling at the highest level alone holds the scatter of all
levels (Davison and Hinkley, Bootstrap Methods, 1997, section 3.8).

Two sessions on one machine have luck of their own, which no launch of theirs can show. So the question is not whether a
difference is none, but whether it is larger than a `bound`: two one-sided tests against the bound show a point `faster`
or `slower` (a test of a minimum effect), two against the same bound show it `same` (equivalence; Schuirmann,
J. Pharmacokin. Biopharm. 15, 1987, 657-680). What neither shows is `undecided`. Each family of tests is corrected over
all points by Benjamini and Hochberg (`ipclab.stats.compare.threshold`).
"""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from ipclab.stats.compare import (
    EQUIVALENCE,
    FASTER,
    POWER,
    SAME,
    SLOWER,
    UNDECIDED,
    Comparison,
    Side,
    refusal,
    threshold,
)
from ipclab.stats.ranktest import Groups, interval, tails

ALPHA = 0.05  # of all points together; at no difference the tests against a bound err far less
LEVEL = 0.05  # of the interval that is shown with each point
Pair = tuple[Side, Side]


def compare_runs(
    pairs: Sequence[Pair], bounds: Sequence[float] | float = EQUIVALENCE, alpha: float = ALPHA
) -> list[Comparison]:
    """Return what is known about each second side over its first, corrected for the number of pairs.

    `bounds` (shares above 0; one for all or one a pair) is how much two sessions on one machine may differ. `low` and
    `high` are the exact 95 % interval of the ratio of one point, not corrected; `detectable` is the slow-down that
    would be found with 95 % power if enough points moved for the correction (`together`). Reasons beyond those of
    `ipclab.stats.compare.Comparison`: `below-bound`, `above-bound`.
    """
    limits = [bounds] * len(pairs) if isinstance(bounds, float) else list(bounds)
    refused = [refusal(*pair) for pair in pairs]
    groups = [None if why else _groups(pair) for pair, why in zip(pairs, refused, strict=True)]
    tests = [None if each is None else _test(each, math.log1p(b)) for each, b in zip(groups, limits, strict=True)]
    outside = threshold([test[0] for test in tests if test], alpha)
    inside = threshold([test[1] for test in tests if test], alpha)
    done = []
    for pair, why, found, test, bound in zip(pairs, refused, groups, tests, limits, strict=True):
        if found is None or test is None:
            done.append(why or Comparison(UNDECIDED, "no-launches"))
        else:
            done.append(_judge(found, test, (outside, inside), bound, (len(pair[0].medians), len(pair[1].medians))))
    return done


def least_p(launches: tuple[int, int]) -> float:
    """Return the smallest p of a two-sided exact test of so many launches a side."""
    return min(1.0, 2 / math.comb(sum(launches), launches[0]))


def together(launches: tuple[int, int], points: int, alpha: float = ALPHA) -> int:
    """Return how many of `points` must differ clearly before the correction lets one of so few launches be shown."""
    return max(1, math.ceil(least_p(launches) * points / alpha))


def _groups(pair: Pair) -> Groups:
    a, b = (np.log(np.asarray(side.medians, dtype=np.float64)) for side in pair)
    return Groups(a, b, np.zeros(len(a), np.int64), np.zeros(len(b), np.int64))


def _test(groups: Groups, bound: float) -> tuple[float, float]:
    """Return the p of "not further apart than `bound`" (log ratio) and of "not closer than `bound`"."""
    below_low, above_low = tails(groups, -bound)
    below_high, above_high = tails(groups, bound)
    return min(1.0, 2 * min(below_low, above_high)), max(above_low, below_high)


def _judge(
    groups: Groups, test: tuple[float, float], levels: tuple[float, float], bound: float, launches: tuple[int, int]
) -> Comparison:
    middle = float(np.median(groups.differences()))
    low, high = (None if end is None else math.exp(end) for end in interval(groups, LEVEL))
    least = least_p(launches)
    verdict, reason = UNDECIDED, "few-launches" if least > levels[0] else "wide-interval"
    if test[0] <= levels[0]:
        verdict, reason = (FASTER, "below-bound") if middle < 0 else (SLOWER, "above-bound")
    elif test[1] <= levels[1]:
        verdict, reason = SAME, "within-bound"
    found = detectable(low, high, max(levels[0], least), bound)
    return Comparison(verdict, reason, math.exp(middle), low, high, found, test[0], launches)


def detectable(low: float | None, high: float | None, level: float, bound: float) -> float | None:
    """Return the slow-down (a share) that a test at `level` against `bound` finds with 95 % power; None unbounded.

    The width of a rank interval over twice the normal quantile estimates the standard error (Lehmann, Ann. Math.
    Statist. 34, 1963, 1507-1512); what lies beyond the bound by the quantiles of level and power together is found.
    """
    if low is None or high is None:
        return None
    normal = NormalDist()
    error = math.log(high / low) / (2 * normal.inv_cdf(1 - LEVEL / 2))
    return math.expm1(math.log1p(bound) + (normal.inv_cdf(1 - level / 2) + normal.inv_cdf(POWER)) * error)
