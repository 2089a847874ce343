"""The ratio of two contestants of the same heats: one log ratio a heat, and its interval.

Within a heat the ratio is taken turn by turn, so that what the host does to both of them cancels.
The interval is Student's, with the scatter of the pair steadied by that of all pairs of its
contest, which have seen the same host: `benchmarks/paired.py` weighs it against others.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import NamedTuple

import numpy as np
from scipy.special import digamma, polygamma, stdtrit

from ipclab.stats.intervals import Floats, exp
from ipclab.stats.sessions import by_session

OfTurns = Sequence[float]  # medians (ns), of a contestant in one heat
Heats = Mapping[int, OfTurns]  # by its number
POWER = 0.95
FEWEST_HEATS = 3  # that a pair is judged by: two leave one degree of freedom, and say nothing
FEWEST_PAIRS = 6  # those of four contestants: the spread of three is hardly known
# A contest whose scatters look alike is trusted like so many more heats, no further
MOST_FREEDOM = 20.0
# nor more than so many times a pair's own freedom: few heats hardly tell whether they look alike
MOST_OF_OTHERS = 4.0
NEWTON_STEPS = 20  # whose last change nothing


class Scatter(NamedTuple):
    """The scatter of pairs of `contestants`: `variance` (of log ratios), degrees of `freedom`."""

    freedom: float = 0.0
    variance: float = 0.0
    contestants: int = 0


UNKNOWN = Scatter()


def in_common(first: Heats, second: Heats) -> dict[int, tuple[OfTurns, OfTurns]]:
    """Return the heats that both have; where there is none, their medians in several sessions."""
    if not first.keys() & second.keys():
        first, second = map(_sessions, (first, second))
    return {heat: (first[heat], second[heat]) for heat in sorted(first.keys() & second.keys())}


def _sessions(heats: Heats) -> Heats:
    medians = {heat: median_of(turns) for heat, turns in heats.items()}
    return {session: [value] for session, value in by_session(medians).items()}


def log_ratios(first: Heats, second: Heats) -> Floats:
    """Return the log of `second` over `first` for each heat, or session, that they have `in_common`.

    It is the median over the turns of the log ratio of the turns of one round; where the two took
    another number of turns, or none, the ratio of their launches' medians.
    """
    ratios = {}
    for heat, turns in in_common(first, second).items():
        one, other = map(np.log, turns)
        is_paired = len(one) == len(other)
        ratios[heat] = median_of(other - one) if is_paired else median_of(other) - median_of(one)
    return np.array([*by_session(ratios).values()], np.float64)


def median_of(values: Floats | OfTurns) -> float:
    """Return what `np.median` does, which takes several times as long for a few turns."""
    listed = list(map(float, values))
    return math.nan if any(map(math.isnan, listed)) else median(listed)


def scatter(pairs: Iterable[Floats]) -> Scatter:
    """Return what the log ratios of all `pairs` of a contest say of the scatter of any one of them.

    The variances of pairs are taken for draws from one scaled inverse chi-square distribution,
    whose two parameters their logarithms' mean and variance give (Smyth, Stat. Appl. Genet. Mol.
    Biol. 3, 2004, article 3, equation 6): where pairs scatter alike the freedom is large, where
    each has a scatter of its own it is small. It is m - 1 at most for m contestants, whom the pairs
    share. `UNKNOWN` for fewer than `FEWEST_PAIRS`.
    """
    varied = [
        ratios for ratios in pairs if len(ratios) >= FEWEST_HEATS and ratios.min() < ratios.max()
    ]
    if len(varied) < FEWEST_PAIRS:
        return UNKNOWN
    halves = np.array([len(ratios) - 1 for ratios in varied]) / 2
    logs = np.log([ratios.var(ddof=1) for ratios in varied])
    centred = logs - digamma(halves) + np.log(halves)
    excess = float(centred.var(ddof=1) - polygamma(1, halves).mean())
    freedom = 2 * _inverse_trigamma(excess)
    shift = float(digamma(freedom / 2) - math.log(freedom / 2))
    contestants = (1 + math.isqrt(1 + 8 * len(logs))) // 2
    return Scatter(min(freedom, contestants - 1), exp(float(centred.mean()) + shift), contestants)


def _inverse_trigamma(value: float) -> float:
    """Return the x whose trigamma is `value`, at most half of `MOST_FREEDOM`.

    Newton's steps on 1 / trigamma, which is nearly a line, rise to it (Smyth 2004, appendix).
    """
    most = MOST_FREEDOM / 2
    if value <= polygamma(1, most):
        return most
    if value >= polygamma(1, 1e-3):
        return 1e-3
    x = 0.5 + 1 / value
    for _ in range(NEWTON_STEPS):
        trigamma = float(polygamma(1, x))
        x += trigamma * (1 - trigamma / value) / float(polygamma(2, x))
    return x


def steadied(ratios: Floats, common: Scatter) -> Scatter:
    """Return the scatter of a pair with that of its contest (Smyth 2004, equation 3)."""
    own = len(ratios) - 1
    of_others = min(common.freedom, MOST_OF_OTHERS * own)
    squares = own * float(ratios.var(ddof=1)) + of_others * common.variance
    freedom = own + of_others
    return Scatter(freedom, squares / freedom)


def interval(ratios: Floats, level: float, common: Scatter = UNKNOWN) -> tuple[float, float]:
    """Return the two-sided interval of the mean of log ratios at `level` (a probability of error).

    Student's t (Biometrika 6, 1908, 1-25), exact for normal differences; with the `common` scatter
    of the contest its moderated form (Smyth 2004). There are two heats or more.
    """
    half = half_width(steadied(ratios, common), len(ratios), level)
    middle = float(ratios.mean())
    return middle - half, middle + half


def half_width(spread: Scatter, heats: int, level: float) -> float:
    """Return half the width of the interval of a mean over `heats` of that scatter."""
    return float(stdtrit(spread.freedom, 1 - level / 2)) * math.sqrt(spread.variance / heats)


def detectable(ratios: Floats, level: float, common: Scatter) -> float:
    """Return the log ratio that so many heats with this scatter find at `level` with 95 % power."""
    spread = steadied(ratios, common)
    quantiles = stdtrit(spread.freedom, [1 - level / 2, POWER])
    return float(quantiles.sum()) * math.sqrt(spread.variance / len(ratios))
