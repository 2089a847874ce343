"""Any quantile of a point or a launch; none where too few samples lie beyond it."""

import math

import numpy as np
import pandas as pd

from ipclab.errors import LabError
from ipclab.frames import derived
from ipclab.frames.metrics import QUANTILES, TAILS, quantiles
from ipclab.quantile import MEDIAN
from ipclab.stats.intervals import LEAST_BEYOND, Estimate, pooled, rank
from ipclab.store.door import measured_points
from ipclab.store.launch import Launch
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured


def metric(quantile: float) -> str:
    """Return what a quantile is called among metrics: p99.9 for 0.999."""
    return f"p{100 * quantile:.10g}"


def enough(samples: "pd.Series[int]", quantile: float) -> "pd.Series[bool]":
    """Tell of each number of samples whether enough lie beyond a quantile (0.5: always)."""
    beyond = samples - np.ceil(quantile * samples)
    return (beyond >= LEAST_BEYOND) | (quantile == MEDIAN)


def of_point(measured: Measured, op: str, quantile: float) -> Estimate | None:
    """Return a quantile of all samples of `op` with its interval, or None; above the median.

    Raises `LabError` for a thinned point that did not keep this one.
    """
    if (name := metric(quantile)) in TAILS:
        return quantiles(measured, op)[name]
    if op in measured.launches[0].whole:
        raise _not_kept(name)
    return pooled([launch.times(op) for launch in measured.launches], quantile)


def of_launch(launch: Launch, op: str, quantile: float) -> float:
    """Return a quantile of one launch's samples, NaN where too few; raises as `of_point`."""
    if quantile == MEDIAN:
        return launch.median(op)
    name = metric(quantile)
    whole = launch.whole.get(op)
    if whole is not None and name not in QUANTILES:
        raise _not_kept(name)
    count = int(whole["samples"]) if whole is not None else len(launch.samples[op])
    place = rank(count, quantile)
    if count - 1 - place < LEAST_BEYOND:
        return math.nan
    return whole[name] if whole is not None else float(np.sort(launch.times(op))[place])


def quantiles_by_launch(run: RunFolder, study: str, quantile: float) -> pd.DataFrame:
    """Return the launch frame of `study`, each launch's quantile in place of its median.

    It is NaN in launches with too few samples. Raises as `of_point` does.
    """
    launches = derived.read_frame(run, study, "launches")
    launches = launches[launches.metric == "p50"]
    if quantile == MEDIAN:
        return launches
    values = dict[tuple[str, int, str], float]()
    for measured in measured_points(run, study):
        for number, launch in enumerate(measured.launches):
            for op in launch.op_names():
                values[measured.point.id, number, op] = of_launch(launch, op, quantile)
    keys = zip(launches.point, launches.launch, launches.op, strict=True)
    return launches.assign(value=[values[key] for key in keys])


def too_few(quantile: float) -> LabError:
    """Return what to raise where no point has enough samples for a quantile."""
    needed = math.ceil((LEAST_BEYOND + 1) / (1 - quantile))
    why = f"{LEAST_BEYOND} samples must lie beyond it, which takes some {needed:,}"
    return LabError(
        f"{metric(quantile)} is not known",
        why,
        "ask for a lower one, or measure under a higher profile",
    )


def _not_kept(name: str) -> LabError:
    kept = ", ".join(f"{q:g}" for q in QUANTILES.values())
    return LabError(f"the run did not keep {name}", "it was thinned", f"choose one of {kept}")
