"""The tidy table: one row for each point, op and metric, with its interval."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ipclab.points import Level, Point
from ipclab.runs.samples import Measured
from ipclab.stats.drift import drift
from ipclab.stats.intervals import Estimate, Samples, inverse, quantile_estimate, statistic_estimate
from ipclab.stats.modes import modes

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
DRIFT_P = 0.01  # a drift over the launches less likely than this is flagged
TAIL_SAMPLES = 10  # fewer samples above a quantile than this make it a guess: flagged
COUNTER_UNITS = {
    **{"cpu_ns": "ns", "queued_share": "share", "bytes_allocated": "B", "bytes_per_file": "B"},
    **{"receiver_bytes_allocated": "B", "fairness": "1"},
    **dict.fromkeys(("execution_share", "io_wait_share", "work_wait_share", "preempted_share"), "share"),
}
FACT_UNITS = {"_ns": "ns", "_per_second": "1/s", "_share": "share", "bytes": "B"}  # by a part of the name
Seed = Callable[[str], int]
COLUMNS = (
    *("study", "point", "backend", "op", "size_bytes", "placement", "levels", "metric", "unit"),
    *("value", "low", "high", "launches", "samples", "flags"),
)


@dataclass(frozen=True)
class Row:
    """One metric of one op of one point."""

    point: Point
    op: str
    metric: str
    unit: str
    estimate: Estimate
    flags: tuple[str, ...]

    @cached_property
    def levels(self) -> dict[str, Level]:
        """Return the study and all levels of the row's point."""
        return {"study": self.point.study, **self.point.key()}

    def cells(self) -> tuple[str | int | float, ...]:
        """Return the row in the order of `COLUMNS`; numbers as they are."""
        point, found = self.point, self.estimate
        levels = json.dumps(point.levels, sort_keys=True)
        head = (point.study, point.id, point.backend, self.op, point.size_bytes, point.placement, levels)
        values = tuple(_short(value) for value in (found.value, found.low, found.high))
        return (*head, self.metric, self.unit, *values, found.launches, found.samples, ";".join(self.flags))


def _short(value: float) -> float | int:
    """Round to nine digits, so that a table shows no digits that the arithmetic made up."""
    short = float(f"{value:.9g}")
    return int(short) if short.is_integer() else short


def read_row(cells: dict[str, str]) -> Row:
    """Return the row that `Row.cells` wrote as text; its estimate has an interval but no bootstrap draws."""
    head = cells["study"], cells["backend"], int(cells["size_bytes"]), cells["placement"]
    point = Point(*head, json.loads(cells["levels"]))
    value, low, high = (float(cells[name]) for name in ("value", "low", "high"))
    found = Estimate(value, low, high, int(cells["launches"]), int(cells["samples"]), np.empty(0))
    flags = tuple(cells["flags"].split(";"))
    return Row(point, cells["op"], cells["metric"], cells["unit"], found, flags)


class Rows(list[Row]):
    """Rows that can be asked for by level."""

    def find(self, op: str, metric: str = "p50", /, **levels: Level) -> Row | None:
        """Return the row of `op` and `metric` whose point has all `levels`, or None when it was not measured.

        Raises `LookupError` when several points match.
        """
        found = self.all(op, metric, **levels)
        if len(found) > 1:
            raise LookupError(f"{len(found)} points have {levels}")
        return found[0] if found else None

    def all(self, op: str, metric: str = "p50", /, **levels: Level) -> "Rows":
        """Return the rows of `op` and `metric` whose points have all `levels`."""
        wanted = levels.items()
        return Rows(row for row in self._by_metric.get((op, metric), ()) if wanted <= row.levels.items())

    @cached_property
    def _by_metric(self) -> dict[tuple[str, str], list[Row]]:
        """Return the rows by op and metric, made at the first question: rows are complete by then."""
        found: dict[tuple[str, str], list[Row]] = {}
        for row in self:
            found.setdefault((row.op, row.metric), []).append(row)
        return found


def tidy(measured: Iterable[Measured]) -> Rows:
    """Return the rows of all points in the order given."""
    return Rows(row for each in measured for row in _point_rows(each))


