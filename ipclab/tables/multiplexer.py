"""The tables of the multiplexer study: what was published, and what it left out."""

from itertools import product

from ipclab.facts.fact import Fact
from ipclab.facts.multiplexer import SIDES, SIZE_NAMES, factorial_row, main_row
from ipclab.facts.rows import Row
from ipclab.points import Level
from ipclab.report.catalogue import N_
from ipclab.report.table import Column, Table
from ipclab.studies.multiplexer import (
    ADAPTIVE,
    BOTH,
    CHUNKS,
    MEDIA,
    NODES,
    POOLS,
    PUBLISHED_SIZES,
    SIZES,
    STREAM_SIZE,
    STREAMS,
    THRESHOLD_SIZES,
    THRESHOLDS,
    WRITE,
)
from ipclab.view import View

SIDE_NAMES = {
    "write": N_("writing, in memory"),
    "receive": N_("receiving, in memory"),
    "pipe": N_("both ends, pipe"),
    "unix": N_("both ends, Unix socket"),
}
# What Go allocates for nine bytes, and for the slice header that is put into a pool as an interface value.
HEADER_BYTES = (16, 24)
NODE = N_("Node")
MESSAGE = N_("Message")
TWO_CPUS = N_("Both ends are two processes on two CPUs; an operation is one message that the other process has.")


def size_text(view: View, size: int) -> str:
    """Return a size in KiB or MiB."""
    return view.value(size, "B", "MiB,int" if size >= 1 << 20 else "KiB,int")


def _text(view: View, name: str, spec: str = "") -> str:
    """Return the published fact `name`, or a dash where the text has none."""
    return view.fact(name, spec) if name in view.facts else "–"


def _whole(view: View, row: Row | None) -> str:
    """Return a count or bytes of one operation as a whole number: the runtime's own share is a fraction of one."""
    return "–" if row is None else view.value(round(row.estimate.value), "B" if row.unit == "B" else "count")


def published(view: View) -> Table:
    """Return the published tables beside this machine's by the published method."""
    _ = view.say
    rows = []
    for size, node in product(PUBLISHED_SIZES, NODES):
        stem = f"multiplexer.published.{node}.{SIZE_NAMES[size]}"
        where: dict[str, Level] = {"arm": "published", "backend": node, "size_bytes": size}
        here = [
            view.rows.find(WRITE, metric, study="multiplexer", **where) for metric in ("bytes_allocated", "allocations")
        ]
        cells = [_text(view, f"text.{stem}", "ns"), view.fact(stem, "ns,interval")]
        cells += [_text(view, f"text.{stem}.bytes"), _whole(view, here[0])]
        cells += [_text(view, f"text.{stem}.allocations"), _whole(view, here[1])]
        rows.append([size_text(view, size), node, *cells, view.fact(f"{stem}.over_original", "x,interval")])
    heads = [_("Time, published"), _("Time, here"), _("Bytes, published"), _("Bytes, here")]
    heads += [_("Allocations, published"), _("Allocations, here"), _("Time over Original, here")]
    columns = [Column(_(MESSAGE)), Column(_(NODE)), *(Column(head, "right") for head in heads)]
    notes = [
        _("One goroutine writes into a buffer in memory; nothing is sent and nothing is received."),
        _("Published times are those of another machine: compare the order and the counts, not the times."),
    ]
    return Table(_("The published tables on this machine: one message written"), columns, rows, notes)


def sides(view: View) -> Table:
    """Return the time of each side at each size."""
    _ = view.say
    rows = []
    for size, node in product(SIZES, NODES):
        found = [main_row(view.rows, side, node, size) for side in SIDES]
        rows.append([size_text(view, size), node, *(view.cell(row) for row in found)])
    heads = [Column(_(SIDE_NAMES[side]), "right") for side in SIDES]
    return Table(_("One message, by side"), [Column(_(MESSAGE)), Column(_(NODE)), *heads], rows, [_(TWO_CPUS)])


def memory(view: View) -> Table:
    """Return the bytes and allocations of writer, receiver and both ends."""
    _ = view.say
    rows = []
    for size, node in product(SIZES, NODES):
        cells = [
            _whole(view, main_row(view.rows, side, node, size, "bytes_allocated")) for side in ("write", "receive")
        ]
        for metric in ("bytes_allocated", "allocations"):
            cells.append(_whole(view, main_row(view.rows, "pipe", node, size, metric)))
        over = view.fact(f"multiplexer.pipe.{node}.{SIZE_NAMES[size]}.bytes_over_original", "x")
        rows.append([size_text(view, size), node, *cells, over])
    heads = [_("Writing"), _("Receiving"), _("Both ends"), _("Allocations, both ends"), _("Bytes over Original")]
    columns = [Column(_(MESSAGE)), Column(_(NODE)), *(Column(head, "right") for head in heads)]
    note = _("Bytes that are allocated for one message; the receiver must at least hold the message.")
    return Table(_("Memory of one message"), columns, rows, [note])


