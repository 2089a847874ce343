"""What the frames of a run hold of each mechanism under a need: times, and what it promises.

Promises are by what a mechanism is and what was measured of it, not by its manual.
"""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np
import pandas as pd

from ipclab.frames.rows import narrowed, quantity
from ipclab.stats.quantity import Quantity, missing
from ipclab_more.choose.need import NO_LOSS, SURVIVES, Need

ABSENT = missing()
DEMANDS = {
    "no-daemon": "daemon",
    "other-languages": "python",
    "across-hosts": "one host",
    "no-root": "root",
}
WAITS, DROPS, ENDLESS = "waits", "drops", "no end seen"
SERVED, TORN, SILENT, STUCK = "served", "torn", "silent", "stuck"
RENEWED = ("recovered", "yes")  # op and metric: whether a new writer was received
FAILED = "failed-launches"  # a flag of points
Promises = dict[str, Any]  # lost, full, crash: None where nothing was measured


@dataclass(frozen=True)
class Frames:
    """What a run holds that bears on a need.

    The points of its study with limits and states (`enriched_points`), the launch frames of its
    study and of faults, if any. `seconds` tells what a launch took in it on average, where that is
    asked; `bound` (a share) is what counts as the same.
    """

    points: pd.DataFrame
    launches: pd.DataFrame
    faults: pd.DataFrame
    seconds: Callable[[], float]
    bound: float


def narrowed_to(need: Need, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a frame that have the need's levels, beside size and mechanism.

    No rows where the frame lacks one of these factors.
    """
    levels = need.levels()
    if levels.keys() <= set(frame):
        return narrowed(frame, levels)
    return frame.iloc[:0].reindex(columns=frame.columns.union([need.size_column]))


class KnownRows:
    """The rows of a need: of its points, launches (`times`: medians of its op), `counts`, `faults`."""

    def __init__(self, need: Need, frames: Frames) -> None:
        """Narrow `frames` to the levels of `need`."""
        self._need = need
        points = narrowed_to(need, frames.points)
        closed = narrowed_to(need.closed, frames.points) if need.rate else points
        self._rows = {False: self._most_launched(points), True: self._most_launched(closed)}
        times = narrowed_to(need, frames.launches)
        self.times = times[(times.op == need.op) & (times.metric == "p50")]
        self.counts = frames.points[frames.points.op == "launch"]
        faults = frames.faults
        self.faults = faults[faults.fault == need.fault] if len(faults) else self.counts.iloc[:0]

    def values(self, backend: str, op: str, metric: str, closed: bool = False) -> list[Quantity]:
        """Return a metric for each size of the need, of the point that has most launches.

        With `closed` it is that of a closed loop, whatever rate the need has.
        """
        found = [self._rows[closed].get((backend, op, metric, size)) for size in self._need.size]
        return [ABSENT if row is None else quantity(row) for row in found]

    def mean(self, backend: str, column: str) -> float:
        """Return what stands beside the medians (ns) for the mix; NaN where it is not there."""
        found = [
            self._rows[False].get((backend, self._need.op, "p50", size)) for size in self._need.size
        ]
        cells = [getattr(row, column, nan) for row in found]
        return float(np.dot(cells, list(self._need.size.values())))

    def _most_launched(self, points: pd.DataFrame) -> dict[Hashable, Any]:
        keys = ["backend", "op", "metric", self._need.size_column]
        of_sizes = points[points[keys[-1]].isin(list(self._need.size))]
        rows = of_sizes.sort_values("launches", ascending=False, kind="stable")
        rows = rows.drop_duplicates(keys)
        names = rows[keys].itertuples(index=False, name=None)
        return dict(zip(names, rows.itertuples(index=False), strict=True))


@dataclass(frozen=True)
class Offer:
    """A mechanism that a need may take.

    It `demands` things of its users; `refused` says why it cannot have a size of the need.
    """

    name: str
    demands: tuple[str, ...] = ()
    refused: str = ""


def promised(points: pd.DataFrame, faults: pd.DataFrame) -> Promises:
    """Return what was measured of a mechanism: messages lost, when full, after a crash.

    `points` are its rows of the op `launch` in its study's point frame, `faults` those in the
    launch frame of one fault. What is lost is not known where launches failed: one that lost a
    message has.
    """
    lost = points[points.metric == "lost"]
    is_known = len(lost) and not lost["flags"].str.contains(FAILED).any()
    return {
        "lost": lost.high.max() if is_known else None,
        "full": _when_full(points),
        "crash": _after_crash(faults) if len(faults) else None,
    }


def promise_kept(must: str, offer: Offer, promises: Mapping[str, Any]) -> bool | None:
    """Return whether a mechanism keeps what a need demands; None where that was not measured."""
    if must == NO_LOSS:
        if promises["lost"] is None:
            return None
        return not promises["lost"] and promises["full"] != DROPS
    if must == SURVIVES:
        return None if promises["crash"] is None else promises["crash"] == SERVED
    return DEMANDS[must] not in offer.demands


def _when_full(points: pd.DataFrame) -> str | None:
    """Return what a mechanism did that nobody received from; None where that was not measured."""
    accepted, delivered, refused = (
        points.value[points.metric == name].fillna(0.0).tolist()
        for name in ("accepted", "delivered", "refused")
    )
    if not (accepted and delivered and refused):
        return None
    for given, come in zip(accepted, delivered, strict=True):
        if given > come:  # messages that are read later are none the less delivered
            return DROPS
    return WAITS if any(refused) else ENDLESS


def _after_crash(faults: pd.DataFrame) -> str:
    """Return what readers had after the writer was killed, the worst of all launches."""
    ends = faults.groupby(["op", "metric"], observed=True)["value"].agg(["min", "max"])
    least, most = ends["min"].to_dict(), ends["max"].to_dict()
    half = RENEWED in most and most.get(("noticed", "half"))
    if half or most.get(("messages", "torn")):
        return TORN
    if least.get(RENEWED, 1) < 1:
        return STUCK
    return SILENT if most.get(("noticed", "silence")) else SERVED
