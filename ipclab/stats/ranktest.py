"""An exact rank test of two groups of launches, with or without blocks, and the interval that goes with it.

Ranks, since launches have one-sided outliers that no mean and no variance survives, and none may be dropped. Values
are aligned by the median of their block, ranked together, and the rank sum of one group is compared with all the ways
in which the labels could have fallen within the blocks (Hodges and Lehmann, Ann. Math. Statist. 33, 1962, 482-497).
Without blocks this is the Wilcoxon-Mann-Whitney test; ties get their mean rank and stay exact.
"""

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
    parts = _ranked(groups, shift)
    distance = abs(_distance(parts))
    if _many(parts):
        deviation = _deviation(parts)
        return 1.0 if deviation == 0 else float(2 * NormalDist().cdf(-max(0.0, distance - 1) / deviation))
    places, chances = _labellings(parts)
    return float(min(1.0, chances[np.abs(places) >= distance - ROUNDING].sum()))


def tails(groups: Groups, shift: float = 0.0) -> tuple[float, float]:
    """Return the one-sided p of "b is a, later by `shift`" against b being earlier, and against b being later."""
    parts = _ranked(groups, shift)
    distance = _distance(parts)  # of a's rank sum from its middle: high when b is early
    if _many(parts):
        deviation = _deviation(parts)
        if deviation == 0:
            return 1.0, 1.0
        early, late = (NormalDist().cdf((1 - sign * distance) / deviation) for sign in (1, -1))
        return min(1.0, early), min(1.0, late)
    places, chances = _labellings(parts)
    early, late = chances[places >= distance - ROUNDING].sum(), chances[places <= distance + ROUNDING].sum()
    return float(min(1.0, early)), float(min(1.0, late))


def _ranked(groups: Groups, shift: float) -> list[tuple[Integers, int]]:
    """Return for each block twice the ranks (integers even with ties), a's before b's, and how many are a's."""
    blocks = [(a, b - shift) for a, b in groups.blocks()]
    aligned = [np.concatenate(block) - np.median(np.concatenate(block)) for block in blocks]
    doubled = np.rint(2 * mean_ranks(np.concatenate(aligned))).astype(np.int64)
    ends = np.cumsum([len(values) for values in aligned])[:-1]
    return [(ranks, len(a)) for ranks, (a, _) in zip(np.split(doubled, ends), blocks, strict=True)]


def _distance(parts: list[tuple[Integers, int]]) -> float:
    return sum(float(ranks[:n].sum() - n * ranks.mean()) for ranks, n in parts)


def _many(parts: list[tuple[Integers, int]]) -> bool:
    return max(len(ranks) for ranks, _ in parts) > EXACT_MOST


def _deviation(parts: list[tuple[Integers, int]]) -> float:
    return float(np.sqrt(sum(_variance(ranks, n) for ranks, n in parts)))


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
    return 0.0 if size < 2 else float(n * (size - n) / size * ranks.var(ddof=1))  # noqa: PLR2004


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

    first, last = len(steps) // 2, len(steps) - 1
    if not rejected(last):
        return None
    while first < last:
        middle = (first + last) // 2
        if rejected(middle):
            last = middle
        else:
            first = middle + 1
    return float(steps[last])