def _point_rows(measured: Measured) -> Iterator[Row]:
    ops = measured.op_names()
    for op in (*ops, *(op for op in measured.launches[0].counters if op not in ops)):

        def seed(metric: str, op: str = op) -> int:
            return int.from_bytes(hashlib.sha256(f"{measured.point.id} {op} {metric}".encode()).digest()[:8])

        if op in ops:
            yield from _times(measured, op, seed)
        yield from _counters(measured, op, seed)
    yield from _launch_facts(measured)


def _launch_facts(measured: Measured) -> Iterator[Row]:
    """Yield the numbers that the workers noted with each launch, such as its total time, as op `launch`."""
    for name, first in measured.launches[0].facts.items():
        if not isinstance(first, int | float):
            continue
        unit = next((unit for part, unit in FACT_UNITS.items() if part in name), "count")
        seed = int.from_bytes(hashlib.sha256(f"{measured.point.id} launch {name}".encode()).digest()[:8])
        values = [float(launch.facts[name]) for launch in measured.launches]  # type: ignore[arg-type]
        yield Row(measured.point, "launch", name, unit, statistic_estimate(values, len(values), seed), _flags(measured))


def _times(measured: Measured, op: str, seed: Seed) -> list[Row]:
    point, flags = measured.point, _flags(measured)
    launches = [np.sort(launch.times(op)) for launch in measured.launches]
    rows = []
    for metric, q in QUANTILES.items():
        few = ("few-samples",) if min(len(x) for x in launches) * (1 - q) * len(launches) < TAIL_SAMPLES else ()
        found = quantile_estimate(launches, q, seed(metric))
        rows.append(Row(point, op, metric, "ns", found, flags + (few if metric != "p50" else _shape(measured, op))))
    rows += [Row(point, op, metric, "ns", found, flags) for metric, found in _moments(launches, seed)]
    if "." not in op and point.size_bytes and rows[0].estimate.low > 0:
        bandwidth = inverse(rows[0].estimate, point.size_bytes * 1e9)
        rows.append(Row(point, op, "bandwidth", "B/s", bandwidth, flags))
    return rows


def _moments(launches: Sequence[Samples], seed: Seed) -> list[tuple[str, Estimate]]:
    count = sum(len(values) for values in launches)
    largest = float(max(values[-1] for values in launches))
    smallest = float(min(values[0] for values in launches))
    return [
        ("min", Estimate(smallest, smallest, smallest, len(launches), count, np.array([smallest]))),
        ("max", Estimate(largest, largest, largest, len(launches), count, np.array([largest]))),
        ("mean", statistic_estimate([float(values.mean()) for values in launches], count, seed("mean"))),
        ("sd", statistic_estimate([float(values.std()) for values in launches], count, seed("sd"))),
    ]


def _counters(measured: Measured, op: str, seed: Seed) -> list[Row]:
    samples = sum(len(values) for launch in measured.launches for name, values in launch.samples.items() if name == op)
    rows = []
    for name in measured.launches[0].counters.get(op, {}):
        found = statistic_estimate([launch.counters[op][name] for launch in measured.launches], samples, seed(name))
        rows.append(Row(measured.point, op, name, COUNTER_UNITS.get(name, "1/op"), found, _flags(measured)))
    return rows


def _shape(measured: Measured, op: str) -> tuple[str, ...]:
    """Return what the medians do not show: a drift over the launches, and how many modes the samples have."""
    samples = [launch.times(op) for launch in measured.launches]
    moved = drift([float(np.median(values)) for values in samples])
    together = np.concatenate(samples)
    found = len(modes(together)) if together.min() > 0 else 1
    return (
        *((f"drift:{moved.change:+.0%}",) if moved.p < DRIFT_P else ()),
        *((f"modes:{found}",) if found > 1 else ()),
    )


def _flags(measured: Measured) -> tuple[str, ...]:
    disturbed = [launch for launch in measured.launches if launch.flags]
    names = sorted({flag for launch in disturbed for flag in launch.flags})
    share = f"disturbed:{len(disturbed)}/{len(measured.launches)}"
    failed = (f"failed-launches:{len(measured.failures)}",) if measured.failures else ()
    crowded = measured.launches[0].facts.get("ranks_per_cpu", 0)
    oversubscribed = ("oversubscribed",) if isinstance(crowded, int | float) and crowded > 1 else ()
    return (measured.stop, *oversubscribed, *((share, *names) if disturbed else ()), *failed)
