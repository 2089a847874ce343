"""Simultaneous intervals: of several values that a claim compares, all hold together in 95 %.

One of many intervals misses its value more often than each, and a claim of `each(...)` fails by
one of them (that it holds is shown by each alone: Berger, Technometrics 24, 1982, 295-300). Their
distances to the ends grow by the ratio of Student's quantiles at the level that each has of all
(Bonferroni), on the logarithmic scale where all is above 0.
"""

from dataclasses import replace
from math import exp, inf, isfinite, log

from scipy.special import stdtrit

from ipclab.stats.intervals import LEVEL
from ipclab.stats.quantity import Quantity


def simultaneous(quantity: Quantity, count: int) -> Quantity:
    """Return a quantity with the interval that it has as one of `count`; exact ones as they are."""
    low, high = quantity.ends
    value = float(quantity.value)
    is_exact = low == high
    if count < 2 or is_exact or not all(map(isfinite, (low, value, high))):  # noqa: PLR2004
        return quantity
    factor = _factor(_launches(quantity), count)
    if low > 0:
        low = value * exp(factor * (log(low) - log(value)))
        high = value * exp(factor * (log(high) - log(value)))
    else:
        low = value + factor * (low - value)
        high = value + factor * (high - value)
    return replace(quantity, low=low, high=high)


def _factor(launches: float, count: int) -> float:
    """Return how many times as far the ends lie of one of `count` as of one alone."""
    tail = (1 - LEVEL) / 2
    freedom = launches - 1
    return float(stdtrit(freedom, 1 - tail / count) / stdtrit(freedom, 1 - tail))


def _launches(quantity: Quantity) -> float:
    """Return of how many launches (or heats) a quantity is; two at least, endless if unknown."""
    counted = quantity.n.split()
    told = len(quantity.launches) or (int(counted[0]) if counted else inf)
    return min(max(told, 2), 1e6)
