"""Which mechanism to take for what: the contests' answer beside the text's advice."""

from dataclasses import dataclass

from ipclab.facts.comparisons import Contest
from ipclab.facts.fact import Fact
from ipclab.facts.shared_dict_levels import (
    ENTRY_NAMES,
    LARGE,
    LARGEST,
    STUDY,
    codec_question,
    contest,
    lmdb_question,
    question,
    usual_readers,
    where,
)
from ipclab.points import Level
from ipclab.report.catalogue import N_
from ipclab.report.table import Column, Table
from ipclab.stats.compare import EQUIVALENCE
from ipclab.tables.shared_dict import CODEC_NAMES
from ipclab.view import View

BOUND = Fact("equivalence", EQUIVALENCE, "share", kind="computed")
SMALL = next(iter(ENTRY_NAMES))
LMDB_NAMES = {"lmdb default": N_("lmdb, pages written"), "lmdb writemap": N_("lmdb, writable map")}
NAMES = {**CODEC_NAMES, **LMDB_NAMES}


@dataclass(frozen=True)
class Use:
    """One use: its words, the op that decides, the contest's arm (or another question), and the text's advice.

    `readers` None means the usual number.
    """

    words: str
    op: str
    arm: str
    entries: int
    advice: str
    readers: int | None = None

    def about(self, usual: int) -> str:
        """Return the question of the contest that decides."""
        if self.arm == "durable":
            return lmdb_question("on", usual)
        if self.arm == "codec":
            return codec_question("posix-shm", usual)
        return question(self.arm, self.readers or usual, self.entries)

    def point(self, fastest: str, usual: int) -> dict[str, Level]:
        """Return the levels of the point that the contest calls `fastest`."""
        if self.arm == "durable":
            backend, _, mapping = fastest.partition(" ")
            return where("read-many", backend, LARGE, usual, sync="on", map=mapping)
        if self.arm == "codec":
            return where("read-many", "posix-shm", LARGE, usual, codec=fastest)
        return where(self.arm, fastest, self.entries, self.readers or usual)


EITHER = "SharedMemory, LMDB"
USES = (
    Use(N_("many readers read the same data"), "read", "read-many", SMALL, EITHER),
    Use(N_("many readers read the same data"), "read", "read-many", LARGE, EITHER),
    Use(N_("many readers read the same data"), "read", "read-many", LARGEST, EITHER),
    Use(N_("the writer must lose least time"), "write", "read-many", SMALL, "SharedMemory"),
    Use(N_("the writer must lose least time"), "write", "read-many", LARGEST, "SharedMemory"),
    Use(N_("each update reaches every reader once"), "update", "stream", LARGE, "ZeroMQ"),
    Use(N_("each update reaches every reader once"), "update", "stream", LARGEST, "ZeroMQ"),
    Use(N_("each update reaches one reader once"), "update", "stream", LARGE, "ZeroMQ", 1),
    Use(N_("readers want the newest state"), "staleness", "live", LARGE, "–"),
    Use(N_("data outlive the processes, on disk at each commit"), "write", "durable", LARGE, "LMDB"),
    Use(N_("codec, the reader decides"), "read", "codec", LARGE, "–"),
)


def choice(view: View) -> Table:
    """Return for each use the fastest, with all that were not shown to be slower, beside the text's advice."""
    _ = view.say
    usual = usual_readers(view.rows)
    rows = []
    for use in USES:
        found = contest(view.contests, use.op, use.about(usual))
        entries, readers = (view.value(count, "count", "int") for count in (use.entries, use.readers or usual))
        words = {"use": _(use.words), "entries": entries, "readers": readers}
        about = _(N_("{use} (entries: {entries}, readers: {readers})"), **words)
        cells = _names(view, use, usual, found), _slower(view, found), _detectable(view, found)
        rows.append([about, *cells, use.advice])
    rows.append([_(N_("processes on several nodes")), _across(view), "–", "–", "ZeroMQ"])
    columns = [Column(_("Use")), Column(_("Fastest here")), Column(_("Shown to be slower"))]
    columns += [Column(_("Detectable slow-down"), "right"), Column(_("The text's advice"))]
    notes = [
        _("Mechanisms named together were not shown to differ by more than {bound:pct,int}.", bound=BOUND),
        _("Undecided: none was shown to be slower than the fastest; their least and greatest medians stand beside it."),
        _("Detectable: a slow-down of this size would have been found for every mechanism left undecided."),
    ]
    return Table(_("Choose what when, on this machine"), columns, rows, notes)


def _names(view: View, use: Use, usual: int, found: Contest | None) -> str:
    """Return the fastest and all tied with it by their medians, or that nothing tells any two apart."""
    if found is None:
        return "–"
    names = found.tied()
    rows = [view.rows.find(use.op, **use.point(name, usual)) for name in names]
    ordered = sorted((row for row in rows if row), key=lambda row: row.estimate.value)
    medians = " – ".join(view.cell(row, "") for row in ordered[:1] + ordered[1:][-1:])
    if len(names) > 1 and len(names) > len(found.others):
        return view.say(N_("undecided ({medians})"), medians=medians)
    return f"{_listed(view, names)} ({medians})"


def _slower(view: View, found: Contest | None) -> str:
    if found is None:
        return "–"
    tied = found.tied()
    names = [name for name in (found.fastest, *found.others) if name not in tied]
    return _listed(view, names) or view.say(N_("none"))


def _listed(view: View, names: list[str]) -> str:
    return ", ".join(view.say(NAMES.get(name, name)) for name in names)


def _detectable(view: View, found: Contest | None) -> str:
    share = found.detectable() if found else None
    return "–" if share is None else view.value(share, "share")


def _across(view: View) -> str:
    """Return what was measured across nodes."""
    rows = view.rows.all("update", study=STUDY, arm="stream")
    names = sorted({row.point.backend for row in rows if row.point.levels["nodes"] != 1})
    return ", ".join(names) or view.say(N_("not measured in this run"))