def placement(view: View) -> Table:
    """Return both ends on one CPU and on two."""
    _ = view.say
    rows = []
    for node in NODES:
        found = [
            main_row(view.rows, medium, node, STREAM_SIZE, placement=place)
            for medium, place in product(MEDIA, ("same", "cross"))
        ]
        rows.append([node, *(view.cell(row) for row in found)])
    names = product((_("Pipe"), _("Unix socket")), (_("same CPU"), _("two CPUs")))
    heads = [Column(f"{medium}, {place}", "right") for medium, place in names]
    title = _("Both ends by placement, messages of {size}", size=size_text(view, STREAM_SIZE))
    return Table(title, [Column(_(NODE)), *heads], rows)


def streams(view: View) -> Table:
    """Return time and fairness of many streams over one pipe."""
    _ = view.say
    rows = []
    for node in NODES:
        cells = []
        for count in STREAMS:
            where: dict[str, Level] = {"arm": "streams", "backend": node, "streams": count}
            cells.append(view.cell(view.rows.find(BOTH, study="multiplexer", **where)))
            if count > 1:
                cells.append(view.cell(view.rows.find(BOTH, "fairness", study="multiplexer", **where)))
        rows.append([node, *cells])
    heads = []
    for count in STREAMS:
        number = view.value(count, "count")
        heads.append(_("Streams: {count}", count=number))
        if count > 1:
            heads.append(_("Slowest over mean, {count}", count=number))
    title = _("Streams at once over one pipe, messages of {size}", size=size_text(view, STREAM_SIZE))
    note = _("Time for each message. Slowest over mean: when the slowest stream was done over the mean of all streams.")
    return Table(title, [Column(_(NODE)), *(Column(head, "right") for head in heads)], rows, [note])


def threshold(view: View) -> Table:
    """Return Hybrid's time by threshold, and Adaptive's."""
    _ = view.say
    rows = []
    for value in THRESHOLDS:
        found = [_threshold_row(view, "hybrid", size, threshold=value) for size in THRESHOLD_SIZES]
        rows.append(["hybrid", size_text(view, value), *(view.cell(row) for row in found)])
    found = [_threshold_row(view, ADAPTIVE, size) for size in THRESHOLD_SIZES]
    rows.append([ADAPTIVE, "–", *(view.cell(row) for row in found)])
    sizes = [_("Messages of {size}", size=size_text(view, size)) for size in THRESHOLD_SIZES]
    columns = [Column(_(NODE)), Column(_("Threshold"), "right"), *(Column(head, "right") for head in sizes)]
    note = _("Up to the threshold Hybrid makes a header for each chunk of {multiplexer.chunk.short:KiB,int}.")
    return Table(_("The threshold of the fast path: one message written into memory"), columns, rows, [note])


def _threshold_row(view: View, node: str, size: int, **levels: Level) -> Row | None:
    return view.rows.find(WRITE, study="multiplexer", arm="threshold", backend=node, size_bytes=size, **levels)


def factorial(view: View) -> Table:
    """Return every pool with every chunk size: time, bytes and allocations."""
    _ = view.say
    rows = []
    for chunk, pool in product(CHUNKS, POOLS):
        counts = [factorial_row(view.rows, WRITE, pool, chunk, name) for name in ("bytes_allocated", "allocations")]
        both = factorial_row(view.rows, BOTH, pool, chunk)
        cells = [*(_whole(view, row) for row in counts), view.cell(factorial_row(view.rows, WRITE, pool, chunk))]
        word = _(N_("yes")) if pool == "yes" else _(N_("no"))
        rows.append([size_text(view, chunk), word, *cells, view.cell(both)])
    heads = [_("Bytes, writing"), _("Allocations, writing"), _("Time, writing"), _("Time, both ends, pipe")]
    columns = [Column(_("Chunk")), Column(_("Pool")), *(Column(head, "right") for head in heads)]
    title = _("Pool and chunk size, each varied alone, messages of {multiplexer.size.largest:MiB,int}")
    fresh, pooled = (Fact("header", size, "B", kind="computed") for size in HEADER_BYTES)
    words = _(
        "A header made anew allocates {fresh}; one given back to a pool {pooled}, for the slice that the pool holds.",
        fresh=fresh,
        pooled=pooled,
    )
    return Table(title, columns, rows, [words])
