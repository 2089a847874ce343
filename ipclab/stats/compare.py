"""The comparison of two points, of one run or of two: `undecided` until an interval over launches supports more.

Only medians of launches are compared: samples of one launch share its luck, and tests over them call identical code
different nine times in ten. The rate of false discoveries among points is held by Benjamini and Hochberg (J. R.
Statist. Soc. B 57, 1995, 289-300), also where points are disturbed together (Benjamini and Yekutieli, Ann. Statist. 29,
2001, 1165-1188). Not by Holm: the smallest p of n launches a side is 2 / C(2n, n), and twentyfold differences would be
undecided. Intervals are as wide as that threshold has them, to agree with the test (J. Am. Statist. Assoc. 100, 2005,
71-81).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist

import numpy as np

from ipclab.stats.ranktest import Groups, interval, p_value, tails

FASTER, SLOWER, SAME = "faster", "slower", "same"
UNDECIDED, NOT_COMPARABLE = "undecided", "not comparable"
VERDICTS = (FASTER, SLOWER, SAME, UNDECIDED, NOT_COMPARABLE)
EQUIVALENCE = 0.05
ALPHA = 0.01  # of one comparison of identical code: of 200, more than 5 % are then flagged once in 100,000 times
POWER = 0.95
RUNS_ALPHA = 0.05  # of all points of two runs; at no difference the tests against a bound err far less
RUNS_LEVEL = 0.05  # of the interval that is shown with each point of two runs
ROUNDS_IN_BLOCK = 4


@dataclass(frozen=True)
class Side:
    """One point: its launches' medians in the order taken, and the conditions that the other side must share.

    Only launches with the same number in `blocks` are compared, which takes the machine's drift out; a block should
    hold at least two launches of each side. Without `blocks` all launches are one.
    """

    medians: Sequence[float]
    conditions: Mapping[str, str | int] = field(default_factory=dict)
    blocks: Sequence[int] = ()


@dataclass(frozen=True)
class Comparison:
    """What is known about the second side over the first: the `ratio` of times and the ends of its interval.

    `detectable` is the smallest slow-down (a share) that this many launches with this scatter find with 95 % power;
    None is what no data bound. `reason` is a code: `differs:NAMES`, `no-launches`, `not-a-time`, `bad-blocks`,
    `no-variance`, `few-launches`, `wide-interval`, `interval-below-1`, `interval-above-1`, `within-bound`,
    `small-difference` (shown, but inside the bound).
    """

    verdict: str
    reason: str
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    detectable: float | None = None
    p: float = 1.0
    launches: tuple[int, int] = (0, 0)


def by_round(first: Side, second: Side) -> tuple[Side, Side]:
    """Return both sides with blocks of four rounds; the k-th launch of each is of round k.

    Launches of rounds that the other side did not have get a block of their own: a later drift is no difference.
    """
    common, most = sorted((len(first.medians), len(second.medians)))
    last = max(1, common // ROUNDS_IN_BLOCK) - 1
    blocks = [min(k // ROUNDS_IN_BLOCK, last) if k < common else last + 1 for k in range(most)]
    return replace(first, blocks=blocks[: len(first.medians)]), replace(second, blocks=blocks[: len(second.medians)])


def compare(first: Side, second: Side, equivalence: float = EQUIVALENCE, alpha: float = ALPHA) -> Comparison:
    """Return what is known about `second` over `first`, as a comparison of one point."""
    return compare_all([(first, second)], equivalence, alpha)[0]


def compare_all(
    pairs: Sequence[tuple[Side, Side]], equivalence: float = EQUIVALENCE, alpha: float = ALPHA
) -> list[Comparison]:
    """Return what is known about each second side over its first, corrected for the number of pairs.

    `same` is a ratio whose whole interval lies within 1 / (1 + `equivalence`) to 1 + `equivalence`, even when it
    excludes 1. Pairs that cannot be tested do not count towards the correction.
    """
    refused = [refusal(*pair) for pair in pairs]
    tested = [groups(*pair) for pair, why in zip(pairs, refused, strict=True) if why is None]
    chances = [p_value(each) for each in tested]
    level = threshold(chances, alpha)
    judged = iter([_judge(each, p, level, equivalence) for each, p in zip(tested, chances, strict=True)])
    return [why or next(judged) for why in refused]


def threshold(chances: Sequence[float], alpha: float) -> float:
    """Return the p up to which Benjamini-Hochberg rejects; never below `alpha` over their number."""
    count = max(1, len(chances))
    rejected = max((k for k, p in enumerate(sorted(chances), 1) if p <= alpha * k / count), default=1)
    return alpha * rejected / count


def refusal(first: Side, second: Side) -> Comparison | None:
    """Return why the two cannot be tested, or None when they can."""
    sides, launches = (first, second), (len(first.medians), len(second.medians))
    if differing := sorted({name for name, _ in first.conditions.items() ^ second.conditions.items()}):
        return Comparison(NOT_COMPARABLE, f"differs:{','.join(differing)}", launches=launches)
    if not all(launches):
        return Comparison(UNDECIDED, "no-launches", launches=launches)
    if not all(math.isfinite(value) and value > 0 for side in sides for value in side.medians):
        return Comparison(UNDECIDED, "not-a-time", launches=launches)
    complete = all(len(side.blocks) == len(side.medians) for side in sides) and set(first.blocks) & set(second.blocks)
    if (first.blocks or second.blocks) and not complete:
        reason = "bad-blocks"
    elif min(launches) == 1:
        reason = "few-launches"
    elif any(min(side.medians) == max(side.medians) for side in sides):
        reason = "no-variance"
    else:
        return None
    return Comparison(UNDECIDED, reason, float(np.median(second.medians) / np.median(first.medians)), launches=launches)


def groups(first: Side, second: Side) -> Groups:
    """Return the logarithms of both sides' times with their blocks; without any, all are of one."""
    logs = (np.log(np.asarray(side.medians, dtype=np.float64)) for side in (first, second))
    blocks = (np.asarray(side.blocks or [0] * len(side.medians), dtype=np.int64) for side in (first, second))
    return Groups(*logs, *blocks)


