"""The tidy frame of a study: one row for each point, op and metric, one column for each factor."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ipclab.errors import LabError
from ipclab.stats.intervals import Estimate, rank, statistic_estimate
from ipclab.stats.modes import modes
from ipclab.stats.ranktest import drift
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.store.samples import Measured

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
SUMMARY = {*QUANTILES, "samples", "median", "mean", "sd", "min", "max"}
AGAIN = "thin the run again: ipclab bundle --samples"
DRIFT_P = 0.01  # a drift over the launches less likely than this is flagged
TAIL_SAMPLES = 10  # fewer samples above a quantile than this make it a guess: flagged
UNITS = tomllib.loads(Path(__file__).with_name("metrics.toml").read_text("utf-8"))
COUNTER_UNITS, FACT_UNITS = UNITS["counters"], UNITS["facts"]
VARYING = ("ns", "1/s", "B/s")  # units of what differs from session to session
VALUES = ("op", "metric", "unit", "value", "low", "high", "launches", "samples", "flags")
KEY = ("study", "point", "backend", "size_bytes", "placement")
Row = dict[str, Any]
ROUND = "round"  # among a launch's facts


def head(point: Point) -> Row:
    """Return what each row says of its point: study, name, levels."""
    return {"study": point.study, "point": point.id, **point.key()}


def point_rows(measured: Measured) -> Iterator[Row]:
    """Yield the rows of one point: its levels, then the columns `VALUES`."""
    about = head(measured.point)
    for op, metric, unit, held, flags in _metrics(measured):
        found = held.for_sessions() if unit in VARYING else held
        values = (op, metric, unit, found.value, found.low, found.high, found.launches, found.samples, ";".join(flags))
        yield about | dict(zip(VALUES, values, strict=True))


def launch_rows(measured: Measured) -> Iterator[Row]:
    """Yield one row for each launch, op and metric: median, mean, fastest and slowest sample, counters, conditions."""
    for number, launch in enumerate(measured.launches):
        about = head(measured.point) | {"launch": number, "order": launch.order, "flags": ";".join(launch.flags)}
        about[ROUND] = launch.facts.get(ROUND, number)  # a run of old has none
        about["relation"] = str(launch.facts.get("relation", ""))
        for op in launch.samples:
            known = summary(launch, op)
            for metric, name in {"p50": "median", "mean": "mean", "min": "min", "max": "max"}.items():
                yield about | {"op": op, "metric": metric, "unit": "ns", "value": known[name]}
        for op, counted in launch.counters.items():
            for name, number_of in counted.items():
                unit = COUNTER_UNITS.get(name, "count")
                yield about | {"op": op, "metric": name, "unit": unit, "value": float(number_of)}


def medians(point: Point, taken: Iterable[tuple[int, Mapping[str, float]]]) -> Iterator[Row]:
    """Yield the rows of a launch frame that contests need, from each launch's round and its medians by op."""
    about = head(point) | {"metric": "p50", "unit": "ns"}
    for number, found in taken:
        yield from (about | {ROUND: number, "op": op, "value": value} for op, value in found.items())


def frame(rows: Sequence[Row], columns: Sequence[str]) -> pd.DataFrame:
    """Return rows as a frame: key columns, further factors by name, then `columns`; whole numbers stay whole."""
    made = pd.DataFrame(rows)
    factors = sorted(set(made.columns) - set(KEY) - set(columns))
    made = made.reindex(columns=[*KEY, *factors, *columns])
    for name in (*factors, "size_bytes"):
        known = made[name].dropna()
        if len(known) and known.map(lambda level: isinstance(level, int | np.integer)).all():
            made[name] = made[name].astype("Int64" if made[name].isna().any() else "int64")
    return made


