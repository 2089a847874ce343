"""Faults in words: what was seen of each, what became of messages, and what was left behind."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from ipclab.frames.faults import most, mostly, seen
from ipclab.lab.catalogue import N_

if TYPE_CHECKING:
    from ipclab.lab.lab import Lab

ENDED = ("end", "half", "error")  # kinds in which the mechanism itself says that a peer is gone
PLACES = {"shared_memory": N_("/dev/shm"), "files": N_("own folder"), "queues": N_("kernel queues")}
LOSSES = {"lost": N_("lost"), "doubled": N_("doubled"), "reordered": N_("reordered"), "torn": N_("torn")}
SILENT = N_("not within {deadline}")
KILLED_COLUMNS = {"messages": N_("What became of messages"), "left": N_("Left behind")}
STOPPED_COLUMNS = (
    *(N_("Writer stopped: seen"), N_("Its messages"), N_("Reader stopped: the other waits for")),
    *(N_("Slow reader: the other waits for"), N_("Messages of the stopped reader")),
)
LOCKED_COLUMNS = (
    *(N_("A reader then gets"), N_("A new writer succeeds"), N_("Its content is read after"), N_("Left behind")),
)


class Faults:
    """The faults of a run, of its launch and point frames, as a notebook tells them."""

    def __init__(self, lab: "Lab") -> None:
        self.lab = lab
        self.launches, self.medians = lab.launches("faults"), lab.points("faults", metric="p50")
        self.kinds = seen(self.launches, "noticed")
        self.losses, self.remains = most(self.launches, "messages"), most(self.launches, "left")

    def counted(self, found: pd.DataFrame) -> "pd.Series[str]":
        """Return rows of `seen` as text by mechanism and fault: what was seen, and of how many faults."""
        words = [
            f"{self.lab.level('kind', row['kind'])} {row['hits']}/{row['trials']}"
            + ("" if row["hits"] == row["trials"] else f" [{row['low']:.0%}–{row['high']:.0%}]")
            for row in found.to_dict("records")
        ]
        return found.assign(told=words).groupby(["backend", "fault"]).told.agg(self.lab.joined)

    def named(self, backends: Iterable[str]) -> str:
        """Return mechanisms as a list, or a word for none."""
        return self.lab.joined(sorted(set(backends))) or self.lab.say(N_("none"))

    def lost(self, backend: str, fault: str) -> str:
        """Return how many messages were lost or came otherwise than sent: the median, and the most of a launch."""
        rows = _of(self.losses, backend, fault)
        told = rows.to_dict("records")
        parts = (f"{self.lab.say(LOSSES[row['metric']])} {row['median']:.0f} (≤ {row['most']:.0f})" for row in told)
        return self.lab.joined(parts) or self.lab.say(N_("none"))

    def left(self, backend: str, fault: str) -> str:
        """Return what was left in the system before anything was cleaned up: the most of a launch."""
        rows = _of(self.remains, backend, fault)
        counts = {self.lab.say(PLACES[row["metric"]]): f"{row['most']:.0f}" for row in rows.to_dict("records")}
        parts = (self.lab.say(N_("{place}: {count}"), place=place, count=count) for place, count in counts.items())
        return self.lab.joined(parts) or self.lab.say(N_("none"))

    def killed(self, fault: str, deadline: Any) -> pd.DataFrame:
        """Return the table of one way to be killed, by mechanism; empty without any."""
        rows = self.medians[(self.medians.op == "noticed") & (self.medians.fault == fault)]
        if rows.empty:
            return pd.DataFrame()
        cells = self.lab.cells(rows, watched=("watched", "p50"), recovered=("recovered", "p50"))
        usual, silent = mostly(self.kinds, ENDED), self.lab.say(SILENT, deadline=deadline)
        told: dict[str, Any] = {
            "noticed": [row.cell if (row.backend, fault) in usual else silent for row in cells.itertuples()],
            "messages": [self.lost(name, fault) for name in cells.backend],
            "left": [self.left(name, fault) for name in cells.backend],
        }
        made = cells.assign(**told).set_index("backend")[["noticed", "watched", "messages", "left", "recovered"]]
        return made.rename(columns={name: self.lab.say(text) for name, text in KILLED_COLUMNS.items()})

    def stopped(self) -> pd.DataFrame:
        """Return what a stopped and a slow process do to the others, by mechanism; empty without any."""
        waits = self.stopped_readers()
        if waits.empty:
            return pd.DataFrame()
        slow = self.lab.cells(self.lab.points("faults", op="gap", metric="p90", fault="slow-reading"))
        writer = self.counted(self.kinds[self.kinds.fault == "stopped-writing"]).droplevel("fault")
        lost = {
            fault: pd.Series({name: self.lost(name, fault) for name in writer.index})
            for fault in ("stopped-writing", "stopped-reading")
        }
        parts = (writer, lost["stopped-writing"], waits, slow.set_index("backend").cell, lost["stopped-reading"])
        return self._columns(dict(zip(STOPPED_COLUMNS, parts, strict=True)))

    def stopped_readers(self) -> "pd.Series[Any]":
        """Return the longest wait of the other consumer beside a stopped one, by mechanism."""
        rows = self.medians[(self.medians.op == "longest-gap") & (self.medians.fault == "stopped-reading")]
        return self.lab.cells(rows).set_index("backend").cell if len(rows) else pd.Series(dtype=object)

    def locked(self) -> pd.DataFrame:
        """Return what a writer that is killed inside a write leaves to others, by store; empty without any."""
        fault = "killed-locked"
        rows = self.medians[(self.medians.fault == fault) & (self.medians.op == "recovered")]
        if rows.empty:
            return pd.DataFrame()
        cells = self.lab.cells(rows).set_index("backend").cell
        taken = seen(self.launches[self.launches.fault == fault], "recovered")
        again = {row.backend: f"{row.hits}/{row.trials}" for row in taken.itertuples() if row.kind == "yes"}
        parts = (
            self.counted(self.kinds[self.kinds.fault == fault]).droplevel("fault"),
            pd.Series({name: again.get(name, self.lab.say(N_("never"))) for name in cells.index}),
            cells,
            pd.Series({name: self.left(name, fault) for name in cells.index}),
        )
        return self._columns(dict(zip(LOCKED_COLUMNS, parts, strict=True)))

    def _columns(self, parts: Mapping[str, Any]) -> pd.DataFrame:
        return pd.DataFrame({self.lab.say(name): part for name, part in parts.items()}).rename_axis("backend")


def _of(counters: pd.DataFrame, backend: str, fault: str) -> pd.DataFrame:
    return counters[(counters.backend == backend) & (counters.fault == fault) & (counters.most > 0)]