def _judge(tested: Groups, p: float, level: float, equivalence: float) -> Comparison:
    ratio, low, high = shown(tested, level)
    verdict, reason, bound = UNDECIDED, "wide-interval", 1 + equivalence
    if low is None or high is None:
        reason = "few-launches"
    elif 1 / bound <= low and high <= bound:
        verdict, reason = SAME, "small-difference" if p <= level else "within-bound"
    elif p <= level and not low <= 1 <= high:
        verdict, reason = (FASTER, "interval-below-1") if high < 1 else (SLOWER, "interval-above-1")
    found = detectable(low, high, level, equivalence)
    return Comparison(verdict, reason, ratio, low, high, found, p, tested.launches())


def shown(tested: Groups, level: float) -> tuple[float, float | None, float | None]:
    """Return the ratio of the second side over the first, and the ends of its interval at `level`."""
    low, high = (None if end is None else math.exp(end) for end in interval(tested, level))
    return math.exp(float(np.median(tested.differences()))), low, high


def detectable(low: float | None, high: float | None, level: float, equivalence: float) -> float | None:
    """Return the slow-down (a share) that would be found with 95 % power, never less than the bound of `same`."""
    step = power_step(low, high, level, level)
    return None if step is None else max(equivalence, math.expm1(step))


def power_step(low: float | None, high: float | None, shown_at: float, tested_at: float) -> float | None:
    """Return the log ratio that a test at `tested_at` finds with 95 % power, from an interval at `shown_at`.

    The width of a rank interval over twice the normal quantile estimates the standard error of the estimate (Lehmann,
    Ann. Math. Statist. 34, 1963, 1507-1512); a shift of the quantiles of level and power together is then found.
    """
    if low is None or high is None:
        return None
    normal = NormalDist()
    error = math.log(high / low) / (2 * normal.inv_cdf(1 - shown_at / 2))
    return (normal.inv_cdf(1 - tested_at / 2) + normal.inv_cdf(POWER)) * error


