"""The comparison of two points: `undecided` until an interval over launches says more.

Only medians of launches are compared: samples of one launch share its luck, and tests over them
call identical code different nine times in ten. A comparison is the exact interval of a ratio at
the level that its family has, and what the judge says of that interval: what is printed is what was
judged.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist

import numpy as np

from ipclab.stats import judge, paired, ranktest
from ipclab.stats.family import ALPHA, heat_level, pair_level, range_level
from ipclab.stats.intervals import exp, says_nothing
from ipclab.stats.sessions import several

FASTER, SLOWER, SAME = "faster", "slower", "same"
UNDECIDED, NOT_TESTED, NOT_COMPARABLE = judge.UNDECIDED, judge.NOT_TESTED, "not comparable"
EQUIVALENCE = 0.05
JUDGED = {judge.BELOW: FASTER, judge.ABOVE: SLOWER, judge.INSIDE: SAME}
REASONS = {SAME: "within-bound", NOT_TESTED: "few-launches", UNDECIDED: "wide-interval"}


Medians = Sequence[float]  # of launches, in ns


@dataclass(frozen=True)
class Side:
    """One point: launches' medians and rounds, and the conditions both sides must share.

    With `rounds` only launches of rounds that both sides have are compared: a later drift is no
    difference. `heats` holds the medians of its turns in each heat: two sides that share some are
    compared heat by heat.
    """

    medians: Medians
    conditions: Mapping[str, str | int] = field(default_factory=dict)
    rounds: Sequence[int] = ()
    heats: paired.Heats = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """What is known of the second side over the first: `ratio` and the judged interval.

    That interval is exact at `level` (a probability of error). `detectable` is the smallest
    slow-down (a share) that this many launches with this scatter find with 95 % power; None is what
    no data bound. `reason` is a code: `differs:NAMES`, `no-launches`, `not-a-time`, `no-variance`,
    `few-launches`, `wide-interval`, `interval-below-1`, `interval-above-1`, `within-bound`,
    `small-difference` (shown, but inside the bound), and of two runs `below-bound`, `above-bound`.
    `mechanisms` are those among which the level was taken, `contestants` those of whom the scatter
    is; 0 where it is the pair's own.
    """

    verdict: str
    reason: str
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    detectable: float | None = None
    level: float = 1.0
    launches: tuple[int, int] = (0, 0)
    paired: bool = False
    mechanisms: int = 2
    contestants: int = 0


def compare(
    first: Side,
    second: Side,
    mechanisms: int = 2,
    equivalence: float = EQUIVALENCE,
    scatter: paired.Scatter = paired.UNKNOWN,
    alpha: float = ALPHA,
) -> Comparison:
    """Return what is known about `second` over `first`, two of `mechanisms` that err with `alpha`.

    `same` is a ratio whose whole interval lies within 1 / (1 + `equivalence`) to 1 + `equivalence`,
    even when it excludes 1. What was measured in the same heats is compared heat by heat, all else
    by its launches.
    """
    if paired.in_common(first.heats, second.heats):
        by_heats = _by_heats(first, second, mechanisms, equivalence, scatter, alpha)
        return replace(by_heats, paired=True, mechanisms=mechanisms)
    a = _compared(first, second)
    b = _compared(second, first)
    level = pair_level(mechanisms, min(len(a), len(b)), alpha)
    comparison = refusal(first, second, a, b) or _by_launches(a, b, level, equivalence)
    return replace(comparison, mechanisms=mechanisms)


def _by_heats(
    first: Side,
    second: Side,
    mechanisms: int,
    equivalence: float,
    scatter: paired.Scatter,
    alpha: float,
) -> Comparison:
    """Return what the heats, or sessions, show that both sides took part in."""
    heats = paired.in_common(first.heats, second.heats)
    a, b = ([*map(paired.median_of, side)] for side in zip(*heats.values(), strict=True))
    if why := _unusable(first, second, a, b):
        return why
    ratios = paired.log_ratios(first.heats, second.heats)
    count = len(ratios), len(ratios)
    ratio = exp(float(ratios.mean()))
    if len(ratios) < paired.FEWEST_HEATS:
        return Comparison(NOT_TESTED, "few-launches", ratio, launches=count)
    if ratios.min() == ratios.max():
        return Comparison(UNDECIDED, "no-variance", ratio, launches=count)
    if several(heats):  # no look decides how many sessions there are
        level = range_level(max(2, mechanisms), alpha)
    else:
        level = heat_level(mechanisms, len(ratios), equivalence, alpha, scatter.contestants)
    low, high = paired.interval(ratios, level, scatter)
    comparison = judge_ratio(ratio, exp(low), exp(high), equivalence)
    step = _found(paired.detectable(ratios, level, scatter), equivalence)
    return replace(
        comparison, detectable=step, level=level, launches=count, contestants=scatter.contestants
    )


def _compared(side: Side, other: Side) -> Medians:
    """Return the medians of a side to compare: those of rounds that both have, or all."""
    if not (len(side.rounds) and len(other.rounds)):
        return side.medians
    return [
        median
        for median, number in zip(side.medians, side.rounds, strict=True)
        if number in other.rounds
    ]


def refusal(first: Side, second: Side, a: Medians, b: Medians) -> Comparison | None:
    """Return why launches `a` and `b` of the two cannot be tested, or None when they can."""
    if why := _unusable(first, second, a, b):
        return why
    launches = len(a), len(b)
    if min(launches) == 1:
        return Comparison(NOT_TESTED, "few-launches", _ratio(a, b), launches=launches)
    if min(a) == max(a) or min(b) == max(b):
        return Comparison(UNDECIDED, "no-variance", _ratio(a, b), launches=launches)
    return None


def _unusable(first: Side, second: Side, a: Medians, b: Medians) -> Comparison | None:
    """Return why launches `a` and `b` of the two cannot be compared, or None."""
    launches = len(a), len(b)
    differing = {name for name, _ in first.conditions.items() ^ second.conditions.items()}
    if differing:
        reason = f"differs:{','.join(sorted(differing))}"
        return Comparison(NOT_COMPARABLE, reason, launches=launches)
    if not all(launches):
        return Comparison(NOT_TESTED, "no-launches", launches=launches)
    if not all(math.isfinite(value) and value > 0 for value in (*a, *b)):
        return Comparison(UNDECIDED, "not-a-time", launches=launches)
    return None


def _ratio(a: Medians, b: Medians) -> float:
    """Return the ratio of the times `b` over `a` (Hodges and Lehmann)."""
    differences = ranktest.differences(np.log(a), np.log(b))
    return exp(float(np.median(differences)))


def power_step(low: float, high: float, level: float) -> float:
    """Return the log ratio found with 95 % power at `level`; from an interval.

    The width of a rank interval over twice the normal quantile estimates the standard error of the
    estimate (Lehmann, Ann. Math. Statist. 34, 1963, 1507-1512); a shift of the quantiles of level
    and power together is then found. Infinite for an interval without ends.
    """
    if not 0 < low <= high < math.inf:
        return math.inf
    normal = NormalDist()
    tested = normal.inv_cdf(1 - level / 2)
    return (tested + normal.inv_cdf(paired.POWER)) * math.log(high / low) / (2 * tested)


def _by_launches(a: Medians, b: Medians, level: float, equivalence: float) -> Comparison:
    """Return what launches that share rounds show at `level`."""
    low, high = map(exp, ranktest.shift_interval(np.log(a), np.log(b), level))
    comparison = judge_ratio(_ratio(a, b), low, high, equivalence)
    step = _found(power_step(low, high, level), equivalence)
    return replace(comparison, detectable=step, level=level, launches=(len(a), len(b)))


def _found(log_step: float, equivalence: float) -> float | None:
    """Return the slow-down (a share) of a log ratio that is found; None where it has no end."""
    step = max(equivalence, exp(log_step) - 1)
    return step if math.isfinite(step) else None


def judge_ratio(
    ratio: float, low: float, high: float, equivalence: float, apart: bool = False
) -> Comparison:
    """Return what the interval from `low` to `high` of a ratio says.

    Of runs `apart` a difference counts beyond the bound only.
    """
    bound = 1 + equivalence
    said = judge.of_interval(low, high, 1 / bound, bound)
    if said != judge.INSIDE and not apart:
        said = judge.of_interval(low, high, 1, 1, inside=False)
    if said == judge.UNDECIDED and (low == 0 or says_nothing(low, high)):
        said = judge.NOT_TESTED
    verdict = JUDGED.get(said, said)
    reason = REASONS.get(verdict) or (f"{said}-bound" if apart else f"interval-{said}-1")
    if verdict == SAME and not (apart or low <= 1 <= high):
        reason = "small-difference"
    if 0 < low <= high < math.inf:
        return Comparison(verdict, reason, ratio, low, high)
    return Comparison(verdict, reason, ratio)
