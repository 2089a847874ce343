"""The tables of the payload study."""

from itertools import product

from ipclab.facts.payload import LARGE, OPS, SIZE_NAMES, VARIANTS
from ipclab.facts.rows import Row
from ipclab.figures.payload import MAPPING_NAMES
from ipclab.points import Level
from ipclab.report.catalogue import N_
from ipclab.report.table import Column, Table
from ipclab.studies.payload import MOVED
from ipclab.studies.payload.mapping import KEPT_WRITE_PHASES, MAPPINGS, WRITE_PHASES
from ipclab.tables.limits import over_limit
from ipclab.view import View

OP_NAMES = {"write": N_("write"), "read": N_("read"), "handover": N_("handover")}
PLACEMENT_NAMES = {"same": N_("same CPU"), "cross": N_("two CPUs"), "free": N_("scheduler's choice")}
PHASE_NAMES = {
    "open": N_("open"),
    "ftruncate": N_("set the size"),
    "map": N_("map"),
    "serialise": N_("serialise"),
    "copy": N_("copy, page faults included"),
    "flush": N_("flush"),
    "unmap": N_("unmap"),
    "close": N_("close"),
}
VARIANT_NAMES = {
    "v09": N_("as v0.9: reads of at most {tcp.chunk}, appended"),
    "chunked": N_("reads of at most {tcp.large_chunk}, appended"),
    "into": N_("reads into a buffer made before"),
    "kept": N_("the same, connection kept"),
    "pickle5": N_("pickle-5, large reads"),
    "pickle0": N_("pickle-0, large reads"),
}


def published(view: View) -> Table:
    """Return the published table beside this run's, by the published method."""
    _ = view.say
    heads = [_("Payload"), _("Op"), _("Published mean ± sd"), _("Mean here ± sd"), _("Median here [interval]")]
    heads += [_("× limit"), _("Median without NumPy's threads"), _("Bandwidth here"), _("Faults an op")]
    rows = []
    for (size, name), op in product(SIZE_NAMES.items(), OPS):
        stem = f"text.payload.published.{op}.{name}"
        said = "\u00a0±\u00a0".join(view.fact(f"{stem}.{metric}", "us") for metric in ("mean", "sd"))
        where: dict[str, Level] = {"arm": "published", "size_bytes": MOVED[size]}

        def cell(metric: str, spec: str, op: str = op, where: dict[str, Level] = where) -> str:
            return view.cell(view.rows.find(op, metric, **where), spec)

        alone = view.fact(f"payload.one_thread.{op}.{name}", "us")
        mean = "\u00a0±\u00a0".join(cell(metric, "us") for metric in ("mean", "sd"))
        limit = over_limit(view, view.rows.find(op, **where))
        here = [mean, cell("p50", "us,interval"), limit, alone, cell("bandwidth", "")]
        rows.append([view.fact(f"payload.moved.{name}"), _(OP_NAMES[op]), said, *here, cell("minor_faults", "int")])
    columns = [Column(heads[0]), Column(heads[1]), *(Column(head, "right") for head in heads[2:])]
    notes = [_("The payload is what the published program really moves. Bandwidth is bytes moved over the median.")]
    return Table(_("The published method on this machine"), columns, rows, notes)


def phases(view: View) -> Table:
    """Return the phases of a large write for each way to come by the mapping."""
    _ = view.say
    rows = []
    for phase in (*WRITE_PHASES, ""):
        label = _(PHASE_NAMES[phase]) if phase else _("whole write")
        cells = []
        for mapping in MAPPINGS:
            there = mapping != "kept" or not phase or phase in KEPT_WRITE_PHASES
            op = f"write.{phase}" if phase else "write"
            row = view.rows.find(op, arm="mapping", mapping=mapping, size_bytes=LARGE) if there else None
            cells.append(view.cell(row, "us,interval"))
        rows.append([label, *cells])
    faults = [_mapping_row(view, mapping, "minor_faults") for mapping in MAPPINGS]
    rows.append([_("minor faults"), *(view.cell(row, "int") for row in faults)])
    limits = [over_limit(view, _mapping_row(view, mapping, "p50")) for mapping in MAPPINGS]
    rows.append([_("whole write over two copies by memcpy"), *limits])
    heads = [_(MAPPING_NAMES[mapping]) for mapping in MAPPINGS]
    return Table(
        _("Phases of one write of {payload.size.large}"),
        [Column(_("Phase")), *(Column(head, "right") for head in heads)],
        rows,
        [_("Medians over launches with their intervals; a dash marks a phase that a kept mapping does not have.")],
    )


