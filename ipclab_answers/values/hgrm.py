"""The distribution of one op in the text form of HdrHistogram, as its plotters read it."""

import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from ipclab.errors import UsageError
from ipclab.frames.metrics import summary
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured, decode

TICKS = 5  # steps for each halving of what is left to 100 %
HEAD = f" {'Value':>12} {'Percentile':>14} {'TotalCount':>10} {'1/(1-Percentile)':>14}"
NAMED = 3  # ops that are named where several are asked for


def text(run: RunFolder, table: pd.DataFrame) -> str:
    """Return the distribution, in ns, of the one op of one point that `table` has rows of.

    Raises `UsageError` where there are several, or none.
    """
    timed = table[table.metric == "max"].drop_duplicates(["study", "point", "op"])
    if len(timed) != 1:
        shown = ", ".join(f"{row.point} {row.op}" for row in timed.head(NAMED).itertuples())
        why = f"there are {len(timed)}: {shown}" if shown else "there are 0"
        fix = "choose by --study, --backend, --size, --placement, --op and --level"
        raise UsageError("hgrm holds one op of one point", why, fix)
    row = timed.iloc[0]
    name = f"points/{row.study}/{row.point}.parquet"
    measured = decode(run.checked(name)[name])
    return "\n".join(_lines(measured, str(row.op))) + "\n"


def _lines(measured: Measured, op: str) -> Iterator[str]:
    launches = pd.DataFrame([summary(launch, op) for launch in measured.launches])
    total = round(launches.samples.sum())
    values, counts = _counted(measured, op)
    yield f"{HEAD}\n"
    for share in _ticks(total):
        rank = max(1, math.ceil(round(share * total, 6)))
        place = int(np.searchsorted(counts, rank))
        place = min(place, len(values) - 1)
        value = values[place]
        count = round(counts[place])
        yield _row(value, share, count) + f" {1 / (1 - share):14.2f}"
    largest = launches["max"].max()
    yield _row(largest, 1.0, total)
    mean = np.average(launches["mean"], weights=launches.samples)
    within = np.average(launches.sd**2, weights=launches.samples)
    apart = launches["mean"] - mean
    between = np.average(apart**2, weights=launches.samples)
    deviation = math.sqrt(within + between)
    yield f"#[Mean    = {mean:12.3f}, StdDeviation   = {deviation:12.3f}]"
    yield f"#[Max     = {largest:12.3f}, Total count    = {total:12d}]"
    yield f"#[Buckets = {0:12d}, SubBuckets     = {0:12d}]"


def _row(value: float, share: float, count: int) -> str:
    return f" {value:12.3f} {share:14.12f} {count:10d}"


def _counted(measured: Measured, op: str) -> tuple[np.ndarray, np.ndarray]:
    """Return samples in order, and how many there are up to each.

    A kept sample of a thinned launch stands for as many as its share is.
    """
    times = []
    weights = []
    for launch in measured.launches:
        kept = launch.times(op)
        stands_for = summary(launch, op)["samples"] / len(kept)
        times.append(kept)
        weights.append(np.full(len(kept), stands_for))
    values = np.concatenate(times)
    order = np.argsort(values, kind="stable")
    return values[order], np.cumsum(np.concatenate(weights)[order])


def _ticks(total: int) -> Iterator[float]:
    """Yield shares from 0 on, closer and closer to 1, as far as `total` samples tell apart."""
    share = 0.0
    while (1 - share) * total >= 1:
        yield share
        halvings = math.floor(math.log2(1 / (1 - share))) + 1
        share += 1 / (TICKS * 2**halvings)
