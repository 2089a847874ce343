"""Every number once more, from the raw samples alone and by the plainest arithmetic: nothing of
ipclab is used.
"""

import json
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

LEAST_BEYOND = 10  # samples beyond a quantile
SESSION, SEVERAL = 1_000_000, 3  # heats that a session has; sessions of which only medians count
SHARES = {"p90": 0.9, "p99": 0.99, "p99.9": 0.999}
SUMMED_UP = ("min", "max", "mean", "sd")


class Raw:
    """The raw points of a run, by study and name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.launches, self.told = cache(self._launches), cache(self._told)

    def _told(self, study: str, point: str) -> Any:
        """Return what the file of a point tells beside its samples."""
        file = self.folder / "points" / study / f"{point}.parquet"
        return json.loads(pq.read_metadata(file).metadata[b"ipclab"])

    def _launches(self, study: str, point: str) -> list[dict[str, Any]]:
        """Return the launches of a point, each with `ns`: op -> times of one operation."""
        table = pq.read_table(self.folder / "points" / study / f"{point}.parquet")
        launches: list[dict[str, Any]] = self.told(study, point)["launches"]
        columns = (table[name].to_pylist() for name in ("launch", "op", "ns"))
        for launch in launches:
            launch["ns"] = {}
        for number, op, ns in zip(*columns, strict=True):
            launches[number]["ns"].setdefault(op, []).append(ns)
        for launch in launches:
            for op, batch in launch["per"].items():
                launch["ns"][op] = [ns / batch for ns in launch["ns"][op]]
        return launches

    def size(self, study: str, point: str) -> int:
        """Return the payload of a point in bytes."""
        return int(self.told(study, point)["point"]["size_bytes"])

    def value(self, study: str, point: str, op: str, metric: str) -> float | None:
        """Return a metric of a point; None where too few samples lie beyond a quantile, or the
        point was thinned.
        """
        launches = self.launches(study, point)
        if metric in SHARES:
            thinned = any(op in launch.get("whole", {}) for launch in launches)
            return (
                None
                if thinned
                else quantile(
                    [ns for launch in launches for ns in launch["ns"][op]], SHARES[metric]
                )
            )
        if metric == "bandwidth":
            times = self.keyed(study, point, op, "p50").values()
            return self.size(study, point) * 1e9 / statistics.geometric_mean(times)
        if metric in ("min", "max"):
            values = [one(launch, op, metric) for launch in launches]
            return min(values) if metric == "min" else max(values)
        return mean_of(self.keyed(study, point, op, metric).values(), is_time(op, metric))

    def times(self, study: str, point: str, op: str) -> dict[int, float]:
        """Return by heat the median of an op."""
        found = {}
        for launch in self.launches(study, point):
            if heat := launch["facts"].get("heat"):
                found[heat] = one(launch, op, "p50")
        return found

    def apart(self, over: Sequence[str], under: Sequence[str]) -> float:
        """Return the ratio of two points over the launches of rounds of both."""
        ones, others = self.rounds(*over), self.rounds(*under)
        keys = ones.keys() & others.keys()
        over_mean, under_mean = (
            statistics.geometric_mean(side[key] for key in keys) for side in (ones, others)
        )
        return over_mean / under_mean

    def rounds(self, study: str, point: str, op: str) -> dict[int, float]:
        """Return by round the median of an op."""
        launches = self.launches(study, point)
        return {
            launch["facts"].get("round", number): one(launch, op, "p50")
            for number, launch in enumerate(launches)
        }

    def keyed(self, study: str, point: str, op: str, metric: str) -> dict[int, float]:
        """Return a metric by the heat of each launch, or by the launch's place in the run; of
        several sessions the mean of each.
        """
        launches = self.launches(study, point)
        keys = [
            launch["facts"].get("heat") or launch["order"] or number
            for number, launch in enumerate(launches)
        ]
        values = [one(launch, op, metric) for launch in launches]
        return by_session(dict(zip(keys, values, strict=True)), is_time(op, metric))

    def ratio(self, over: Sequence[str], under: Sequence[str]) -> float | None:
        """Return the ratio of two points (study, point, op) over the heats that both took part in;
        None without one.
        """
        return ratio_of(self.times(*over), self.times(*under))

    def between_sessions(self, over: Sequence[str], under: Sequence[str]) -> float | None:
        """Return the ratio of two points over the sessions that both have; None without one."""
        return ratio_of(sessions_of(self.times(*over)), sessions_of(self.times(*under)))

    def rival_ratio(self, over: Sequence[str], under: Sequence[str]) -> float:
        """Return the ratio of two points that stand in one contest."""
        shared = self.ratio(over, under) or self.between_sessions(over, under)
        return shared or self.apart(over, under)


def ratio_of(one_side: Mapping[int, float], other_side: Mapping[int, float]) -> float | None:
    """Return the ratio of two points over the heats (or sessions) that both have."""
    shared = one_side.keys() & other_side.keys()
    if not shared:
        return None
    over, under = (
        statistics.geometric_mean(by_session({heat: side[heat] for heat in shared}).values())
        for side in (one_side, other_side)
    )
    return over / under


def is_time(op: str, metric: str) -> bool:
    """Tell whether a metric is a time or a rate, which is above 0."""
    of_launch = op == "launch" and ("_ns" in metric or "_per_second" in metric)
    return of_launch or metric in ("p50", "cpu_ns", *SUMMED_UP)


def mean_of(values: Iterable[float], geometric: bool) -> float:
    """Return the geometric mean of what is all above 0, else the arithmetic one."""
    every = [*values]
    return (
        statistics.geometric_mean(every)
        if geometric and min(every) > 0
        else statistics.fmean(every)
    )


def in_sessions(heats: Iterable[int]) -> bool:
    """Tell whether heats are of so many sessions that these are compared."""
    return len({heat // SESSION for heat in heats}) >= SEVERAL


def sessions_of(times: dict[int, float]) -> dict[int, float]:
    """Return the mean of each session of times by heat; nothing of fewer sessions."""
    return by_session(times) if in_sessions(times) else {}


def by_session(by_heat: dict[int, float], geometric: bool = True) -> dict[int, float]:
    """Return the mean of each session by its number where there are several."""
    if not in_sessions(by_heat):
        return by_heat
    numbers = {heat // SESSION for heat in by_heat}
    geometric = geometric and min(by_heat.values()) > 0
    return {
        number: mean_of(
            [value for heat, value in by_heat.items() if heat // SESSION == number], geometric
        )
        for number in numbers
    }


def one(launch: Mapping[str, Any], op: str, metric: str) -> float:
    """Return a metric of one launch: of its samples, its counters or its facts."""
    if op == "launch":
        return float(launch["facts"][metric])
    if metric not in ("p50", *SUMMED_UP):
        return float(launch["counters"][op][metric])
    if op in launch.get("whole", {}):
        return float(launch["whole"][op]["median" if metric == "p50" else metric])
    how: dict[str, Callable[..., float]] = {
        "p50": statistics.median,
        "mean": statistics.fmean,
        "sd": statistics.pstdev,
        "min": min,
        "max": max,
    }
    return float(how[metric](launch["ns"][op]))


def quantile(times: Sequence[float], share: float) -> float | None:
    """Return the sample of the quantile's rank; None where too few lie beyond it."""
    place = math.ceil(share * len(times))
    return sorted(times)[place - 1] if len(times) - place >= LEAST_BEYOND else None
