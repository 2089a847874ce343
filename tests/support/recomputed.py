"""Every number once more, from the raw samples alone and by the plainest arithmetic: nothing of
ipclab is used.
"""

import json
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

LEAST_BEYOND = 10  # samples beyond a quantile
SESSION, SEVERAL = 1_000_000, 3  # heats that a session has; sessions of which only medians count
SHARES = {"p90": 0.9, "p99": 0.99, "p99.9": 0.999}
SUMMED_UP = ("min", "max", "mean", "sd")


class Raw:
    """The raw points of a run, by study and name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.launches = cache(self._launches)

    def _launches(self, study: str, point: str) -> list[dict[str, Any]]:
        """Return the launches of a point, each with `ns`: op -> times of one operation."""
        file = self.folder / "points" / study / f"{point}.parquet"
        table = pq.read_table(file)
        launches: list[dict[str, Any]] = json.loads(pq.read_metadata(file).metadata[b"ipclab"])[
            "launches"
        ]
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
        file = self.folder / "points" / study / f"{point}.parquet"
        return int(json.loads(pq.read_metadata(file).metadata[b"ipclab"])["point"]["size_bytes"])

    def by_launch(self, study: str, point: str, op: str, metric: str) -> list[float]:
        """Return a metric in each launch."""
        return [one(launch, op, metric) for launch in self.launches(study, point)]

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
            return self.size(study, point) * 1e9 / statistics.median(times)
        if metric in ("min", "max"):
            return {"min": min, "max": max}[metric](self.by_launch(study, point, op, metric))
        return statistics.median(self.keyed(study, point, op, metric).values())

    def turns(self, study: str, point: str, op: str) -> dict[int, list[float]]:
        """Return by heat the medians of the turns of an op, or of the whole launch where it takes
        none.
        """
        found = {}
        for launch in self.launches(study, point):
            if heat := launch["facts"].get("heat"):
                found[heat] = turn_medians(launch, op) or [one(launch, op, "p50")]
        return found

    def shift(self, over: Sequence[str], under: Sequence[str]) -> float:
        """Return the ratio of two points by the median of all log ratios of their launches in
        rounds of both, or of the sessions of one with what the other has.
        """
        if any(in_sessions(self.turns(*each)) for each in (over, under)):
            ones, others = (
                self.keyed(study, point, op, "p50") for study, point, op in (over, under)
            )
            keys, other_keys = {*ones}, {*others}
        else:
            ones, others = self.rounds(*over), self.rounds(*under)
            keys = other_keys = {*ones} & {*others}
        logs = [math.log(ones[a]) - math.log(others[b]) for a in keys for b in other_keys]
        return math.exp(statistics.median(logs))

    def rounds(self, study: str, point: str, op: str) -> dict[int, float]:
        """Return by round the median of an op."""
        launches = self.launches(study, point)
        return {
            launch["facts"].get("round", number): one(launch, op, "p50")
            for number, launch in enumerate(launches)
        }

    def keyed(self, study: str, point: str, op: str, metric: str) -> dict[int, float]:
        """Return a metric by the heat of each launch, or by the launch's place in the run; of
        several sessions the median of each.
        """
        launches = self.launches(study, point)
        keys = [
            launch["facts"].get("heat") or launch["order"] or number
            for number, launch in enumerate(launches)
        ]
        values = [one(launch, op, metric) for launch in launches]
        return by_session(dict(zip(keys, values, strict=True)))

    def ratio(self, over: Sequence[str], under: Sequence[str]) -> float | None:
        """Return the ratio of two points (study, point, op) over the heats that both took part in;
        None without one.
        """
        return ratio_of(self.turns(*over), self.turns(*under))

    def between_sessions(self, over: Sequence[str], under: Sequence[str]) -> float | None:
        """Return the ratio of two points over the sessions that both have; None without one."""
        return ratio_of(sessions_of(self.turns(*over)), sessions_of(self.turns(*under)))

    def rival_ratio(self, over: Sequence[str], under: Sequence[str]) -> float:
        """Return the ratio of two points that stand in one contest."""
        shared = self.ratio(over, under) or self.between_sessions(over, under)
        return shared or self.shift(over, under)


def ratio_of(
    one_side: Mapping[int, Sequence[float]], other_side: Mapping[int, Sequence[float]]
) -> float | None:
    """Return the ratio of two points' turns over the heats (or sessions) that both have."""
    shared = one_side.keys() & other_side.keys()
    logs = by_session({heat: log_ratio(one_side[heat], other_side[heat]) for heat in shared})
    return math.exp(statistics.fmean(logs.values())) if logs else None


def in_sessions(heats: Iterable[int]) -> bool:
    """Tell whether heats are of so many sessions that these are compared."""
    return len({heat // SESSION for heat in heats}) >= SEVERAL


def sessions_of(turns: dict[int, list[float]]) -> dict[int, list[float]]:
    """Return the median of each session of what has turns by heat; nothing of fewer sessions."""
    medians = {heat: statistics.median(values) for heat, values in turns.items()}
    found = by_session(medians) if in_sessions(turns) else {}
    return {number: [value] for number, value in found.items()}


def by_session(by_heat: dict[int, float]) -> dict[int, float]:
    """Return the median of each session by its number where there are several."""
    if not in_sessions(by_heat):
        return by_heat
    numbers = {heat // SESSION for heat in by_heat}
    return {
        number: statistics.median(
            value for heat, value in by_heat.items() if heat // SESSION == number
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


def turn_medians(launch: Mapping[str, Any], op: str) -> list[float]:
    """Return the median of each turn of an op."""
    counts = launch.get("turns", {}).get(op, [])
    if op in launch.get("whole", {}):
        return [launch["whole"][op][f"turn-{number}"] for number in range(len(counts))]
    ends = np.cumsum([0, *counts]).tolist()
    return [statistics.median(launch["ns"][op][begin:end]) for begin, end in pairwise(ends)]


def log_ratio(over: Sequence[float], under: Sequence[float]) -> float:
    """Return the logarithm of the ratio of two launches: turn by turn where they took as many."""
    if len(over) == len(under):
        return statistics.median(
            math.log(a) - math.log(b) for a, b in zip(over, under, strict=True)
        )
    return statistics.median(map(math.log, over)) - statistics.median(map(math.log, under))


def quantile(times: Sequence[float], share: float) -> float | None:
    """Return the sample of the quantile's rank; None where too few lie beyond it."""
    place = math.ceil(share * len(times))
    return sorted(times)[place - 1] if len(times) - place >= LEAST_BEYOND else None
