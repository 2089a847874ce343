"""Steps and drift of many series over runs: where launches change their level together, beyond the luck of sessions.

A border between runs is tested by the permutation test of Wilcoxon, Mann and Whitney on the launch medians of both
sides (exact; at every border, as Pettitt, Appl. Statist. 28, 1979, 126-135, does at every place), corrected for the
borders (Bonferroni) and the series (Benjamini and Hochberg); borders are found by halves (Vostrikova, Soviet Math.
Dokl. 24, 1981, 55-59).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log1p

import numpy as np

from ipclab.stats import ranktest
from ipclab.stats.compare import EQUIVALENCE, RUNS_ALPHA, threshold
from ipclab.stats.intervals import Floats
from ipclab.stats.ranktest import DRIFT_LEAST

LUCK = 3.0  # deviations of a run's luck that a step must exceed (weighed in benchmarks/history.py)
DRIFT_P = 0.01  # luck that all series of a run share drifts now and then
LUCK_LEAST = 4  # runs from which their luck is known
HALF_NORMAL = 0.6745 * 2**0.5  # the median of the distance of two normal values, in their deviation
Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]  # a row for each series, a column for each run
Series = Sequence[Floats]  # logarithms of launch medians, by run; empty where a run has none of it
Shifts = Mapping[int, float]  # a change of the logarithm, by the number of the series


@dataclass(frozen=True)
class Found:
    """What happened over runs: steps by the run that they begin with, runs that stand alone, drift by its first run.

    Each holds the change of the series that are shown to have it: of a lone run against the others of its stretch, of
    drift from the first run of a stretch without a step to its last.
    """

    steps: Mapping[int, Shifts]
    alone: Mapping[int, Shifts]
    drifts: Mapping[int, Shifts]


def bounds(series: Sequence[Series]) -> list[float]:
    """Return the change of the logarithm that counts for each series: above 5 %, and above the luck of its runs.

    The luck of a session is what runs in a row differ by: the median, which one step does not move, of the series or of
    the middle one of all, whichever is more. Fewer than four runs do not show it.
    """
    medians = [[float(np.median(run)) for run in each if len(run)] for each in series]
    known = [float(np.median(np.abs(np.diff(runs)))) if len(runs) >= LUCK_LEAST else 0.0 for runs in medians]
    usual = float(np.median(known)) if known else 0.0
    return [max(log1p(EQUIVALENCE), LUCK / HALF_NORMAL * max(usual, mine)) for mine in known]


def changes(series: Sequence[Series], control: Iterable[int] = ()) -> Found:
    """Return the steps, lone runs and drift of `series` over the same runs, oldest first.

    `control` are the numbers of series that are corrected as a family of their own, such as the limits.
    """
    apart, count = set(control), max(map(len, series), default=0)
    walk = _Walk(series, bounds(series), [sorted(set(range(len(series))) - apart), sorted(apart)])
    borders = walk.settled([0, *walk.borders(0, count), count])
    stretches = [range(first, last) for first, last in pairwise(borders)]
    steps = {after[0]: walk.shown(before, after) for before, after in pairwise(stretches)}
    drifts = {stretch[0]: found for stretch in stretches if len(stretch) and (found := walk.drift(stretch))}
    alone = {
        run: found
        for stretch in stretches
        if not drifts.get(stretch[0] if len(stretch) else 0)
        for run in stretch[1:-1]
        if (found := walk.shown([each for each in stretch if each != run], [run]))
    }
    return Found(steps, alone, drifts)


@dataclass(frozen=True)
class _Walk:
    series: Sequence[Series]
    bounds: Sequence[float]
    families: Sequence[Sequence[int]]

    def borders(self, first: int, last: int) -> list[int]:
        """Return where steps are shown between the runs from `first` to before `last`; none where drift fits better."""
        inner = range(first + 1, last)
        moved = sorted({each for at in inner for each in self.shown(range(first, at), range(at, last))})
        if not moved:
            return []
        values = self._medians(moved, range(first, last))
        off = {at: _off(values[:, : at - first]) + _off(values[:, at - first :]) for at in inner}
        at = min(off, key=off.__getitem__)
        drifting = self.drift(range(first, last)).keys() & set(moved)
        if 2 * len(drifting) > len(moved) and _off_line(values) < off[at]:
            return []
        return [*self.borders(first, at), at, *self.borders(at, last)]

    def settled(self, borders: list[int]) -> list[int]:
        """Return borders without the two around a run whose neighbours are alike, and without those not shown again."""
        for a, b, c, d in zip(borders, borders[1:], borders[2:], borders[3:], strict=False):
            if c == b + 1 and not self.shown(range(a, b), range(c, d)):
                return self.settled([border for border in borders if border not in (b, c)])
        for a, b, c in zip(borders, borders[1:], borders[2:], strict=False):
            if not self.shown(range(a, b), range(b, c)):
                return self.settled([border for border in borders if border != b])
        return borders

    def shown(self, before: Sequence[int], after: Sequence[int]) -> Shifts:
        """Return the series that are shown to differ by more than their bound from runs `before` to runs `after`."""
        found: dict[int, float] = {}
        for family in self.families:
            tests = {each: test for each in family if (test := self._test(each, before, after))}
            level = threshold([p for p, _ in tests.values()], RUNS_ALPHA)
            found |= {each: shift for each, (p, shift) in tests.items() if p <= level}
        return found

    def drift(self, runs: Sequence[int]) -> Shifts:
        """Return the series whose medians drift by more than their bound over `runs` (Mann's rank test)."""
        found: dict[int, float] = {}
        for family in self.families if len(runs) >= DRIFT_LEAST else ():
            rows = [row[np.isfinite(row)] for row in self._medians(family, runs)]
            chances = [ranktest.drift(np.exp(row).tolist()).p for row in rows]
            level = threshold(chances, DRIFT_P)
            shown = {each: _rise(row) for each, row, p in zip(family, rows, chances, strict=True) if p <= level}
            found |= {each: change for each, change in shown.items() if abs(change) > self.bounds[each]}
        return found

    def _test(self, each: int, before: Sequence[int], after: Sequence[int]) -> tuple[float, float] | None:
        """Return the p of "no change above the bound", times the borders, and the change; None without a side."""
        runs, bound = self.series[each], self.bounds[each]
        a, b = (np.sort(np.concatenate([np.empty(0), *(runs[run] for run in part)])) for part in (before, after))
        if not (len(a) and len(b)):
            return None
        law, borders = ranktest.chances(len(a), len(b)), sum(len(run) > 0 for run in runs) - 1
        higher = law[int(np.sum(len(a) - np.searchsorted(a, b - bound, "left")))]  # by pairs that rise by less
        lower = law[int(np.sum(np.searchsorted(a, b + bound, "right")))]  # by pairs that fall by less
        return min(1.0, 2 * borders * min(higher, lower)), float(np.median(b) - np.median(a))

    def _medians(self, which: Sequence[int], runs: Sequence[int]) -> Table:
        rows = [[self.series[each][run] for run in runs] for each in which]
        found = [[np.median(mine) if len(mine) else np.nan for mine in row] for row in rows]
        return np.array(found, np.float64).reshape(len(which), len(runs))


def _rise(row: Floats) -> float:
    """Return the change from the first value to the last along the line through them (Sen's slope)."""
    early, late = np.triu_indices(len(row), 1)
    return float(np.median((row[late] - row[early]) / (late - early))) * (len(row) - 1)


def _off(values: Table) -> float:
    """Return how far the runs (columns) of each series lie from its median, in all."""
    if not np.isfinite(values).any():
        return 0.0
    kept = values[np.isfinite(values).any(axis=1)]
    return float(np.nansum(np.abs(kept - np.nanmedian(kept, axis=1, keepdims=True))))


def _off_line(values: Table) -> float:
    """Return how far the runs of each series lie from the line through them (Sen's slope), in all."""
    early, late = np.triu_indices(values.shape[1], 1)
    slopes = np.nanmedian((values[:, late] - values[:, early]) / (late - early), axis=1, keepdims=True)
    return _off(values - slopes * np.arange(values.shape[1]))
