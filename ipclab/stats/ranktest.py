"""Rank tests of launches: exact interval of a ratio or shift, its p, and drift over time.

Ranks, since launches have one-sided outliers that no mean survives, and none may be dropped. The
test of Wilcoxon, Mann and Whitney is inverted over the differences of all pairs of launches: the
interval's ends are order statistics of them (Hollander, Wolfe and Chicken, Nonparametric
Statistical Methods, 2014, section 4.3).
"""

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from ipclab.stats.intervals import Floats

Values = Sequence[float] | Floats
EXACT_MOST = 4_000  # above this many pairs the normal approximation is as good and much faster
DRIFT_LEAST = 4  # with fewer values no order is unlikely


def chances(m: int, n: int) -> Floats:
    """Return P(U <= u) for u = 0, 1, ...: shares of orderings of groups of `m` and `n`."""
    if m * n <= EXACT_MOST:
        return _counted(m, n)
    deviation = (m * n * (m + n + 1) / 12) ** 0.5
    law: Floats = ndtr((np.arange(m * n + 1) + 0.5 - m * n / 2) / deviation)
    return law


@lru_cache(maxsize=256)
def _counted(m: int, n: int) -> Floats:
    """Return `chances`, counted by who has the greatest value (Mann and Whitney, Ann. Math.
    Statist. 18, 1947, 50-60).
    """
    start = np.zeros(m * n + 1)
    start[0] = 1
    ways = [start] * (n + 1)
    for _ in range(m):
        row = [start]
        for j in range(1, n + 1):
            above = np.zeros_like(start)
            above[j:] = ways[j][:-j]
            row.append(above + row[-1])
        ways = row
    law: Floats = np.cumsum(ways[n]) / ways[n].sum()
    return law


def differences(a: Values, b: Values) -> Floats:
    """Return b - a of every pair, sorted; their median is the estimate of Hodges and Lehmann."""
    first = np.asarray(a, np.float64)
    second = np.asarray(b, np.float64)
    return np.sort(np.subtract.outer(second, first).ravel())


def shift_interval(a: Values, b: Values, level: float) -> tuple[float, float]:
    """Return shifts of b over a not rejected two-sided at `level`; infinite where none is."""
    steps = differences(a, b)
    law = chances(len(a), len(b))
    outside = bisect_right(law, level / 2)  # as many at either end
    if not outside:
        return -np.inf, np.inf
    return float(steps[outside - 1]), float(steps[-outside])


class Drift(NamedTuple):
    """`change` from first to last launch as a share of the median, and the `p` of no drift."""

    change: float
    p: float


def drift(medians: Sequence[float]) -> Drift:
    """Return the drift of launch medians in order; no change and p 1 with fewer than four.

    Slope: the median of the slopes of all pairs (Sen, J. Am. Statist. Assoc. 63, 1968, 1379-1389);
    p: Kendall's test against time (Mann, Econometrica 13, 1945, 245-259), normal approximation with
    continuity correction. Ties lower the score only, so that p errs upwards.
    """
    values = np.asarray(medians, dtype=np.float64)
    count = len(values)
    if count < DRIFT_LEAST or not np.isfinite(values).all() or np.median(values) == 0:
        return Drift(0.0, 1.0)
    early, late = np.triu_indices(count, 1)
    steps = values[late] - values[early]
    slope = float(np.median(steps / (late - early)))
    change = slope * (count - 1) / float(np.median(values))
    score = max(0.0, abs(float(np.sign(steps).sum())) - 1)
    deviation = np.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    return Drift(change, float(2 * NormalDist().cdf(-score / deviation)))