def _mapping_row(view: View, mapping: str, metric: str) -> Row | None:
    return view.rows.find("write", metric, arm="mapping", mapping=mapping, size_bytes=LARGE)


def handover(view: View) -> Table:
    """Return the time of a handover between two processes, by mechanism, payload and placement."""
    _ = view.say
    rows = []
    found = view.rows.all("handover", arm="handover")
    keys = sorted({(row.point.size_bytes, row.point.backend) for row in found})
    for size, backend in keys:
        cells = [found.find("handover", backend=backend, size_bytes=size, placement=name) for name in PLACEMENT_NAMES]
        limit = over_limit(view, cells[1])
        rows.append([view.value(size, "B"), backend, *(view.cell(row, "us,interval") for row in cells), limit])
    heads = [*(_(name) for name in PLACEMENT_NAMES.values()), _("× limit")]
    columns = [Column(_("Payload")), Column(_("Mechanism")), *(Column(head, "right") for head in heads)]
    notes = [
        _("From the start of the writer's copy until the reader has the payload in memory of its own; mapping kept."),
        _("The limit is a futex wake and two copies by memcpy; the last column is for two CPUs."),
    ]
    return Table(_("Handing over between two processes"), columns, rows, notes)


def past(view: View) -> Table:
    """Return the TCP past: measured rows, and the published estimate they replace, marked."""
    _ = view.say
    slow, fast = (view.fact(f"text.payload.tcp_bandwidth_{end}", "MB/s") for end in ("low", "high"))
    ends = view.facts["text.payload.tcp_time"]
    times = [view.value(value, "ns", "ms") for value in (ends.low or 0, ends.high or 0)]
    estimate = [_("Published estimate (not measured)"), "–", f"{times[0]} – {times[1]}", f"{slow} – {fast}", "–", "–"]
    rows = [estimate]
    for (variant, levels), nodelay in product(VARIANTS.items(), ("off", "on")):
        where: dict[str, Level] = {**levels, "arm": "tcp", "nodelay": nodelay, "size_bytes": LARGE}
        cross = view.rows.find("handover", placement="cross", **where)
        speed = view.rows.find("handover", "bandwidth", placement="cross", **where)
        same = view.rows.find("handover", placement="same", **where)
        cells = [view.cell(cross, "ms,interval"), view.cell(speed, ""), view.cell(same, "ms"), over_limit(view, cross)]
        rows.append([_(VARIANT_NAMES[variant]), _("on") if nodelay == "on" else _("off"), *cells])
    heads = [_("Two CPUs"), _("Bandwidth"), _("Same CPU"), _("× limit")]
    columns = [Column(_("How it is received")), Column("TCP_NODELAY"), *(Column(head, "right") for head in heads)]
    notes = [_("The limit is a futex wake and two copies by memcpy; the last column is for two CPUs.")]
    return Table(_("TCP on loopback, one transfer of {payload.size.large}"), columns, rows, notes)


def polling(view: View) -> Table:
    """Return the computed waiting of the readers that poll."""
    _ = view.say
    names = {"python": _("Python side"), "cpp": _("C++ side")}
    rows = [
        [
            label,
            view.fact(f"payload.polling.{reader}.interval"),
            view.fact(f"payload.polling.{reader}.waiting", "ms"),
            view.fact(f"payload.polling.{reader}.over_transfer"),
        ]
        for reader, label in names.items()
    ]
    heads = [_("Looks every"), _("Expected wait (computed)"), _("Wait over one transfer")]
    columns = [Column(_("Reader")), *(Column(head, "right") for head in heads)]
    return Table(_("What polling adds (computed, not measured)"), columns, rows)
