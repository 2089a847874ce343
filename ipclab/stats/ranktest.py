"""Rank tests of launches: of two groups, exact, with the interval that goes with it, and of drift over time.

Ranks, since launches have one-sided outliers that no mean survives, and none may be dropped. Values are aligned by the
median of their block, ranked together, and one group's rank sum is compared with all ways in which labels could have
fallen within blocks (Hodges and Lehmann, Ann. Math. Statist. 33, 1962, 482-497): without blocks, the test of Wilcoxon,
Mann and Whitney. Ties get their mean rank and stay exact.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from ipclab.stats.intervals import Floats

Integers = np.ndarray[tuple[int], np.dtype[np.int64]]
EXACT_MOST = 50  # above this many launches in one block the normal approximation is as good and much faster
ROUNDING = 1e-9
DRIFT_LEAST = 4  # with fewer values no order is unlikely


@dataclass(frozen=True)
class Groups:
    """Values of the groups a and b, and the block that each belongs to."""

    a: Floats
    b: Floats
    a_blocks: Integers
    b_blocks: Integers

    def launches(self) -> tuple[int, int]:
        """Return how many values each group has."""
        return len(self.a), len(self.b)

    def blocks(self) -> list[tuple[Floats, Floats]]:
        """Return both groups' values of each block."""
        names = np.union1d(self.a_blocks, self.b_blocks)
        return [(self.a[self.a_blocks == name], self.b[self.b_blocks == name]) for name in names]

    def differences(self) -> Floats:
        """Return b - a of every pair within a block, sorted; their median is the Hodges-Lehmann estimate."""
        return np.sort(np.concatenate([np.subtract.outer(b, a).ravel() for a, b in self.blocks()]))


def mean_ranks(values: Floats) -> Floats:
    """Return the rank of each value from 1; equal values share their mean rank."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - (count - 1) / 2)[place], dtype=np.float64)


def p_value(groups: Groups, shift: float = 0.0) -> float:
    """Return the two-sided p of "b is a, later by `shift`": the share of labellings that lie as far out as this one."""
    return min(1.0, sum(tails(groups, shift, both=True)))


def tails(groups: Groups, shift: float = 0.0, both: bool = False) -> tuple[float, float]:
    """Return the one-sided p of "b is a, later by `shift`" against b being earlier, and against b being later.

    It is how likely a's rank sum is as high as here, and as low; with `both`, as far from its middle either way.
    """
    blocks = [(a, b - shift) for a, b in groups.blocks()]
    aligned = [np.concatenate(block) - np.median(np.concatenate(block)) for block in blocks]
    doubled = np.rint(2 * mean_ranks(np.concatenate(aligned))).astype(np.int64)  # integers even with ties
    ends = np.cumsum([len(values) for values in aligned])[:-1]
    parts = [(ranks, len(a)) for ranks, (a, _) in zip(np.split(doubled, ends), blocks, strict=True)]
    distance = sum(float(ranks[:n].sum() - n * ranks.mean()) for ranks, n in parts)  # high when b is early
    high, low = (abs(distance), -abs(distance)) if both else (distance, distance)
    if max(len(ranks) for ranks, _ in parts) > EXACT_MOST:
        # The variance of the sum of n ranks, drawn without replacement, in each block; the last factor is ddof=1's.
        sizes = [(len(ranks), n, ranks.var()) for ranks, n in parts]
        deviation = float(np.sqrt(sum(n * (size - n) / max(1, size - 1) * spread for size, n, spread in sizes)))
        if deviation == 0:
            return 1.0, 1.0
        return NormalDist().cdf((1 - high) / deviation), NormalDist().cdf((1 + low) / deviation)
    chances, middle = np.ones(1), 0.0  # of each rank sum that a can have, and the middle of those
    for ranks, n in parts:
        chances = np.convolve(chances, _rank_sums(tuple(np.sort(ranks).tolist()), n))
        middle += n * float(ranks.mean())
    places = np.arange(len(chances)) - middle
    early, late = chances[places >= high - ROUNDING].sum(), chances[places <= low + ROUNDING].sum()
    return min(1.0, float(early)), min(1.0, float(late))


@lru_cache(maxsize=4096)
def _rank_sums(ranks: tuple[int, ...], n: int) -> Floats:
    """Return the chance of each sum of `n` of `ranks` when all choices are as likely."""
    ways = np.zeros((n + 1, sum(ranks) + 1))
    ways[0, 0] = 1
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, : ways.shape[1] - rank].copy()
    return np.asarray(ways[n] / ways[n].sum(), dtype=np.float64)


def interval(groups: Groups, level: float) -> tuple[float | None, float | None]:
    """Return the shifts of b over a that the test at `level` does not reject; None for an end that no data bound.

    The test is inverted over the differences within blocks, between which its answer does not change (Hollander, Wolfe
    and Chicken, Nonparametric Statistical Methods, 2014, section 4.3).
    """
    low = _upper_end(Groups(groups.b, groups.a, groups.b_blocks, groups.a_blocks), level)
    return None if low is None else -low, _upper_end(groups, level)


def _upper_end(groups: Groups, level: float) -> float | None:
    steps = groups.differences()

    def rejected(place: int) -> bool:
        beyond = steps[place + 1] if place + 1 < len(steps) else steps[place] + 1
        return p_value(groups, float(steps[place] + beyond) / 2) <= level

    places = range(len(steps) // 2, len(steps))
    first = bisect_left(places, True, key=rejected)
    return float(steps[places[first]]) if first < len(places) else None


@dataclass(frozen=True)
class Drift:
    """`change` from the first to the last launch as a share of their median, and the `p` of no drift."""

    change: float
    p: float


def drift(medians: Sequence[float]) -> Drift:
    """Return the drift of launch medians in the order taken; no change and p 1 with fewer than four.

    Slope: the median of the slopes of all pairs (Sen, J. Am. Statist. Assoc. 63, 1968, 1379-1389); p: Kendall's test
    against time (Mann, Econometrica 13, 1945, 245-259), normal approximation with continuity correction. Ties lower
    the score only, so that p errs upwards.
    """
    values = np.asarray(medians, dtype=np.float64)
    count = len(values)
    if count < DRIFT_LEAST or not np.isfinite(values).all() or np.median(values) == 0:
        return Drift(0.0, 1.0)
    early, late = np.triu_indices(count, 1)
    steps = values[late] - values[early]
    change = float(np.median(steps / (late - early))) * (count - 1) / float(np.median(values))
    score = max(0.0, abs(float(np.sign(steps).sum())) - 1)
    deviation = np.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    return Drift(change, float(2 * NormalDist().cdf(-score / deviation)))