def _metrics(measured: Measured) -> Iterator[tuple[str, str, str, Estimate, tuple[str, ...]]]:
    """Yield op, metric, unit, estimate and flags: of times, of counters, and of what workers noted with each launch."""
    ops, flags, launches = measured.op_names(), _flags(measured), measured.launches
    first = launches[0]
    for op in (*ops, *(op for op in first.counters if op not in ops)):
        if op in ops:
            yield from ((op, *found) for found in _times(measured, op, flags))
        samples = sum(int(summary(launch, op)["samples"]) for launch in launches) if op in ops else 0
        for name in sorted(first.counters.get(op, {})):
            values = [launch.counters[op][name] for launch in launches]
            yield op, name, COUNTER_UNITS.get(name, "count"), statistic_estimate(values, samples), flags
    for name, known in first.facts.items():
        if isinstance(known, int | float) and name != ROUND:
            unit = next((unit for part, unit in FACT_UNITS.items() if part in name), "count")
            values = [float(launch.facts[name]) for launch in launches]  # type: ignore[arg-type]
            yield "launch", name, unit, statistic_estimate(values, len(values)), flags


def summary(launch: Launch, op: str) -> Mapping[str, float]:
    """Return of all samples of `op` their number, and in ns quantiles, median, mean, sd, the least and the largest.

    The quantile is the sample of its rank, the median the mean of both where two are in the middle. Raises `LabError`
    for a thinned launch that does not tell one of them.
    """
    if op in launch.whole:
        if lacking := SUMMARY - launch.whole[op].keys():
            raise LabError(f"a launch lacks the {min(lacking)} of {op}", "it was thinned by another version", AGAIN)
        return launch.whole[op]
    times = launch.times(op)
    ordered = np.sort(times)
    found = {name: ordered[rank(len(ordered), q)] for name, q in QUANTILES.items()}
    found |= {"median": np.median(times), "mean": times.mean(), "sd": times.std()}
    found |= {"min": ordered[0], "max": ordered[-1]}
    return {"samples": len(ordered), **{name: float(value) for name, value in found.items()}}


def _times(measured: Measured, op: str, flags: tuple[str, ...]) -> Iterator[tuple[str, str, Estimate, tuple[str, ...]]]:
    size, known = measured.point.size_bytes, [summary(launch, op) for launch in measured.launches]
    least, count = (int(of(each["samples"] for each in known)) for of in (min, sum))
    for metric, q in QUANTILES.items():
        few = ("few-samples",) if least * (1 - q) * len(known) < TAIL_SAMPLES else ()
        found = statistic_estimate([each[metric] for each in known], count)
        yield metric, "ns", found, flags + (few if metric != "p50" else _shape(measured, op))
        if metric == "p50" and "." not in op and size and found.low > 0:
            yield "bandwidth", "B/s", found.inverse(size * 1e9), flags
    for name, end in (("min", min(each["min"] for each in known)), ("max", max(each["max"] for each in known))):
        yield name, "ns", Estimate(end, end, end, len(known), count), flags
    for name in ("mean", "sd"):
        yield name, "ns", statistic_estimate([each[name] for each in known], count), flags


def _shape(measured: Measured, op: str) -> tuple[str, ...]:
    """Return what the medians do not show: a drift over the launches, and how many modes the samples have."""
    moved = drift([summary(launch, op)["median"] for launch in measured.launches])
    together = np.concatenate([launch.times(op) for launch in measured.launches])
    found = len(modes(together)) if together.min() > 0 else 1
    drifted = (f"drift:{moved.change:+.0%}",) if moved.p < DRIFT_P else ()
    return drifted + ((f"modes:{found}",) if found > 1 else ())


def _flags(measured: Measured) -> tuple[str, ...]:
    disturbed = [launch.flags for launch in measured.launches if launch.flags]
    share = (f"disturbed:{len(disturbed)}/{len(measured.launches)}",) if disturbed else ()
    failed = (f"failed-launches:{len(measured.failures)}",) if measured.failures else ()
    crowded = measured.launches[0].facts.get("ranks_per_cpu", 0)
    oversubscribed = ("oversubscribed",) if isinstance(crowded, int | float) and crowded > 1 else ()
    return (measured.stop, *oversubscribed, *share, *sorted({flag for flags in disturbed for flag in flags}), *failed)
