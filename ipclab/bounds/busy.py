"""How many CPUs a point kept busy, which cannot be more than it had."""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from ipclab.store.launch import BUSY

SAME = "same"  # the placement of all processes on one CPU
# ops: CPU time of both ends in a trip's share of a turn, and that time
CPU, PERIOD = "cpu", "period"
TOLERANCE = 1.1  # the kernel adds CPU time up at its own times
# CPU time of a launch that is not looked at, a slice of the scheduler: an end may have had the CPU
# before the other one began to count. The most that was seen, on a loaded machine, was 2.5 ms.
APART_NS = 4e6


def beyond_cpus(points: pd.DataFrame, machine: Mapping[str, Any]) -> list[str]:
    """Return one line for each share of time that is above the CPUs of `machine`, or of placement.

    `points` is a study's point frame, `machine` the facts of the run's. A machine that does not
    tell its CPUs bounds those on one CPU alone.
    """
    if points.empty:
        return []
    cores = machine.get("cores") or float("inf")
    lines = []
    for row in [*_counted(points), *_timed(points)]:
        most = 1 if row["placement"] == SAME else cores
        if row["value"] <= most * TOLERANCE:
            continue
        began_apart = row["spent"] * (1 - most / row["value"]) <= APART_NS  # not where unknown
        if not began_apart:
            kept = f"{row['op']} kept {row['value']:.2f} CPUs busy, of {most:g}"
            lines.append(f"{row['study']} {row['point']}: {kept}")
    return lines


def _counted(points: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """Return the shares that were counted beside the times of an op, with the CPU time (ns) of a
    launch that they are of, which is counted with them.
    """
    counted = points[points.metric == "cpu_ns"]
    spent = counted.value * counted.samples / counted.launches
    known = counted[["point", "op"]].assign(spent=spent)
    shares = points[points.metric == BUSY]
    return shares.merge(known, on=["point", "op"], how="left").to_dict("records")


def _timed(points: pd.DataFrame) -> list[dict[Hashable, Any]]:
    """Return the shares of turns whose CPU time and time are ops of their own."""
    medians = points[(points.metric == "p50") & points.op.isin([CPU, PERIOD])]
    if not {CPU, PERIOD} <= set(medians.op):
        return []
    both = medians[medians.op == CPU].merge(
        medians.loc[medians.op == PERIOD, ["point", "value"]], on="point", suffixes=("", "_of")
    )
    spent = both.value * both.samples / both.launches
    return both.assign(value=both.value / both.value_of, spent=spent).to_dict("records")
