"""What a mechanism promises, by what it is and what was measured of it, not by its manual."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ipclab_more.choose.need import NO_LOSS, SURVIVES

DEMANDS = {
    "no-daemon": "daemon",
    "other-languages": "python",
    "across-hosts": "one host",
    "no-root": "root",
}
WAITS, DROPS, ENDLESS = "waits", "drops", "no end seen"
SERVED, TORN, SILENT, STUCK = "served", "torn", "silent", "stuck"
RENEWED = ("recovered", "yes")  # op and metric: whether a new writer was received
COUNTS = "accepted", "delivered", "refused"  # of messages to one that nobody receives from
FAILED = "failed-launches"  # a flag of points
Promises = dict[str, Any]  # lost, full, crash: None where nothing was measured


@dataclass(frozen=True)
class Offer:
    """A mechanism that a need may take.

    It `demands` things of its users; `refused` says why it cannot have a size of the need.
    """

    name: str
    demands: tuple[str, ...] = ()
    refused: str = ""


def promising(points: pd.DataFrame) -> pd.DataFrame:
    """Return what `promised` asks of a study's point frame, of all mechanisms."""
    metrics = ["lost", *COUNTS]
    asked = (points.op == "launch") & points.metric.isin(metrics)
    return points.loc[asked, ["backend", "metric", "value", "high", "flags"]]


def promised(points: pd.DataFrame, faults: pd.DataFrame) -> Promises:
    """Return what was measured of a mechanism: messages lost, when full, after a crash.

    `points` are its rows of `promising`, `faults` those in the launch frame of one
    fault. What is lost is not known where launches failed: one that lost a message has.
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


def _when_full(rows: pd.DataFrame) -> str | None:
    """Return what a mechanism did that nobody received from; None where that was not measured."""
    counts: dict[str, list[float]] = {name: [] for name in COUNTS}
    for metric, value in zip(rows.metric, rows.value.fillna(0.0), strict=True):
        if metric in counts:
            counts[metric].append(value)
    if not all(counts.values()):
        return None
    for accepted, delivered in zip(counts["accepted"], counts["delivered"], strict=True):
        if accepted > delivered:  # messages that are read later are none the less delivered
            return DROPS
    return WAITS if any(counts["refused"]) else ENDLESS


def _after_crash(rows: pd.DataFrame) -> str:
    """Return what readers had after the writer was killed, the worst of all launches."""
    values = defaultdict[tuple[str, str], list[float]](list)
    for op, metric, value in zip(rows.op, rows.metric, rows.value, strict=True):
        values[op, metric].append(value)
    least = {key: min(each) for key, each in values.items()}
    most = {key: max(each) for key, each in values.items()}
    half = RENEWED in most and most.get(("noticed", "half"))
    if half or most.get(("messages", "torn")):
        return TORN
    if least.get(RENEWED, 1) < 1:
        return STUCK
    return SILENT if most.get(("noticed", "silence")) else SERVED
