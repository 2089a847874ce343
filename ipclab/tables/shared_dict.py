"""The tables of the shared-dictionary study: the published method, the sweep, codecs, streams and live reading."""

from itertools import product
from math import log

from ipclab.facts.rows import Row
from ipclab.facts.shared_dict_levels import (
    ENTRY_NAMES,
    FREE,
    LARGE,
    LMDB_LEVELS,
    PARTS,
    PUBLISHED,
    STUDY,
    reader_counts,
    usual_readers,
    where,
)
from ipclab.points import Level
from ipclab.report.catalogue import N_
from ipclab.report.table import Column, Table
from ipclab.view import View

ENTRIES = tuple(entries for entries in ENTRY_NAMES if entries <= 10_000)  # noqa: PLR2004  those of the text
CODEC_NAMES = {"pickle": "pickle", "msgpack": "MessagePack", "json": "JSON", "fixed": N_("fixed layout")}
SYNC_NAMES = {"on": N_("at each commit"), "off": N_("when the kernel likes (published)")}
MAP_NAMES = {"default": N_("pages written by system calls"), "writemap": N_("writable map (published)")}
PLACEMENTS = (FREE, "same", "cross")
COUNTS = ("readers", "nodes")


def _columns(view: View, words: tuple[str, ...], numbers: tuple[str, ...]) -> list[Column]:
    return [*(Column(view.say(head)) for head in words), *(Column(view.say(head), "right") for head in numbers)]


def _count(view: View, value: float) -> str:
    return view.value(value, "count", "int")


def _share(view: View, name: str) -> str:
    return view.fact(name, "pct,interval")


def write(view: View) -> Table:
    """Return the published write table beside this machine's: in total, per message and per read that it serves."""
    _ = view.say
    rows = []
    for entries, backend in product(ENTRIES, PUBLISHED):
        name, stem = ENTRY_NAMES[entries], f"shared_dict.published.{backend}"
        said = [view.fact(f"text.{stem}.{what}.{name}") for what in ("write", "per_message")]
        here = [view.fact(f"{stem}.{what}.{name}", "interval") for what in ("write", "per_message", "warm")]
        served = view.fact(f"{stem}.per_read.{name}")
        messages = view.fact(f"{stem}.messages.{name}", "int")
        rows.append([_count(view, entries), backend, said[0], here[0], messages, said[1], *here[1:], served])
    heads = (
        *(N_("Published total"), N_("Total here"), N_("Messages"), N_("Published per message")),
        *(N_("Per message here"), N_("Later message here"), N_("Total per read served")),
    )
    notes = [
        _("A total writes the scenario: one store, or one message for each reader and read, encoding included."),
        _("The total of LMDB and SharedMemory is their first write, as published; later ones stand beside it."),
    ]
    columns = _columns(view, (N_("Entries"), N_("Mechanism")), heads)
    return Table(_("The published method on this machine: writing"), columns, rows, notes)


def read(view: View) -> Table:
    """Return the published read table beside this machine's, with decoding's share and the reads made."""
    _ = view.say
    rows = []
    for entries, backend in product(ENTRIES, PUBLISHED):
        name, stem = ENTRY_NAMES[entries], f"shared_dict.published.{backend}"
        said = view.fact(f"text.{stem}.read.{name}")
        here = [view.fact(f"{stem}.{what}.{name}", "interval") for what in ("read", "read_median")]
        made = view.fact(f"{stem}.reads.{name}", "int")
        rows.append([_count(view, entries), backend, said, *here, _share(view, f"{stem}.decode.{name}"), made])
    heads = (
        *(N_("Published mean"), N_("Mean here"), N_("Median here")),
        *(N_("Decoding's share"), N_("Reads by each reader")),
    )
    columns = _columns(view, (N_("Entries"), N_("Mechanism")), heads)
    note = _(
        "All writing ends before reading begins, as published: ZeroMQ's readers drain messages that wait for them."
    )
    return Table(_("The published method on this machine: reading"), columns, rows, [note])


def throughput(view: View) -> Table:
    """Return reads a second of one reader and of all readers together, beside what the published mean amounts to."""
    _ = view.say
    rows = []
    for entries, backend in product(ENTRIES, PUBLISHED):
        name, stem = ENTRY_NAMES[entries], f"shared_dict.published.{backend}"
        said = view.fact(f"text.{stem}.throughput.{name}", "int,bare")
        here = [view.fact(f"{stem}.{what}.{name}", "int,bare,interval") for what in ("throughput", "throughput_all")]
        rows.append([_count(view, entries), backend, said, *here])
    heads = (N_("Text, computed from its mean"), N_("One reader here"), N_("All readers here"))
    columns = _columns(view, (N_("Entries"), N_("Mechanism")), heads)
    note = _("The text names throughput as a metric and prints no value.")
    return Table(_("The published method on this machine: reads a second"), columns, rows, [note])


