"""What the frames of a run hold of each mechanism under the levels of a need: narrowed once."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from math import nan
from typing import Any

import pandas as pd

from ipclab.bounds import states
from ipclab.bounds.limits import with_limits
from ipclab.frames.metrics import HEAT, ROUND
from ipclab.frames.rows import narrowed, quantity
from ipclab.stats.compare import EQUIVALENCE
from ipclab.stats.quantity import Quantity, missing
from ipclab.store.questions import Questions
from ipclab_more.choose.need import Need
from ipclab_more.choose.promises import Promises, promised, promising
from ipclab_more.choose.times import timed

ABSENT = missing()
SECONDS = 0.1  # of a launch, where a run does not tell
KEYS = ["backend", "op", "metric"]
OF_TIMES = [*KEYS, "point", "value", ROUND, HEAT]  # what makes a contestant of a launch


@dataclass(frozen=True)
class Frames:
    """What a run holds that bears on a need.

    Frames of its study, launch frames of the limits and of faults, if any. `seconds` tells what a
    launch took in it on average, where that is asked; `bound` (a share) is what counts as the same.
    """

    points: pd.DataFrame
    launches: pd.DataFrame
    limits: pd.DataFrame = field(default_factory=pd.DataFrame)
    faults: pd.DataFrame = field(default_factory=pd.DataFrame)
    seconds: Callable[[], float] = lambda: SECONDS
    bound: float = EQUIVALENCE
    questions: Questions = field(default_factory=Questions)


def narrowed_to(need: Need, frame: pd.DataFrame, rate: float | None = None) -> pd.DataFrame:
    """Return the rows of a frame that have the need's levels, beside size and mechanism.

    No rows where the frame lacks one of these factors.
    """
    return _with_levels(need, frame, need.levels(rate))


def _with_levels(need: Need, frame: pd.DataFrame, levels: Mapping[str, Any]) -> pd.DataFrame:
    if levels.keys() <= set(frame):
        return narrowed(frame, levels)
    columns = frame.columns.union([need.size_column])
    return frame.iloc[:0].reindex(columns=columns)


class KnownRows:
    """The rows of a need, by mechanism."""

    def __init__(self, need: Need, frames: Frames) -> None:
        """Narrow `frames` to the levels of `need`."""
        self._need = need
        points = narrowed_to(need, frames.points)
        self._values = {False: self._most_launched(points)}
        closed = narrowed_to(need, frames.points, 0.0) if need.rate else points
        self._values[True] = self._most_launched(closed)
        times = timed(need, narrowed_to(need, frames.launches))
        columns = [*OF_TIMES, need.size_column]
        self.all_times = times[times.columns.intersection(columns)]
        self._times = _by_backend(self.all_times)
        self._launch_rows = _by_backend(promising(frames.points))
        self._no_rows = promising(frames.points.iloc[:0])
        faults = frames.faults
        self._faults = _by_backend(faults[faults.fault == need.fault]) if len(faults) else {}
        self._bounds = dict[Hashable, float]()
        if len(frames.limits):
            bounded = with_limits(timed(need, points), frames.limits, frames.questions)
            keys = ["backend", need.size_column]
            first = bounded.drop_duplicates(keys).set_index(keys).limit
            self._bounds = first.to_dict()
        alike = {need.size_column: list(need.size), "placement": need.placement}
        medians = _with_levels(need, timed(need, frames.points), alike)
        stated = states.states_joined(medians, frames.launches, frames.limits, frames.questions)
        self._slow: dict[str, float] = dict(zip(stated.point, stated.slow, strict=True))

    def values(self, backend: str, op: str, metric: str, closed: bool = False) -> list[Quantity]:
        """Return a metric for each size of the need, of the point that has most launches.

        With `closed` it is that of a closed loop, whatever rate the need has.
        """
        rows = self._values[closed]
        found = [rows.get((backend, op, metric, size)) for size in self._need.size]
        return [ABSENT if row is None else quantity(row) for row in found]

    def slower(self, backend: str) -> list[float]:
        """Return the median in its slower state (ns) for each size; NaN where none was measured."""
        rows = self._values[False]
        found = [rows.get((backend, self._need.op, "p50", size)) for size in self._need.size]
        return [nan if row is None else self._slow[row.point] for row in found]

    def times(self, backend: str) -> pd.DataFrame:
        """Return the launches' medians of the op that ranks mechanisms, at all sizes."""
        return self._times.get(backend, self.all_times.iloc[:0])

    def promises(self, backend: str) -> Promises:
        """Return what was measured of a mechanism beside its time."""
        rows = self._launch_rows.get(backend, self._no_rows)
        return promised(rows, self._faults.get(backend, pd.DataFrame()))

    def bounds(self, backend: str) -> list[float]:
        """Return what the hardware allows at each size of the need (ns); empty without limits."""
        if not self._bounds:
            return []
        return [self._bounds.get((backend, size), nan) for size in self._need.size]

    def _most_launched(self, points: pd.DataFrame) -> dict[Hashable, Any]:
        keys = [*KEYS, self._need.size_column]
        of_sizes = points[points[self._need.size_column].isin(list(self._need.size))]
        rows = of_sizes.sort_values("launches", ascending=False, kind="stable")
        rows = rows.drop_duplicates(keys)
        names = zip(*(rows[key] for key in keys), strict=True)
        return dict(zip(names, rows.itertuples(index=False), strict=True))


def _by_backend(frame: pd.DataFrame) -> dict[str, pd.DataFrame]:
    return {str(name): rows for name, rows in frame.groupby("backend")}
