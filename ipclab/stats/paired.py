"""The ratio of two contestants of the same heats: one log ratio a heat, and its interval.

A heat's ratio is the quotient of its two launches' numbers, so that a ratio is the quotient of the
two geometric means over the heats that both share. The interval is Student's, with the scatter of
the pair steadied by that of all pairs of its contest, which have seen the same host:
`benchmarks/paired.py` weighs it against others.
"""

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from scipy.special import digamma, polygamma, stdtrit

from ipclab.stats.intervals import UNKNOWN, Floats, Scatter, Standard, exp, mean_of, uncertainty
from ipclab.stats.sessions import by_session

Heats = Mapping[int, float]  # the launch's number (ns) of a contestant in each heat
POWER = 0.95
FEWEST_HEATS = 3  # that a pair is judged by: two leave one degree of freedom, and say nothing
FEWEST_PAIRS = 6  # those of four contestants: the spread of three is hardly known
# A contest whose scatters look alike is trusted like so many more heats, no further
MOST_FREEDOM = 20.0
# nor more than so many times a pair's own freedom: few heats hardly tell whether they look alike
MOST_OF_OTHERS = 4.0
NEWTON_STEPS = 20  # whose last change nothing


class Both(NamedTuple):
    """The times (ns) of two sides by the heats, or sessions, that both have."""

    first: Heats
    second: Heats


def in_common(first: Heats, second: Heats) -> Both:
    """Return the heats that both have; where there is none, their values in several sessions.

    Of several sessions they are the means over the heats of each that both have.
    """
    if not first.keys() & second.keys():
        first, second = by_session(first), by_session(second)
    shared = sorted(first.keys() & second.keys())
    sides = ({heat: side[heat] for heat in shared} for side in (first, second))
    return Both(*map(by_session, sides))


def log_ratios(first: Heats, second: Heats) -> Floats:
    """Return the log of `second` over `first` for each heat, or session, `in_common`."""
    both = in_common(first, second)
    ratios = np.log([*both.second.values()]) - np.log([*both.first.values()])
    return np.array(ratios, np.float64)


def means(first: Heats, second: Heats) -> tuple[float, float]:
    """Return the geometric means of both sides over what they have `in_common`."""
    one, other = in_common(first, second)
    return mean_of([*one.values()]), mean_of([*other.values()])


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


def steadied(ratios: Floats, common: Scatter) -> Standard:
    """Return the standard uncertainty of a pair's mean, with the scatter of its contest.

    Heats that resemble each other count as fewer that do not.
    """
    most = MOST_OF_OTHERS * (len(ratios) - 1)
    known = uncertainty(ratios, common._replace(freedom=min(common.freedom, most)))
    freedom = max(known.freedom * common.apart, 1.0)
    return Standard(known.error / math.sqrt(common.apart), freedom)


def interval(ratios: Floats, level: float, common: Scatter = UNKNOWN) -> tuple[float, float]:
    """Return the two-sided interval of the mean of log ratios at `level` (a probability of error).

    Student's t (Biometrika 6, 1908, 1-25), exact for normal differences; with the `common` scatter
    of the contest its moderated form (Smyth 2004). There are two heats or more.
    """
    known = steadied(ratios, common)
    half = float(stdtrit(known.freedom, 1 - level / 2)) * known.error
    middle = float(ratios.mean())
    return middle - half, middle + half


def detectable(ratios: Floats, level: float, common: Scatter) -> float:
    """Return the log ratio that so many heats with this scatter find at `level` with 95 % power."""
    known = steadied(ratios, common)
    return float(stdtrit(known.freedom, [1 - level / 2, POWER]).sum()) * known.error