def main(view: View) -> Table:
    """Return every mechanism at every number of entries: stored once and read by many."""
    _ = view.say
    readers = usual_readers(view.rows)
    rows = []
    for entries, backend in _measured(view, "read-many"):
        at = where("read-many", backend, entries, readers)
        found = view.rows.find("read", **at)
        if found is None:
            continue
        tail = view.cell(view.rows.find("read", "p99", **at), "")
        writes = [view.cell(view.rows.find(op, **at)) for op in ("write-cold", "write")]
        cells = [view.value(found.point.size_bytes, "B"), *writes, view.cell(found)]
        rows.append(
            [_count(view, entries), backend, *cells, tail, over_copy(view, view.rows.find("read.transport", **at))]
        )
    heads = (
        *(N_("Encoded"), N_("First write"), N_("Write"), N_("Read")),
        *(N_("p99 of a read"), N_("Transport of a read, × limit")),
    )
    columns = _columns(view, (N_("Entries"), N_("Mechanism")), heads)
    notes = [
        _("The limit is one copy of the encoded bytes at the speed of memcpy at the nearest size that was measured."),
        _("Who was sent a message keeps it: its reads decode the copy that it has."),
    ]
    title = _("All mechanisms, pickled, {readers} readers", readers=_count(view, readers))
    return Table(title, columns, rows, notes)


def over_copy(view: View, row: Row | None) -> str:
    """Return a time over one copy of the point's bytes by memcpy, or a dash when either was not measured."""
    copies = view.rows.all("copy", study="limits", backend="memcpy")
    if row is None or not copies:
        return "–"
    size = row.point.size_bytes
    near = min(copies, key=lambda copy: abs(log(copy.point.size_bytes / size)))
    return view.value(row.estimate.value / (near.estimate.low * size / near.point.size_bytes), "1")


def _measured(view: View, arm: str) -> list[tuple[int, str]]:
    """Return entries and mechanism of every point of an arm, in order."""
    op = {"stream": "update", "live": "staleness"}.get(arm, "read")
    rows = view.rows.all(op, study=STUDY, arm=arm)
    return sorted({(int(row.point.levels["entries"]), row.point.backend) for row in rows})


def readers(view: View) -> Table:
    """Return a read over the number of readers, and over where they run, at one number of entries."""
    _ = view.say
    rows = []
    names = sorted({backend for entries, backend in _measured(view, "read-many") if entries == LARGE})
    for backend, count in product(names, reader_counts(view.rows)):
        found = [
            view.rows.find("read", **where("read-many", backend, LARGE, count, placement=placement))
            for placement in PLACEMENTS
        ]
        store = view.rows.find("write", **where("read-many", backend, LARGE, count))
        if any(found):
            rows.append([backend, _count(view, count), view.cell(store), *(view.cell(row) for row in found)])
    heads = (
        *(N_("Readers"), N_("Write, scheduler's choice"), N_("Read, scheduler's choice")),
        *(N_("Read, all on one CPU"), N_("Read, spread over the CPUs")),
    )
    return Table(
        _("Over readers and placement, {shared_dict.entries.large} entries"),
        _columns(view, (N_("Mechanism"),), heads),
        rows,
    )


def shares(view: View) -> Table:
    """Return which share of a write is encoding and of a read decoding, the rest of each being transport."""
    _ = view.say
    rows = []
    parts = [f"{op}.{part}" for op, both in PARTS.items() for part in both]
    for entries, backend in _measured(view, "read-many"):
        name = ENTRY_NAMES.get(entries)
        stems = [f"shared_dict.share.{part}.{backend}.{name}" for part in parts]
        if name and all(stem in view.facts for stem in stems):
            rows.append([_count(view, entries), backend, *(_share(view, stem) for stem in stems)])
    heads = (
        *(N_("Encoding in a write"), N_("Transport in a write")),
        *(N_("Decoding in a read"), N_("Transport in a read")),
    )
    note = _("Each part is timed apart; a share is the median of a part over the sum of both.")
    return Table(
        _("Shares of encoding, decoding and transport"),
        _columns(view, (N_("Entries"), N_("Mechanism")), heads),
        rows,
        [note],
    )


