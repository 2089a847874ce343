"""What a mechanism promises, by what it is and by what was measured of it, not by what its documentation says."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ipclab.choose.need import NO_LOSS, SURVIVES
from ipclab.frames.address import quantity

DEMANDS = {"no-daemon": "daemon", "other-languages": "python", "across-hosts": "one host", "no-root": "root"}
WAITS, DROPS, ENDLESS = "waits", "drops", "no end seen"
SERVED, TORN, SILENT, STUCK = "served", "torn", "silent", "stuck"
RENEWED = ("recovered", "yes")  # op and metric: whether a new writer was received
FAILED = "failed-launches"  # a flag of points


@dataclass(frozen=True)
class Offer:
    """A mechanism that a need may take: what it `demands` of its users, and why it `refuses` a size (None: not)."""

    name: str
    demands: tuple[str, ...] = ()
    refuses: Callable[[int], str | None] = lambda size: None


def promised(points: pd.DataFrame, faults: pd.DataFrame, fault: str) -> dict[str, dict[str, Any]]:
    """Return what was measured of each mechanism, by name: messages lost, what it does when full, what a crash does.

    Its keys are lost, full, crash; None where nothing was measured. It follows from the point frame of a study and the
    launch frame `faults`, after `fault`. What is lost is not known where launches failed: one that lost a message has.
    """
    found: dict[str, dict[str, Any]] = defaultdict(lambda: {"lost": None, "full": None, "crash": None})
    for name, rows in points[points.op == "launch"].groupby("backend") if len(points) else ():
        counted = rows[rows.metric == "lost"]
        if len(counted) and not counted["flags"].str.contains(FAILED).any():
            found[str(name)]["lost"] = counted.high.max()
        found[str(name)]["full"] = _full(rows)
    for name, rows in faults[faults.fault == fault].groupby("backend") if len(faults) else ():
        found[str(name)]["crash"] = _survived(rows)
    return found


def kept(must: str, offer: Offer, told: dict[str, Any]) -> bool | None:
    """Return whether a mechanism keeps what a need says it must; None where that was not measured."""
    if must == NO_LOSS:
        return None if told["lost"] is None else not told["lost"] and told["full"] != DROPS
    if must == SURVIVES:
        return None if told["crash"] is None else told["crash"] == SERVED
    return DEMANDS[must] not in offer.demands


def _full(rows: pd.DataFrame) -> str | None:
    """Return what a mechanism did that nobody received from: of one whose messages are read later none may be gone."""
    found = {name: [quantity(row) for row in part.itertuples()] for name, part in rows.groupby("metric")}
    if not {"accepted", "delivered", "refused"} <= found.keys():
        return None
    gone = any(one.value > other.value for one, other in zip(found["accepted"], found["delivered"], strict=True))
    return DROPS if gone else WAITS if any(each.value for each in found["refused"]) else ENDLESS


def _survived(rows: pd.DataFrame) -> str:
    values: Any = rows.groupby(["op", "metric"]).value
    least, most = values.min().to_dict(), values.max().to_dict()
    if most.get(("messages", "torn")) or (RENEWED in most and most.get(("noticed", "half"))):
        return TORN
    if least.get(RENEWED, 1) < 1:
        return STUCK
    return SILENT if most.get(("noticed", "silence")) else SERVED
