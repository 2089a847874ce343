"""An exact rank test of two groups of launches, with or without blocks, and the interval that goes with it.

Ranks, since launches have one-sided outliers that no mean and no variance survives, and none may be dropped. Values
are aligned by the median of their block, ranked together, and the rank sum of one group is compared with all the ways
in which the labels could have fallen within the blocks (Hodges and Lehmann, Ann. Math. Statist. 33, 1962, 482-497).
Without blocks this is the Wilcoxon-Mann-Whitney test; ties get their mean rank and stay exact.
"""

from bisect import bisect_left
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
Integers = np.ndarray[tuple[int], np.dtype[np.int64]]
EXACT_MOST = 50  # above this many launches in one block the normal approximation is as good and much faster
ROUNDING = 1e-9


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
    return min(1.0, sum(_tails(groups, shift, both=True)))


def tails(groups: Groups, shift: float = 0.0) -> tuple[float, float]:
    """Return the one-sided p of "b is a, later by `shift`" against b being earlier, and against b being later."""
    return _tails(groups, shift, both=False)


def _tails(groups: Groups, shift: float, both: bool) -> tuple[float, float]:
    """Return how likely a's rank sum is as high as here, and as low; with `both`, as far from its middle either way."""
    blocks = [(a, b - shift) for a, b in groups.blocks()]
    aligned = [np.concatenate(block) - np.median(np.concatenate(block)) for block in blocks]
    doubled = np.rint(2 * mean_ranks(np.concatenate(aligned))).astype(np.int64)  # integers even with ties
    ends = np.cumsum([len(values) for values in aligned])[:-1]
    parts = [(ranks, len(a)) for ranks, (a, _) in zip(np.split(doubled, ends), blocks, strict=True)]
    distance = sum(float(ranks[:n].sum() - n * ranks.mean()) for ranks, n in parts)  # high when b is early
    high, low = (abs(distance), -abs(distance)) if both else (distance, distance)
    if max(len(ranks) for ranks, _ in parts) > EXACT_MOST:
        deviation = float(np.sqrt(sum(_variance(ranks, n) for ranks, n in parts)))
        if deviation == 0:
            return 1.0, 1.0
        return NormalDist().cdf((1 - high) / deviation), NormalDist().cdf((1 + low) / deviation)
    places, chances = _labellings(parts)
    early, late = chances[places >= high - ROUNDING].sum(), chances[places <= low + ROUNDING].sum()
    return min(1.0, float(early)), min(1.0, float(late))


def _labellings(parts: list[tuple[Integers, int]]) -> tuple[Floats, Floats]:
    """Return the distances that a's rank sum can have from its middle, and the chance of each."""
    chances, middle = np.ones(1), 0.0
    for ranks, n in parts:
        chances = np.convolve(chances, _rank_sums(tuple(np.sort(ranks).tolist()), n))
        middle += n * float(ranks.mean())
    return np.arange(len(chances), dtype=np.float64) - middle, chances


@lru_cache(maxsize=4096)
def _rank_sums(ranks: tuple[int, ...], n: int) -> Floats:
    """Return the chance of each sum of `n` of `ranks` when all choices are as likely."""
    total = sum(ranks)
    ways = np.zeros((n + 1, total + 1))
    ways[0, 0] = 1
    for rank in ranks:
        ways[1:, rank:] += ways[:-1, : total + 1 - rank].copy()
    return np.asarray(ways[n] / ways[n].sum(), dtype=np.float64)


def _variance(ranks: Integers, n: int) -> float:
    """Return the variance of the sum of `n` of `ranks`, drawn without replacement."""
    size = len(ranks)
    return 0.0 if size == 1 else float(n * (size - n) / size * ranks.var(ddof=1))


def interval(groups: Groups, level: float) -> tuple[float | None, float | None]:
    """Return the shifts of b over a that the test at `level` does not reject; None for an end that no data bound.

    The test is inverted over the differences within blocks, between which its answer does not change (Hollander, Wolfe
    and Chicken, Nonparametric Statistical Methods, 2014, section 4.3).
    """
    steps = groups.differences()
    mirrored = Groups(groups.b, groups.a, groups.b_blocks, groups.a_blocks)
    low = _upper_end(mirrored, -steps[::-1], level)
    return None if low is None else -low, _upper_end(groups, steps, level)


def _upper_end(groups: Groups, steps: Floats, level: float) -> float | None:
    def rejected(place: int) -> bool:
        beyond = steps[place + 1] if place + 1 < len(steps) else steps[place] + 1
        return p_value(groups, float(steps[place] + beyond) / 2) <= level

    places = range(len(steps) // 2, len(steps))
    first = bisect_left(places, True, key=rejected)
    return float(steps[places[first]]) if first < len(places) else None
