"""Steps and drift of many series over runs: where launches change their level together.

A border between runs is tested by the permutation test of Wilcoxon, Mann and Whitney on the launch
medians of both sides (exact; at every border, as Pettitt, Appl. Statist. 28, 1979, 126-135, does at
every place), corrected for the borders (Bonferroni) and the series (Benjamini and Hochberg);
borders are found by halves (Vostrikova, Soviet Math. Dokl. 24, 1981, 55-59). What counts lies
beyond the luck of sessions.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log1p

import numpy as np
from ipclab.stats.ranktest import DRIFT_LEAST

from ipclab.report.compare.unpaired import RUNS_ALPHA, threshold
from ipclab.stats import ranktest
from ipclab.stats.compare import EQUIVALENCE
from ipclab.stats.intervals import Floats

LUCK = 3.0  # deviations of a run's luck that a step must exceed (weighed over made-up histories)
DRIFT_P = 0.01  # strict, since the luck of a run, which its series share, may drift by itself
LUCK_LEAST = 4  # runs from which their luck is known
HALF_NORMAL = 0.6745 * 2**0.5  # median distance of two normal values, in their deviation
Table = np.ndarray[tuple[int, int], np.dtype[np.float64]]  # a row a series, a column a run
Series = Sequence[Floats]  # logarithms of launch medians, by run; empty where a run has none
Shifts = Mapping[int, float]  # a change of the logarithm, by the number of the series
Runs = Sequence[int]  # their numbers


@dataclass(frozen=True)
class Changes:
    """What happened over runs: steps by their first run, runs that stand alone, drift by its first.

    Each holds the change of the series that are shown to have it: of a lone run against the others
    of its stretch, of drift from the first run of a stretch without a step to its last.
    """

    steps: Mapping[int, Shifts]
    alone: Mapping[int, Shifts]
    drifts: Mapping[int, Shifts]


def counting_changes(series: Sequence[Series]) -> list[float]:
    """Return the change of the logarithm that counts: above 5 %, and above the luck of runs.

    One for each series. The luck of a session is what runs in a row differ by: the median, which
    one step does not move, of the series or of the middle one of all, whichever is more. Fewer than
    four runs do not show it.
    """
    lucks = []
    for row in _medians(series):
        medians = row[np.isfinite(row)]
        steps = np.abs(np.diff(medians))
        lucks.append(np.median(steps) if len(medians) >= LUCK_LEAST else 0.0)
    usual = np.median(lucks) if lucks else 0.0
    beyond = LUCK / HALF_NORMAL * np.maximum(lucks, usual)
    return list(map(float, np.maximum(beyond, log1p(EQUIVALENCE))))


def _medians(series: Sequence[Series]) -> Table:
    """Return the median of each series in each run, NaN where it has none."""
    count = max(map(len, series), default=0)
    table = np.full((len(series), count), np.nan)
    for row, runs in zip(table, series, strict=True):
        for number, launches in enumerate(runs):
            if len(launches):
                row[number] = np.median(launches)
    return table


def changes(series: Sequence[Series], control: Iterable[int] = ()) -> Changes:
    """Return the steps, lone runs and drift of `series` over the same runs, oldest first.

    `control` are the numbers of series that are corrected as a family of their own, such as limits.
    """
    apart = sorted(control)
    medians = _medians(series)
    others = [number for number in range(len(series)) if number not in apart]
    walk = _Walk(series, counting_changes(series), [others, apart], medians)
    count = medians.shape[1]
    borders = walk.settled([0, *walk.borders(0, count), count])
    stretches = [range(first, last) for first, last in pairwise(borders)]
    steps = {}
    for before, after in pairwise(stretches):
        steps[after[0]] = walk.shown(before, after)
    alone: dict[int, Shifts] = {}
    drifts: dict[int, Shifts] = {}
    for stretch in filter(len, stretches):
        drift = walk.drift(stretch)
        if drift:
            drifts[stretch[0]] = drift
            continue
        for run in stretch[1:-1]:
            others = [number for number in stretch if number != run]
            shifts = walk.shown(others, [run])
            if shifts:
                alone[run] = shifts
    return Changes(steps, alone, drifts)


@dataclass(frozen=True)
class _Walk:
    series: Sequence[Series]
    bounds: Sequence[float]
    families: Sequence[Sequence[int]]
    medians: Table

    def borders(self, first: int, last: int) -> list[int]:
        """Return where steps are shown between the runs from `first` to before `last`.

        An empty list where drift fits better.
        """
        inner = range(first + 1, last)
        moved = set[int]()
        for border in inner:
            moved.update(self.shown(range(first, border), range(border, last)))
        if not moved:
            return []
        values = self.medians[sorted(moved), first:last]
        distances = {}
        for at in inner:
            sides = np.hsplit(values, [at - first])
            distances[at] = sum(map(_distance, sides))
        border = min(distances, key=distances.__getitem__)
        drifting = moved.intersection(self.drift(range(first, last)))
        mostly = 2 * len(drifting) > len(moved)
        if mostly and _distance_from_line(values) < distances[border]:
            return []
        before = self.borders(first, border)
        after = self.borders(border, last)
        return [*before, border, *after]

    def settled(self, borders: list[int]) -> list[int]:
        """Return borders without the two around a run whose neighbours are alike.

        And without those that are not shown again.
        """
        for at in range(len(borders) - 3):
            first, lone, back, last = borders[at : at + 4]
            is_lone = back == lone + 1
            if is_lone and not self.shown(range(first, lone), range(back, last)):
                return self.settled(borders[: at + 1] + borders[at + 3 :])
        for at in range(1, len(borders) - 1):
            first, border, last = borders[at - 1 : at + 2]
            if not self.shown(range(first, border), range(border, last)):
                return self.settled(borders[:at] + borders[at + 1 :])
        return borders

    def shown(self, before: Runs, after: Runs) -> Shifts:
        """Return the series that are shown to differ by more than their bound between runs."""
        shifts = {}
        for family in self.families:
            tests = {}
            for number in family:
                test = self._test(number, before, after)
                if test:
                    tests[number] = test
            level = threshold([p for p, _ in tests.values()], RUNS_ALPHA)
            for number, (p, shift) in tests.items():
                if p <= level:
                    shifts[number] = shift
        return shifts

    def drift(self, runs: Runs) -> Shifts:
        """Return the series whose medians drift by more than their bound (Mann's rank test)."""
        shifts: dict[int, float] = {}
        if len(runs) < DRIFT_LEAST:
            return shifts
        for family in self.families:
            rows = []
            chances = []
            for medians in self.medians[np.ix_(family, runs)]:
                row = medians[np.isfinite(medians)]
                times = np.exp(row).tolist()
                rows.append(row)
                chances.append(ranktest.drift(times).p)
            level = threshold(chances, DRIFT_P)
            for number, row, p in zip(family, rows, chances, strict=True):
                if p <= level:
                    rise = _slope(row) * (len(row) - 1)
                    if abs(rise) > self.bounds[number]:
                        shifts[number] = rise
        return shifts

    def _test(self, number: int, before: Runs, after: Runs) -> tuple[float, float] | None:
        """Return the p of "no change above the bound", times the borders, and the change.

        None when a side has no launches.
        """
        series = self.series[number]
        bound = self.bounds[number]
        a = _launches(series, before)
        b = _launches(series, after)
        if not (len(a) and len(b)):
            return None
        chances = ranktest.chances(len(a), len(b))
        # How many pairs rise, and fall, by less than the bound.
        lower = np.searchsorted(a, b - bound, "left")
        not_higher = np.searchsorted(a, b + bound, "right")
        rise_less = np.sum(len(a) - lower)
        fall_less = np.sum(not_higher)
        borders = sum(len(run) > 0 for run in series) - 1
        p = 2 * borders * min(chances[rise_less], chances[fall_less])
        shift = float(np.median(b) - np.median(a))
        return min(1.0, p), shift


def _launches(series: Series, runs: Runs) -> Floats:
    """Return the launches of a series in `runs`, sorted."""
    launches = [series[run] for run in runs]
    return np.sort(np.concatenate(launches))


def _slope(row: Floats) -> float:
    """Return the slope of the line through values, by run (Sen's slope)."""
    early, late = np.triu_indices(len(row), 1)
    slopes = (row[late] - row[early]) / (late - early)
    return float(np.nanmedian(slopes))


def _distance(values: Table) -> float:
    """Return how far the runs (columns) of each series lie from its median, in all."""
    series = values[np.isfinite(values).any(axis=1)]
    if not len(series):
        return 0.0
    middle = np.nanmedian(series, axis=1, keepdims=True)
    distances = np.abs(series - middle)
    return float(np.nansum(distances))


def _distance_from_line(values: Table) -> float:
    """Return how far the runs of each series lie from the line through them, in all."""
    slopes = np.array([[_slope(row)] for row in values])
    return _distance(values - slopes * np.arange(values.shape[1]))
