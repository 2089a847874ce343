"""Intervals from launches: exact order statistics of their medians; of quantiles, and of rates.

Samples within a launch share its luck (page placement, the scheduler's choices): they are never
pooled as independent.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import accumulate
from math import ceil, comb, inf, isfinite, sqrt
from typing import Any

import numpy as np
from scipy.special import stdtrit

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
Samples = np.ndarray[tuple[Any, ...], np.dtype[np.number[Any]]]
LEVEL = 0.95
# of an interval by itself: points that end when their contest is decided lose up to a hundredth
NOMINAL = 0.96
# stretches the range of so few: no two order statistics are 95 % apart
FEW = {2: 12.75, 3: 4.32, 4: 1.664, 5: 1.104}
VARYING = ("ns", "1/s", "B/s")  # units of what differs from session to session
# an interval whose ends are further apart says only that there were too few launches
WIDEST = 100.0
LEAST_BEYOND = 10  # samples beyond a quantile; fewer make it a guess
# share by which sessions differ more than launches of one can show (docs/method.md)
SESSION = 0.06


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval, and of how many launches and samples it is."""

    value: float
    low: float
    high: float
    launches: int
    samples: int

    def inverse(self, factor: float) -> "Estimate":
        """Return `factor` over this positive value, such as a bandwidth from a time."""
        value = factor / self.value
        if not np.isfinite(self.high):
            return replace(self, value=value, low=-inf, high=inf)
        return replace(self, value=value, low=factor / self.high, high=factor / self.low)

    def for_sessions(self) -> "Estimate":
        """Return a time or rate with an interval for any session, `SESSION` wider at its ends."""
        low = self.low - SESSION * abs(self.low)
        high = self.high + SESSION * abs(self.high)
        return replace(self, low=low, high=high)


def exp(x: float) -> float:
    """Return e to the power of `x`, infinite where that is beyond all floats."""
    try:
        return math.exp(x)
    except OverflowError:
        return inf


def says_nothing(low: float, high: float) -> bool:
    """Tell whether an interval shows only that there were too few launches.

    It has no end, or is wider than a factor of `WIDEST`; what begins at 0 is left to who knows
    whether the value can be 0.
    """
    return not (isfinite(low) and isfinite(high)) or (low > 0 and high > WIDEST * low)


def rank(count: int, q: float) -> int:
    """Return the index of the `q` quantile among `count` sorted values.

    It is the inverse of the empirical distribution.
    """
    return min(count - 1, max(0, ceil(q * count) - 1))


def statistic_estimate(per_launch: Sequence[float], samples: int) -> Estimate:
    """Return the median over launches of a number that each launch has, with its 95 % interval."""
    values = np.asarray(per_launch, dtype=np.float64)
    return Estimate(float(np.median(values)), *median_interval(values), len(values), samples)


def median_interval(values: Floats) -> tuple[float, float]:
    """Return the 95 % interval of the median of a few values, of whatever distribution.

    The ends lie between the two order statistics whose exact levels enclose `NOMINAL`
    (Hettmansperger and Sheather, Statist. Probab. Lett. 4, 1986, 75-79; Nyblom, same journal 14,
    1992, 197-206). Of fewer than six the range is stretched about the median until a normal law is
    held in 95 %, on the logarithmic scale where all are above 0. One has no interval, that is an
    infinite one, and neither have those whose interval would say nothing (`WIDEST`).
    """
    ordered = np.sort(values)
    count = len(values)
    if count == 1:
        return -inf, inf
    if count in FEW and ordered[0] < ordered[-1]:
        low, high = _stretched(ordered, FEW[count])
        return (-inf, inf) if says_nothing(low, high) else (low, high)
    place, share = _places(count)
    inner = min(place + 1, count - 1)
    low = (1 - share) * ordered[place] + share * ordered[inner]
    high = (1 - share) * ordered[-1 - place] + share * ordered[-1 - inner]
    return float(low), float(high)


@lru_cache(maxsize=512)
def _places(count: int) -> tuple[int, float]:
    """Return the outer order statistic's index, and the share of the way to the inner one."""
    if count <= max(FEW):
        return 0, 0.0
    # By r: the chance that the median lies outside the r-th value from either end.
    ways = [comb(count, k) for k in range(count // 2 + 1)]
    tails = [2 * total / 2**count for total in accumulate(ways)]
    r = max(number for number, tail in enumerate(tails, 1) if tail <= 1 - NOMINAL)
    outer = 1 - tails[r - 1]
    inner = 1 - tails[r]
    part = (outer - NOMINAL) / (outer - inner)
    return r - 1, (count - r) * part / (r + (count - 2 * r) * part)


def _stretched(ordered: Floats, factor: float) -> tuple[float, float]:
    logs = bool(ordered[0] > 0)
    values = np.log(ordered) if logs else ordered
    middle = float(np.median(values))
    low = middle - factor * (middle - values[0])
    high = middle + factor * (values[-1] - middle)
    if logs:
        return exp(low), exp(high)
    return float(low), float(high)


def pooled(launches: Sequence[Samples | Any], q: float) -> Estimate | None:
    """Return the `q` quantile of all launches' samples; None with under ten beyond it.

    The ends of its interval are infinite where launches are too few for one.
    The interval is Woodruff's (J. Am. Statist. Assoc. 47, 1952, 635-646): the share of samples
    below the quantile has the variance between launches, whose samples share their luck, and the
    ends are the quantiles at the ends of that share.
    """
    counts = np.array([len(samples) for samples in launches], np.float64)
    total = int(counts.sum())
    if total == 0 or total - 1 - rank(total, q) < LEAST_BEYOND:
        return None
    ordered = np.sort(np.concatenate(launches))
    value = float(ordered[rank(total, q)])
    if len(launches) == 1:
        return Estimate(value, -inf, inf, 1, total)
    shares_below = np.array([np.mean(samples <= value) for samples in launches])
    off = counts / total * (shares_below - np.average(shares_below, weights=counts))
    between = len(launches) / (len(launches) - 1) * float((off**2).sum())
    error = sqrt(max(between, q * (1 - q) / total))
    half = float(stdtrit(len(launches) - 1, (1 + LEVEL) / 2)) * error
    low = float(ordered[rank(total, q - half)]) if q > half else -inf
    high = float(ordered[rank(total, q + half)]) if q + half < 1 else inf
    return Estimate(value, low, high, len(launches), total)