def codecs(view: View) -> Table:
    """Return what each codec makes of the dictionary and what it costs."""
    _ = view.say
    readers = usual_readers(view.rows)
    rows = []
    for backend, (codec, label) in product(("posix-shm", "lmdb"), CODEC_NAMES.items()):
        at = where("read-many", backend, LARGE, readers, codec=codec)
        found = view.rows.find("read", **at)
        if found:
            size = found.point.size_bytes
            cells = [view.cell(view.rows.find(op, **at)) for op in ("write.encode", "write", "read.decode", "read")]
            rows.append([backend, _(label), view.value(size, "B"), view.value(size / LARGE, "B"), *cells])
    heads = (*(N_("Encoded"), N_("Bytes an entry"), N_("Encoding"), N_("Write"), N_("Decoding"), N_("Read")),)
    columns = _columns(view, (N_("Mechanism"), N_("Codec")), heads)
    note = _("The fixed layout is decoded into arrays, the others into dictionaries.")
    return Table(_("Codecs, {shared_dict.entries.large} entries"), columns, rows, [note])


def stream(view: View) -> Table:
    """Return updates that every reader acknowledged, by entries, mechanism, readers and nodes."""
    _ = view.say
    found = view.rows.all("update", study=STUDY, arm="stream", codec="pickle")
    rows = []
    for row in sorted(found, key=_stream_order):
        levels = row.point.levels
        key: dict[str, Level] = {"study": STUDY, **row.point.key()}
        tail = view.cell(view.rows.find("update", "p99", **key), "")
        speed = view.cell(view.rows.find("launch", "messages_per_second", **key), "int,bare,interval")
        head = [
            _count(view, int(levels["entries"])),
            row.point.backend,
            *(_count(view, int(levels[x])) for x in COUNTS),
        ]
        rows.append([*head, view.cell(row), tail, speed])
    heads = (N_("Readers"), N_("Nodes"), N_("Update"), N_("p99"), N_("Messages a second"))
    columns = _columns(view, (N_("Entries"), N_("Mechanism")), heads)
    note = _("An update lasts from before its encoding until every reader has decoded and acknowledged it.")
    return Table(_("Updates that reach every reader once"), columns, rows, [note])


def _stream_order(row: Row) -> tuple[int, int, int, str]:
    levels = row.point.levels
    return int(levels["entries"]), *(int(levels[name]) for name in COUNTS), row.point.backend  # type: ignore[return-value]


def live(view: View) -> Table:
    """Return how old what was read is, in versions and in time, and the torn reads."""
    _ = view.say
    found = view.rows.all("staleness", study=STUDY, arm="live")
    rows = []
    for row in sorted(found, key=_stream_order):
        levels = row.point.levels
        key: dict[str, Level] = {"study": STUDY, **row.point.key()}
        late = view.cell(view.rows.find("staleness", "p99", **key), "")
        behind, most, reads, torn = (
            view.cell(view.rows.find("launch", name, **key), spec)
            for name, spec in (
                *(("versions_behind_mean", ""), ("versions_behind_max", "int")),
                *(("reads", "int"), ("torn", "int")),
            )
        )
        head = [_count(view, int(levels["entries"])), row.point.backend, _count(view, int(levels["readers"]))]
        rows.append([*head, view.cell(row), late, behind, most, reads, torn])
    heads = (
        *(N_("Readers"), N_("Age of what is read"), N_("p99 of the age"), N_("Versions behind, mean")),
        *(N_("Versions behind, most"), N_("Reads a launch"), N_("Torn reads")),
    )
    columns = _columns(view, (N_("Entries"), N_("Mechanism")), heads)
    note = _("Every read is checked; a launch with a torn read fails and gives no time.")
    return Table(_("Reading while the writer updates"), columns, rows, [note])


def lmdb(view: View) -> Table:
    """Return LMDB's ways to write: synchronous or not, through a writable map or not."""
    _ = view.say
    readers = usual_readers(view.rows)
    rows = []
    for sync, mapping in LMDB_LEVELS:
        at = where("read-many", "lmdb", LARGE, readers, sync=sync, map=mapping)
        cells = [view.cell(view.rows.find(op, **at)) for op in ("write", "read")]
        rows.append([_(SYNC_NAMES[sync]), _(MAP_NAMES[mapping]), *cells])
    columns = _columns(view, (N_("Written to disk"), N_("Written through")), (N_("Write"), N_("Read")))
    return Table(_("LMDB's ways to write, {shared_dict.entries.large} entries"), columns, rows)
