"""The comparison of two points: `undecided` until an interval over launches says more.

Only launches' numbers are compared: samples of one launch share its luck, and tests over them
call identical code different nine times in ten. A ratio is the quotient of two geometric means; a
comparison is its interval at the level that its family has, and what the judge says of that
interval: what is printed is what was judged.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.special import stdtrit

from ipclab.stats import judge, paired
from ipclab.stats.family import ALPHA, heat_level, pair_level, range_level
from ipclab.stats.intervals import UNKNOWN, Scatter, Standard, exp, mean_of, says_nothing
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
    difference. `heats` holds its median in each heat: two sides that share some are compared heat by
    heat.
    """

    medians: Medians
    conditions: Mapping[str, str | int] = field(default_factory=dict)
    rounds: Sequence[int] = ()
    heats: paired.Heats = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """What is known of the second side over the first: `ratio` and the judged interval.

    The ratio is the quotient of `second_ns` and `first_ns`, the geometric means over what both
    share; `error` is the standard uncertainty of its logarithm, of `freedom` degrees. The interval
    is exact at `level` (a probability of error). `detectable` is the smallest
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
    first_ns: float | None = None
    second_ns: float | None = None
    error: float | None = None
    freedom: float | None = None


def compare(
    first: Side,
    second: Side,
    mechanisms: int = 2,
    equivalence: float = EQUIVALENCE,
    scatter: Scatter = UNKNOWN,
    alpha: float = ALPHA,
) -> Comparison:
    """Return what is known about `second` over `first`, two of `mechanisms` that err with `alpha`.

    `same` is a ratio whose whole interval lies within 1 / (1 + `equivalence`) to 1 + `equivalence`,
    even when it excludes 1. What was measured in the same heats is compared heat by heat, all else
    by its launches.
    """
    if paired.in_common(first.heats, second.heats).first:
        by_heats = _by_heats(first, second, mechanisms, equivalence, scatter, alpha)
        return replace(by_heats, paired=True, mechanisms=mechanisms)
    a = _compared(first, second)
    b = _compared(second, first)
    level = pair_level(mechanisms, min(len(a), len(b)), alpha)
    comparison = refusal(first, second, a, b) or _by_launches(a, b, level, equivalence)
    return replace(comparison, mechanisms=mechanisms)


def _by_heats(
    first: Side, second: Side, mechanisms: int, equivalence: float, scatter: Scatter, alpha: float
) -> Comparison:
    """Return what the heats, or sessions, show that both sides took part in."""
    both = paired.in_common(first.heats, second.heats)
    if why := _unusable(first, second, [*both.first.values()], [*both.second.values()]):
        return why
    ratios = paired.log_ratios(first.heats, second.heats)
    known = _quotient(*paired.means(first.heats, second.heats), (len(ratios), len(ratios)))
    if len(ratios) < paired.FEWEST_HEATS:
        return replace(known, verdict=NOT_TESTED, reason="few-launches")
    if ratios.min() == ratios.max():
        return known
    if several(both.first):  # no look decides how many sessions there are
        level = range_level(mechanisms, alpha)
    else:
        level = heat_level(mechanisms, len(ratios), equivalence, alpha, scatter.contestants)
    interval = paired.interval(ratios, level, scatter)
    found = paired.detectable(ratios, level, scatter)
    standard = paired.steadied(ratios, scatter)
    shown = _shown(known, interval, found, standard, level, equivalence)
    return replace(shown, contestants=scatter.contestants)


def _quotient(first: float, second: float, launches: tuple[int, int]) -> Comparison:
    """Return the ratio of two times, of which nothing is judged."""
    return Comparison(
        UNDECIDED,
        "no-variance",
        second / first,
        launches=launches,
        first_ns=first,
        second_ns=second,
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
    known = _quotient(mean_of(a), mean_of(b), (len(a), len(b)))
    if min(known.launches) < paired.FEWEST_HEATS:
        return replace(known, verdict=NOT_TESTED, reason="few-launches")
    return known if min(a) == max(a) or min(b) == max(b) else None


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


def _by_launches(a: Medians, b: Medians, level: float, equivalence: float) -> Comparison:
    """Return what launches that share no heats show at `level` (Welch, Biometrika 34, 1947, 28-35).

    Their logarithms are compared, each side with its own scatter.
    """
    logs, other_logs = np.log(a), np.log(b)
    one, other = (part.var(ddof=1) / len(part) for part in (logs, other_logs))
    squares = float(one + other)
    freedom = squares**2 / float(one**2 / (len(a) - 1) + other**2 / (len(b) - 1))
    tested, missed = stdtrit(freedom, [1 - level / 2, paired.POWER]) * math.sqrt(squares)
    known = _quotient(mean_of(a), mean_of(b), (len(a), len(b)))
    log_ratio = float(other_logs.mean() - logs.mean())
    interval = log_ratio - tested, log_ratio + tested
    standard = Standard(math.sqrt(squares), freedom)
    return _shown(known, interval, tested + missed, standard, level, equivalence)


def _shown(
    known: Comparison,
    interval: tuple[float, float],
    found: float,
    standard: Standard,
    level: float,
    equivalence: float,
) -> Comparison:
    """Return what an `interval` of the log ratio at `level` shows of the quotient `known`.

    `found` is the least log ratio that so many launches find.
    """
    low, high = interval
    said = judge_ratio(float(known.ratio or 0), exp(low), exp(high), equivalence)
    step = max(equivalence, exp(found) - 1)
    return replace(
        known,
        verdict=said.verdict,
        reason=said.reason,
        low=said.low,
        high=said.high,
        detectable=step if math.isfinite(step) else None,
        level=level,
        error=standard.error,
        freedom=standard.freedom,
    )


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
