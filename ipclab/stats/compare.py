"""The comparison of two points: `undecided` until an interval over launches supports more.

Only medians of launches are compared, never samples: samples of one launch share its luck, and tests over them call
identical code different nine times in ten (measuring.md, finding 3). Over the points of one comparison the rate of
false discoveries is held by Benjamini and Hochberg (J. R. Statist. Soc. B 57, 1995, 289-300), also where points are
disturbed together (Benjamini and Yekutieli, Ann. Statist. 29, 2001, 1165-1188). Not Holm: the smallest p of n launches
a side is 2 / C(2n, n), so that twentyfold differences would be undecided. Intervals are widened to the threshold that
the correction arrives at, so that test and interval agree (J. Am. Statist. Assoc. 100, 2005, 71-81).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist

import numpy as np

from ipclab.stats.ranktest import Groups, interval, p_value

FASTER, SLOWER, SAME = "faster", "slower", "same"
UNDECIDED, NOT_COMPARABLE = "undecided", "not comparable"
EQUIVALENCE = 0.05
ALPHA = 0.01  # of one comparison of identical code: of 200, more than 5 % are then flagged once in 100,000 times
POWER = 0.95
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
    common = min(len(first.medians), len(second.medians))
    last = max(1, common // ROUNDS_IN_BLOCK) - 1

    def blocks(side: Side) -> tuple[int, ...]:
        rounds = range(len(side.medians))
        return tuple(min(k // ROUNDS_IN_BLOCK, last) if k < common else last + 1 for k in rounds)

    return replace(first, blocks=blocks(first)), replace(second, blocks=blocks(second))


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
    launches = len(first.medians), len(second.medians)
    if differing := sorted({name for name, _ in first.conditions.items() ^ second.conditions.items()}):
        return Comparison(NOT_COMPARABLE, f"differs:{','.join(differing)}", launches=launches)
    if not all(launches):
        return Comparison(UNDECIDED, "no-launches", launches=launches)
    if not all(math.isfinite(value) and value > 0 for side in (first, second) for value in side.medians):
        return Comparison(UNDECIDED, "not-a-time", launches=launches)
    reason = _doubt(first, second)
    ratio = float(np.median(second.medians) / np.median(first.medians))
    return Comparison(UNDECIDED, reason, ratio, launches=launches) if reason else None


def _doubt(first: Side, second: Side) -> str | None:
    """Return why two sides of times can give a ratio but no interval."""
    if first.blocks or second.blocks:
        complete = all(len(side.blocks) == len(side.medians) for side in (first, second))
        if not complete or not set(first.blocks) & set(second.blocks):
            return "bad-blocks"
    if min(len(first.medians), len(second.medians)) == 1:
        return "few-launches"
    return "no-variance" if any(min(side.medians) == max(side.medians) for side in (first, second)) else None


def groups(first: Side, second: Side) -> Groups:
    """Return the logarithms of both sides' times with their blocks; without any, all are of one."""
    logs = (np.log(np.asarray(side.medians, dtype=np.float64)) for side in (first, second))
    blocks = (np.asarray(side.blocks or [0] * len(side.medians), dtype=np.int64) for side in (first, second))
    return Groups(*logs, *blocks)


def _judge(tested: Groups, p: float, level: float, equivalence: float) -> Comparison:
    ratio, low, high = shown(tested, level)
    verdict, reason = UNDECIDED, "few-launches"
    if low is not None and high is not None:
        verdict, reason = _verdict(low, high, p <= level, 1 + equivalence)
    found = detectable(low, high, level, equivalence)
    return Comparison(verdict, reason, ratio, low, high, found, p, tested.launches())


def shown(tested: Groups, level: float) -> tuple[float, float | None, float | None]:
    """Return the ratio of the second side over the first, and the ends of its interval at `level`."""
    low, high = (None if end is None else math.exp(end) for end in interval(tested, level))
    return math.exp(float(np.median(tested.differences()))), low, high


def _verdict(low: float, high: float, rejected: bool, bound: float) -> tuple[str, str]:
    if 1 / bound <= low and high <= bound:
        return SAME, "small-difference" if rejected else "within-bound"
    if rejected and high < 1:
        return FASTER, "interval-below-1"
    if rejected and low > 1:
        return SLOWER, "interval-above-1"
    return UNDECIDED, "wide-interval"


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
