"""The ratio of two contestants of the same heats: one log ratio for each heat, and its interval over heats.

Within a heat the ratio is taken turn by turn, so that what the host does to both of them cancels. The interval is
Student's: among tests that hold the rate of false alarms it decides with the fewest heats, since ranks of n heats
cannot show anything below a level of 2 / 2^n (`benchmarks/paired.py` weighs them; docs/method.md says what came out).
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import stdtrit

from ipclab.stats.intervals import Floats

Heats = Mapping[int, Sequence[float]]  # by the heat's number: the medians (ns) of a contestant's turns in it
POWER = 0.95


def log_ratios(first: Heats, second: Heats) -> Floats:
    """Return the logarithm of `second` over `first` for each heat that both took part in, in the heats' order.

    It is the median over the turns of the log ratio of the turns of one round; where the two took another number of
    turns, or none, the ratio of their launches' medians.
    """
    ratios = []
    for heat in sorted(first.keys() & second.keys()):
        one, other = np.log(first[heat]), np.log(second[heat])
        if len(one) == len(other):
            ratios.append(float(np.median(other - one)))
        else:
            ratios.append(float(np.median(other) - np.median(one)))
    return np.array(ratios, np.float64)


def interval(ratios: Floats, level: float) -> tuple[float, float]:
    """Return the two-sided interval of the mean of log ratios at `level` (a probability of error).

    Student's t (Biometrika 6, 1908, 1-25): exact for normal differences. Infinite for fewer than two heats.
    """
    count = len(ratios)
    if count < 2:  # noqa: PLR2004
        return -math.inf, math.inf
    half = float(stdtrit(count - 1, 1 - level / 2)) * standard_error(ratios)
    middle = float(ratios.mean())
    return middle - half, middle + half


def standard_error(ratios: Floats) -> float:
    """Return the standard error of the mean of two or more log ratios."""
    return float(ratios.std(ddof=1)) / math.sqrt(len(ratios))


def detectable(ratios: Floats, level: float) -> float:
    """Return the log ratio that so many heats with this scatter find at `level` with 95 % power."""
    freedom = len(ratios) - 1
    quantiles = float(stdtrit(freedom, 1 - level / 2)) + float(stdtrit(freedom, POWER))
    return quantiles * standard_error(ratios)
