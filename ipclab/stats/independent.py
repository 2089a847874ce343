"""The comparison of two runs that were measured apart: other sessions, other days, other machines.

Their launches share no rounds, so that nothing pairs them: the exact test of Wilcoxon, Mann and Whitney compares launch
medians, whose scatter holds that of all levels (Davison and Hinkley, Bootstrap Methods, 1997, section 3.8).

Two sessions on one machine have luck of their own, which no launch of theirs can show. So the question is not whether a
difference is none, but whether it is larger than a `bound`: two one-sided tests against the bound show a point `faster`
or `slower` (a test of a minimum effect), two against the same bound show it `same` (equivalence; Schuirmann,
J. Pharmacokin. Biopharm. 15, 1987, 657-680). Each family of tests is corrected over all points (`threshold`).
"""

import math
from collections.abc import Sequence

from ipclab.stats import compare
from ipclab.stats.compare import Comparison, Side
from ipclab.stats.ranktest import Groups, tails

ALPHA = 0.05  # of all points together; at no difference the tests against a bound err far less
LEVEL = 0.05  # of the interval that is shown with each point


def compare_runs(
    pairs: Sequence[tuple[Side, Side]], bounds: Sequence[float] | float = compare.EQUIVALENCE, alpha: float = ALPHA
) -> list[Comparison]:
    """Return what is known about each second side over its first, corrected for the number of pairs.

    `bounds` (shares above 0; one for all or one a pair) is how much two sessions on one machine may differ. `low` and
    `high` are the exact 95 % interval of the ratio of one point, not corrected; `detectable` is the slow-down that
    would be found with 95 % power if enough points moved for the correction (`together`). Reasons beyond those of
    `ipclab.stats.compare.Comparison`: `below-bound`, `above-bound`.
    """
    limits = [bounds] * len(pairs) if isinstance(bounds, float) else list(bounds)
    refused = [compare.refusal(*pair) for pair in pairs]
    asked = [
        (compare.groups(*pair), bound) for pair, bound, why in zip(pairs, limits, refused, strict=True) if why is None
    ]
    tests = [_test(each, math.log1p(bound)) for each, bound in asked]
    outside, inside = (compare.threshold([test[side] for test in tests], alpha) for side in (0, 1))
    judged = iter([_judge(*each, test, outside, inside) for each, test in zip(asked, tests, strict=True)])
    return [why or next(judged) for why in refused]


def least_p(launches: tuple[int, int]) -> float:
    """Return the smallest p of a two-sided exact test of so many launches a side."""
    return min(1.0, 2 / math.comb(sum(launches), launches[0]))


def together(launches: tuple[int, int], points: int, alpha: float = ALPHA) -> int:
    """Return how many of `points` must differ clearly before the correction lets one of so few launches be shown."""
    return max(1, math.ceil(least_p(launches) * points / alpha))


def _test(tested: Groups, bound: float) -> tuple[float, float]:
    """Return the p of "not further apart than `bound`" (log ratio) and of "not closer than `bound`"."""
    below_low, above_low = tails(tested, -bound)
    below_high, above_high = tails(tested, bound)
    return min(1.0, 2 * min(below_low, above_high)), max(above_low, below_high)


def _judge(tested: Groups, bound: float, test: tuple[float, float], outside: float, inside: float) -> Comparison:
    ratio, low, high = compare.shown(tested, LEVEL)
    least = least_p(tested.launches())
    verdict, reason = compare.UNDECIDED, "few-launches" if least > outside else "wide-interval"
    if test[0] <= outside:
        verdict, reason = (compare.FASTER, "below-bound") if ratio < 1 else (compare.SLOWER, "above-bound")
    elif test[1] <= inside:
        verdict, reason = compare.SAME, "within-bound"
    found = detectable(low, high, max(outside, least), bound)
    return Comparison(verdict, reason, ratio, low, high, found, test[0], tested.launches())


def detectable(low: float | None, high: float | None, level: float, bound: float) -> float | None:
    """Return the slow-down (a share) that a test at `level` against `bound` finds with 95 % power; None unbounded."""
    step = compare.power_step(low, high, LEVEL, level)
    return None if step is None else math.expm1(math.log1p(bound) + step)
