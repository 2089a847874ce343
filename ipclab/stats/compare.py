"""The comparison of two points: `undecided` until an interval over launches supports more.

Only medians of launches are compared, never samples: samples of one launch share its luck, and tests over them call
identical code different nine times in ten (measuring.md, finding 3). The test is an exact permutation of ranks
(`ipclab.stats.ranktest`), so nothing is assumed about how launches scatter, and nothing is dropped.

Over the points of one comparison the rate of false discoveries is held by Benjamini and Hochberg (J. R. Statist. Soc.
B 57, 1995, 289-300), which holds for points that are disturbed together too (Benjamini and Yekutieli, Ann. Statist.
29, 2001, 1165-1188). Not Holm: an exact test of n launches a side has a smallest p of 2 / C(2n, n), and Holm would
then call twentyfold differences undecided for want of launches. Intervals are widened to the threshold that
Benjamini-Hochberg arrives at, so that test and interval agree (Benjamini and Yekutieli, J. Am. Statist. Assoc. 100,
2005, 71-81).
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

    `blocks` numbers the block of launches (interleaved with the other side's) that each belongs to; with it only
    launches of one block are compared, which takes the drift of the machine out. A block should hold at least two
    launches of each side; without `blocks` all launches are one.
    """

    medians: Sequence[float]
    conditions: Mapping[str, str | int] = field(default_factory=dict)
    blocks: Sequence[int] = ()


@dataclass(frozen=True)
class Comparison:
    """What is known about the second side over the first.

    `ratio` of times with its interval `low` to `high`; None where no data bound it. `detectable` is the smallest
    slow-down (a share) that this many launches with this scatter find with 95 % power. `reason` is a code:
    `differs:NAMES`, `no-launches`, `not-a-time`, `bad-blocks`, `no-variance`, `few-launches`, `wide-interval`,
    `interval-below-1`, `interval-above-1`, `within-bound`, `small-difference` (shown, but inside the bound).
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
    """Return both sides with blocks of four rounds, for points that were launched once a round from the same round on.

    The k-th launch is of round k. Launches of later rounds, which the other side did not have, get a block of their
    own, so that a drift of the machine after one side's end is not taken for a difference.
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
    refusals = [refusal(*pair) for pair in pairs]
    groups = [_groups(*pair) if why is None else None for pair, why in zip(pairs, refusals, strict=True)]
    chances = [1.0 if found is None else p_value(found) for found in groups]
    level = threshold([p for p, found in zip(chances, groups, strict=True) if found is not None], alpha)
    done = []
    for pair, why, found, p in zip(pairs, refusals, groups, chances, strict=True):
        if found is None:
            done.append(why or Comparison(UNDECIDED, "no-launches"))
        else:
            done.append(_judge(found, p, level, equivalence, (len(pair[0].medians), len(pair[1].medians))))
    return done


def threshold(chances: Sequence[float], alpha: float) -> float:
    """Return the p up to which Benjamini-Hochberg rejects; never below `alpha` over their number."""
    count = max(1, len(chances))
    rejected = max((k for k, p in enumerate(sorted(chances), 1) if p <= alpha * k / count), default=1)
    return alpha * rejected / count


def refusal(first: Side, second: Side) -> Comparison | None:
    """Return why the two cannot be tested, or None when they can."""
    launches = len(first.medians), len(second.medians)
    names = sorted(first.conditions.keys() | second.conditions.keys())
    differing = [name for name in names if first.conditions.get(name) != second.conditions.get(name)]
    if differing:
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
    sides = first, second
    blocks = [side.blocks or [0] * len(side.medians) for side in sides]
    complete = all(len(numbers) == len(side.medians) for side, numbers in zip(sides, blocks, strict=True))
    if not complete or bool(first.blocks) != bool(second.blocks) or not set(blocks[0]) & set(blocks[1]):
        return "bad-blocks"
    if min(len(side.medians) for side in sides) == 1:
        return "few-launches"
    return "no-variance" if any(min(side.medians) == max(side.medians) for side in sides) else None


def _groups(first: Side, second: Side) -> Groups:
    logs = (np.log(np.asarray(side.medians, dtype=np.float64)) for side in (first, second))
    blocks = (np.asarray(side.blocks or [0] * len(side.medians), dtype=np.int64) for side in (first, second))
    return Groups(*logs, *blocks)


def _judge(groups: Groups, p: float, level: float, equivalence: float, launches: tuple[int, int]) -> Comparison:
    ratio = math.exp(float(np.median(groups.differences())))
    low, high = (None if end is None else math.exp(end) for end in interval(groups, level))
    verdict, reason = UNDECIDED, "few-launches"
    if low is not None and high is not None:
        verdict, reason = _verdict(low, high, p <= level, 1 + equivalence)
    found = detectable(low, high, level, equivalence)
    return Comparison(verdict, reason, ratio, low, high, found, p, launches)


def _verdict(low: float, high: float, rejected: bool, bound: float) -> tuple[str, str]:
    if 1 / bound <= low and high <= bound:
        return SAME, "small-difference" if rejected else "within-bound"
    if rejected and high < 1:
        return FASTER, "interval-below-1"
    if rejected and low > 1:
        return SLOWER, "interval-above-1"
    return UNDECIDED, "wide-interval"


def detectable(low: float | None, high: float | None, level: float, equivalence: float) -> float | None:
    """Return the slow-down (a share) that would be found with 95 % power, never less than the bound of `same`.

    The width of a rank interval over twice the normal quantile estimates the standard error of the estimate (Lehmann,
    Ann. Math. Statist. 34, 1963, 1507-1512); a shift of the quantiles of level and power together is then found.
    """
    if low is None or high is None:
        return None
    outer, power = NormalDist().inv_cdf(1 - level / 2), NormalDist().inv_cdf(POWER)
    error = math.log(high / low) / (2 * outer)
    return max(equivalence, math.expm1((outer + power) * error))
