"""The numbers of a point: quantiles, means, counters with estimates over launches, flags."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from ipclab.errors import LabError
from ipclab.paths import table_beside
from ipclab.stats.intervals import VARYING, Estimate, pooled, rank, statistic_estimate
from ipclab.stats.quantity import FEW_SAMPLES
from ipclab.stats.shape import count_modes, drift, drift_p
from ipclab.store.launch import Launch
from ipclab.store.samples import Measured

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}
SUMMARY = {*QUANTILES, "samples", "median", "mean", "sd", "min", "max"}
AGAIN = "thin the run again: ipclab bundle --samples"
ENOUGH = 1 << 20  # samples that show their modes; of more, some are looked at
DRIFT_P = 0.01  # a drift over the launches less likely than this is flagged
# of the samples of all launches
TAILS = {metric: q for metric, q in QUANTILES.items() if metric != "p50"}
POOLED, THIN_VERSION = "pooled-", "pooled"  # in what a thinned launch keeps
UNITS = table_beside(__file__, "metrics.toml")
COUNTER_UNITS, FACT_UNITS = UNITS["counters"], UNITS["facts"]
# among a launch's facts: in which round, and in which heat of the run
ROUND, HEAT = "round", "heat"
RANKS_PER_CPU = "ranks_per_cpu"  # among a launch's facts


class Metric(NamedTuple):
    """One number of a point: what it is of, its estimate, and its value in each launch.

    What has values by launch is estimated anew when its whole study is known
    (`ipclab.frames.estimates`).
    """

    op: str
    metric: str
    unit: str
    estimate: Estimate
    flags: list[str]
    by_launch: Sequence[float] = ()


def metrics(measured: Measured) -> Iterator[Metric]:
    """Yield what is known of times, of counters, and of what workers noted with each launch."""
    ops = measured.launches[0].op_names()
    flags = _flags(measured)
    launches = measured.launches
    first = launches[0]
    for op in dict.fromkeys((*ops, *first.counters)):
        summaries = [summary(launch, op) for launch in launches] if op in ops else []
        samples = int(sum(of_launch["samples"] for of_launch in summaries))
        if summaries:
            yield from _times(measured, op, summaries, flags)
        for name in sorted(first.counters.get(op, {})):
            values = [launch.counters[op][name] for launch in launches]
            unit = COUNTER_UNITS.get(name, "count")
            yield Metric(op, name, unit, by_itself(values, unit, samples), flags, values)
    for name, fact in first.facts.items():
        if isinstance(fact, int | float) and name not in (ROUND, HEAT):
            unit = next((unit for part, unit in FACT_UNITS.items() if part in name), "count")
            values = [float(launch.facts[name]) for launch in launches]  # type: ignore[arg-type]
            estimate = by_itself(values, unit, len(values))
            yield Metric("launch", name, unit, estimate, flags, values)


def by_itself(values: Sequence[float], unit: str, samples: int) -> Estimate:
    """Return the estimate of what each launch has, with the scatter of these launches alone."""
    return statistic_estimate(values, samples, logs=unit in VARYING)


def summary(launch: Launch, op: str) -> Mapping[str, float]:
    """Return of all samples of `op` their number and, in ns, quantiles, median, mean, sd, ends.

    Of a thinned launch, which has no others, the medians of turns are there, too.

    The quantile is the sample of its rank, the median the mean of both where two are in the middle.
    Raises `LabError` for a thinned launch that does not tell one of them.
    """
    if op in launch.whole:
        if lacking := SUMMARY - launch.whole[op].keys():
            what = f"a launch lacks the {min(lacking)} of {op}"
            raise LabError(what, "it was thinned by another version", AGAIN)
        return launch.whole[op]
    times = launch.times(op)
    ordered = np.sort(times)
    count = len(ordered)
    values = {name: ordered[rank(count, q)] for name, q in QUANTILES.items()}
    values |= {"median": ordered[(count - 1) // 2 : count // 2 + 1].mean()}
    values |= {"mean": times.mean(), "sd": times.std(), "min": ordered[0], "max": ordered[-1]}
    return {"samples": count, **{name: float(value) for name, value in values.items()}}


def _times(
    measured: Measured, op: str, summaries: Sequence[Mapping[str, float]], flags: list[str]
) -> Iterator[Metric]:
    size = measured.point.size_bytes
    launches = measured.launches
    by_launch = {name: [of_launch[name] for of_launch in summaries] for name in SUMMARY}
    count = int(sum(by_launch["samples"]))
    medians = by_launch["median"]
    told = [*flags, *_shape(measured, op, medians)]
    yield Metric(op, "p50", "ns", by_itself(medians, "ns", count), told, medians)
    if "." not in op and size and min(medians) > 0:
        rates = [size * 1e9 / value for value in medians]
        yield Metric(op, "bandwidth", "B/s", by_itself(rates, "B/s", count), flags, rates)
    for metric, quantile in quantiles(measured, op).items():
        empty = Estimate(np.nan, np.nan, np.nan, len(launches), count)
        few = [] if quantile else [FEW_SAMPLES]
        yield Metric(op, metric, "ns", quantile or empty, flags + few)
    for name, end in ("min", min(by_launch["min"])), ("max", max(by_launch["max"])):
        yield Metric(op, name, "ns", Estimate(end, end, end, len(launches), count), flags)
    for name in ("mean", "sd"):
        values = by_launch[name]
        yield Metric(op, name, "ns", by_itself(values, "ns", count), flags, values)


def quantiles(measured: Measured, op: str) -> dict[str, Estimate | None]:
    """Return each of `TAILS` of all samples of `op`, by metric; None where they are too few.

    Of a thinned point they are those that were kept when it was thinned; one that was thinned
    before they were kept has the medians over launches.
    """
    launches = measured.launches
    if op not in launches[0].whole:
        times = [launch.times(op) for launch in launches]
        return {metric: pooled(times, q) for metric, q in TAILS.items()}
    kept = [summary(launch, op) for launch in launches]
    count = int(sum(whole["samples"] for whole in kept))
    first = kept[0]
    by_metric: dict[str, Estimate | None] = {}
    for metric in TAILS:
        name = f"{POOLED}{metric}"
        if THIN_VERSION not in first:
            by_metric[metric] = statistic_estimate([whole[metric] for whole in kept], count)
        elif name in first:
            ends = first.get(f"{name}-low", -np.inf), first.get(f"{name}-high", np.inf)
            by_metric[metric] = Estimate(first[name], *ends, len(launches), count)
        else:
            by_metric[metric] = None
    return by_metric


def _shape(measured: Measured, op: str, medians: Sequence[float]) -> list[str]:
    """Return what medians do not show: a drift over the launches, and the samples' modes."""
    flags = []
    if drift_p(medians) < DRIFT_P:
        flags.append(f"drift:{drift(medians):+.0%}")
    step = 1 + sum(len(launch.samples[op]) for launch in measured.launches) // ENOUGH
    times = np.concatenate([launch.times(op)[::step] for launch in measured.launches])
    if times.min() > 0 and (count := count_modes(times)) > 1:
        flags.append(f"modes:{count}")
    return flags


def _flags(measured: Measured) -> list[str]:
    launches = measured.launches
    disturbed = [launch.flags for launch in launches if launch.flags]
    flags = [measured.stop]
    if crowded(launches[0]):
        flags.append("oversubscribed")
    if disturbed:
        flags.append(f"disturbed:{len(disturbed)}/{len(launches)}")
        flags += sorted({*chain.from_iterable(disturbed)})
    if measured.failures:
        flags.append(f"failed-launches:{len(measured.failures)}")
    return flags


def crowded(launch: Launch) -> bool:
    """Tell whether a launch had more ranks than CPUs, by intent."""
    ranks = launch.facts.get(RANKS_PER_CPU, 0)
    return isinstance(ranks, int | float) and ranks > 1
