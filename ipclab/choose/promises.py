"""What a mechanism promises, by what it is and by what was measured of it, not by what its documentation says."""

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


@dataclass(frozen=True)
class Promises:
    """What was measured of each mechanism, by name: messages lost, what it does when full, and what a crash does."""

    lost: dict[str, float]
    full: dict[str, str]
    crash: dict[str, str]

    @classmethod
    def of(cls, points: pd.DataFrame, faults: pd.DataFrame, fault: str) -> "Promises":
        """Return the promises that the point frame of a study and the launch frame `faults` show, after `fault`.

        What a mechanism loses is not known where launches failed: one that lost a message has.
        """
        told = points[points.op == "launch"] if len(points) else points
        full = {str(name): _full(part) for name, part in told.groupby("backend")} if len(told) else {}
        return cls(_lost(told), {name: how for name, how in full.items() if how}, _crash(faults, fault))

    def told(self, backend: str) -> dict[str, Any]:
        """Return the columns lost, full, crash of a mechanism; None where nothing was measured."""
        return {"lost": self.lost.get(backend), "full": self.full.get(backend), "crash": self.crash.get(backend)}


def kept(must: str, offer: Offer, told: dict[str, Any]) -> bool | None:
    """Return whether a mechanism keeps what a need says it must; None where that was not measured."""
    if must == NO_LOSS:
        return None if told["lost"] is None else not told["lost"] and told["full"] != DROPS
    if must == SURVIVES:
        return None if told["crash"] is None else told["crash"] == SERVED
    return DEMANDS[must] not in offer.demands


def _lost(told: pd.DataFrame) -> dict[str, float]:
    counted = told[told.metric == "lost"] if len(told) else told
    if counted.empty:
        return {}
    failed = counted.backend[counted["flags"].str.contains(FAILED)]
    most: Any = counted[~counted.backend.isin(failed)].groupby("backend").high.max()
    return dict(most)


def _full(rows: pd.DataFrame) -> str:
    """Return what a mechanism did that nobody received from: of one whose messages are read later none may be gone."""
    found = {name: [quantity(row) for row in part.itertuples()] for name, part in rows.groupby("metric")}
    if not {"accepted", "delivered", "refused"} <= found.keys():
        return ""
    gone = any(one.value > other.value for one, other in zip(found["accepted"], found["delivered"], strict=True))
    return DROPS if gone else WAITS if any(each.value for each in found["refused"]) else ENDLESS


def _crash(faults: pd.DataFrame, fault: str) -> dict[str, str]:
    """Return what readers of each mechanism had after the writer was killed: by `fault`, in any of the launches."""
    mine = faults[faults.fault == fault] if len(faults) else faults
    return {str(name): _survived(part) for name, part in mine.groupby("backend")} if len(mine) else {}


def _survived(rows: pd.DataFrame) -> str:
    values: Any = rows.groupby(["op", "metric"]).value
    least, most = values.min().to_dict(), values.max().to_dict()
    if most.get(("messages", "torn")) or (RENEWED in most and most.get(("noticed", "half"))):
        return TORN
    if least.get(RENEWED, 1) < 1:
        return STUCK
    return SILENT if most.get(("noticed", "silence")) else SERVED
