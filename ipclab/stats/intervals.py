"""Intervals from launches: the median of launch quantiles and a seeded hierarchical bootstrap.

The variance between launches is the honest one: samples within a launch share its luck (page placement, the
scheduler's choices), so they are never pooled as if they were independent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
Samples = np.ndarray[tuple[Any, ...], np.dtype[np.number[Any]]]
DRAWS = 1_000
LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval; `draws` are the bootstrap's values, for ratios and sums of estimates."""

    value: float
    low: float
    high: float
    launches: int
    samples: int
    draws: Floats


def rank(count: int, q: float) -> int:
    """Return the index of the `q` quantile among `count` sorted values (inverse of the empirical distribution)."""
    return min(count - 1, max(0, int(np.ceil(q * count)) - 1))


def quantile_estimate(launches: Sequence[Samples], q: float, seed: int) -> Estimate:
    """Return the median over launches of each launch's `q` quantile.

    `launches` are sorted arrays, one a launch. Hierarchical bootstrap: launches are drawn with replacement, then
    each drawn launch's quantile under resampling of its samples. The latter needs no resampling: the k-th smallest of
    n draws is at position floor(n * B) with B ~ Beta(k, n + 1 - k) (order statistics of the uniform distribution;
    David and Nagaraja, Order Statistics, 2003, section 2.3).
    """
    random = Generator(np.random.PCG64(seed))
    value = float(np.median([values[rank(len(values), q)] for values in launches]))
    chosen = random.integers(0, len(launches), (len(launches), DRAWS))
    draws = np.median(_resampled_quantiles(launches, q, chosen, random), axis=0)
    return estimate(value, draws, len(launches), sum(len(values) for values in launches))


def _resampled_quantiles(
    launches: Sequence[Samples], q: float, chosen: "np.ndarray[tuple[int, int], np.dtype[np.int64]]", random: Generator
) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """Return a quantile of its own for every `chosen` launch: one that was drawn twice is resampled twice."""
    lengths = np.array([len(values) for values in launches])
    count = lengths[chosen]
    k = np.array([rank(len(values), q) + 1 for values in launches])[chosen]
    places = np.minimum(count - 1, (random.beta(k, count + 1 - k) * count).astype(np.int64))
    found = np.empty(chosen.shape)
    for number, values in enumerate(launches):  # one by one: all samples in one array again would double the memory
        mine = chosen == number
        found[mine] = values[places[mine]]
    return found


def statistic_estimate(per_launch: Sequence[float], samples: int, seed: int) -> Estimate:
    """Return the median over launches of a number that each launch has, with a bootstrap over launches."""
    values = np.asarray(per_launch, dtype=np.float64)
    random = Generator(np.random.PCG64(seed))
    chosen = random.integers(0, len(values), (len(values), DRAWS))
    return estimate(float(np.median(values)), np.median(values[chosen], axis=0), len(values), samples)


def estimate(value: float, draws: Floats, launches: int, samples: int) -> Estimate:
    """Return `value` with the percentile interval of the bootstrap's `draws`, never narrower than `value` itself."""
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(value, min(float(low), value), max(float(high), value), launches, samples, draws)


def ratio(over: Estimate, under: Estimate) -> Estimate:
    """Return `over` / `under` of two independent estimates."""
    value = over.value / under.value
    draws = over.draws / under.draws
    return estimate(value, draws, min(over.launches, under.launches), min(over.samples, under.samples))


def total(parts: Sequence[Estimate]) -> Estimate:
    """Return the sum of independent estimates."""
    draws = np.sum([part.draws for part in parts], axis=0)
    launches = min(part.launches for part in parts)
    return estimate(sum(part.value for part in parts), draws, launches, min(part.samples for part in parts))


def difference(more: Estimate, less: Estimate) -> Estimate:
    """Return `more` - `less` of two independent estimates."""
    launches, samples = min(more.launches, less.launches), min(more.samples, less.samples)
    return estimate(more.value - less.value, more.draws - less.draws, launches, samples)


def scale(of: Estimate, factor: float) -> Estimate:
    """Return `of` times `factor`."""
    return estimate(of.value * factor, of.draws * factor, of.launches, of.samples)


def inverse(of: Estimate, factor: float = 1.0) -> Estimate:
    """Return `factor` / `of`, such as a bandwidth from a time."""
    return estimate(factor / of.value, factor / of.draws, of.launches, of.samples)


def median_interval(values: Floats) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the median of a few values, seeded by their number."""
    found = statistic_estimate(list(values), len(values), seed=len(values))
    return found.low, found.high