def compare_runs(
    pairs: Sequence[tuple[Side, Side]], bounds: Sequence[float] | float = EQUIVALENCE, alpha: float = RUNS_ALPHA
) -> list[Comparison]:
    """Return what is known about each second side over its first of runs that were measured apart, on other days say.

    Their launches share no rounds, and two sessions on one machine have luck of their own, which no launch of theirs
    can show. So exact tests of launch medians, whose scatter holds that of all levels (Davison and Hinkley, Bootstrap
    Methods, 1997, section 3.8), ask whether a difference is larger than a bound: two one-sided tests against it show a
    point `faster` or `slower` (a minimum effect), two show it `same` (equivalence; Schuirmann, J. Pharmacokin.
    Biopharm. 15, 1987, 657-680). Each family of tests is corrected over all points (`threshold`).

    `bounds` (shares above 0; one for all or one a pair) is how much two sessions on one machine may differ. `low` and
    `high` are the exact 95 % interval of the ratio of one point, not corrected; `detectable` is the slow-down that
    would be found with 95 % power if enough points moved for the correction (`together`). Reasons beyond those of
    `Comparison`: `below-bound`, `above-bound`.
    """
    limits = [bounds] * len(pairs) if isinstance(bounds, float) else list(bounds)
    refused = [refusal(*pair) for pair in pairs]
    asked = [(groups(*pair), limit) for pair, limit, why in zip(pairs, limits, refused, strict=True) if why is None]
    tests = [_test_apart(each, math.log1p(bound)) for each, bound in asked]
    outside, inside = (threshold([test[side] for test in tests], alpha) for side in (0, 1))
    judged = iter([_judge_apart(*each, test, outside, inside) for each, test in zip(asked, tests, strict=True)])
    return [why or next(judged) for why in refused]


def least_p(launches: tuple[int, int]) -> float:
    """Return the smallest p of a two-sided exact test of so many launches a side."""
    return min(1.0, 2 / math.comb(sum(launches), launches[0]))


def together(launches: tuple[int, int], points: int, alpha: float = RUNS_ALPHA) -> int:
    """Return how many of `points` must differ clearly before the correction lets one of so few launches be shown."""
    return max(1, math.ceil(least_p(launches) * points / alpha))


def _test_apart(tested: Groups, bound: float) -> tuple[float, float]:
    """Return the p of "not further apart than `bound`" (log ratio) and of "not closer than `bound`"."""
    (below_low, above_low), (below_high, above_high) = tails(tested, -bound), tails(tested, bound)
    return min(1.0, 2 * min(below_low, above_high)), max(above_low, below_high)


def _judge_apart(tested: Groups, bound: float, test: tuple[float, float], outside: float, inside: float) -> Comparison:
    ratio, low, high = shown(tested, RUNS_LEVEL)
    least = least_p(tested.launches())
    verdict, reason = UNDECIDED, "few-launches" if least > outside else "wide-interval"
    if test[0] <= outside:
        verdict, reason = (FASTER, "below-bound") if ratio < 1 else (SLOWER, "above-bound")
    elif test[1] <= inside:
        verdict, reason = SAME, "within-bound"
    found = detectable_beyond(low, high, max(outside, least), bound)
    return Comparison(verdict, reason, ratio, low, high, found, test[0], tested.launches())


def detectable_beyond(low: float | None, high: float | None, level: float, bound: float) -> float | None:
    """Return the slow-down (a share) that a test at `level` against `bound` finds with 95 % power; None unbounded."""
    step = power_step(low, high, RUNS_LEVEL, level)
    return None if step is None else math.expm1(math.log1p(bound) + step)
