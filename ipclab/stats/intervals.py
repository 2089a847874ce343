"""Intervals from launches (the median of launch quantiles and a seeded hierarchical bootstrap) and of rates.

Samples within a launch share its luck (page placement, the scheduler's choices): they are never pooled as independent.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, exp, fsum, log, log1p
from typing import Any

import numpy as np
from numpy.random import PCG64, Generator

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
Samples = np.ndarray[tuple[Any, ...], np.dtype[np.number[Any]]]
DRAWS = 1_000
LEVEL = 0.95
RATE_STEPS = 10**9


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
        return Estimate(factor / self.value, factor / self.high, factor / self.low, self.launches, self.samples)


def rank(count: int, q: float) -> int:
    """Return the index of the `q` quantile among `count` sorted values (inverse of the empirical distribution)."""
    return min(count - 1, max(0, int(np.ceil(q * count)) - 1))


def quantile_estimate(launches: Sequence[Samples], q: float, seed: int) -> Estimate:
    """Return the median over `launches`, a sorted array each, of each launch's `q` quantile."""
    value = float(np.median([values[rank(len(values), q)] for values in launches]))
    return _estimate(value, quantile_draws(launches, q, seed), len(launches), sum(map(len, launches)))


def quantile_draws(launches: Sequence[Samples], q: float, seed: int) -> Floats:
    """Return the values of the bootstrap: launches drawn with replacement, each with its samples resampled.

    Samples need no drawing: the k-th smallest of n draws is at position floor(n * B) with B ~ Beta(k, n + 1 - k)
    (order statistics of the uniform distribution; David and Nagaraja, Order Statistics, 2003, section 2.3).
    """
    random = Generator(PCG64(seed))
    chosen = random.integers(0, len(launches), (len(launches), DRAWS))
    count = np.array([len(values) for values in launches])[chosen]
    k = np.array([rank(len(values), q) + 1 for values in launches])[chosen]
    places = np.minimum(count - 1, (random.beta(k, count + 1 - k) * count).astype(np.int64))
    found = np.empty(chosen.shape)
    for number, values in enumerate(launches):  # one by one: all samples in one array again would double the memory
        mine = chosen == number
        found[mine] = values[places[mine]]
    return np.asarray(np.median(found, axis=0))


def statistic_estimate(per_launch: Sequence[float], samples: int, seed: int) -> Estimate:
    """Return the median over launches of a number that each launch has, with a bootstrap over launches."""
    values = np.asarray(per_launch, dtype=np.float64)
    chosen = Generator(PCG64(seed)).integers(0, len(values), (len(values), DRAWS))
    return _estimate(float(np.median(values)), np.median(values[chosen], axis=0), len(values), samples)


def _estimate(value: float, draws: Floats, launches: int, samples: int) -> Estimate:
    """Return `value` with the percentile interval of `draws`, which never excludes `value` itself."""
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(value, min(float(low), value), max(float(high), value), launches, samples)


def median_interval(values: Floats) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the median of a few values, seeded by their number."""
    found = statistic_estimate(list(values), len(values), seed=len(values))
    return found.low, found.high


def rate_upper(hits: int, trials: int) -> float:
    """Return the upper end of a rate's exact 95 % interval (Clopper and Pearson, Biometrika 26, 1934, 404-413)."""

    def unlikely(step: int) -> bool:
        rate = step / RATE_STEPS
        logs = (log(comb(trials, k)) + k * log(rate) + (trials - k) * log1p(-rate) for k in range(hits + 1))
        return fsum(map(exp, logs)) < (1 - LEVEL) / 2

    steps = range(1, RATE_STEPS)
    return 1.0 if hits == trials else bisect_left(steps, True, key=unlikely) / RATE_STEPS
