"""The tables of the multiplexer study that choose: which node for what, and what the text left open."""

from ipclab.facts.comparisons import Contest
from ipclab.facts.fact import Fact
from ipclab.facts.multiplexer import SIDES, SIZE_NAMES, USES, best_row, contest, main_row
from ipclab.report.catalogue import N_
from ipclab.report.table import Column, Table
from ipclab.stats.compare import EQUIVALENCE
from ipclab.studies.multiplexer import BOTH, MEDIA, NODES, SIZES
from ipclab.tables.multiplexer import MESSAGE, SIDE_NAMES, size_text
from ipclab.view import View

BOUND = Fact("equivalence", EQUIVALENCE, "share", kind="computed")
USE_NAMES = {
    "sensor": N_("sensor data"),
    "web": N_("web API"),
    "stream": N_("streaming"),
    "file": N_("file transfer"),
}
# What the text recommends for each kind of work.
RECOMMENDED = {"sensor": "original", "web": "original, hybrid", "stream": "hybrid", "file": "hybrid"}
OPEN = (
    (N_("fast path without overhead, inlined"), N_("one write of header and message, nothing allocated"), "inlined"),
    (N_("tuning for the platform"), N_("chunks chosen by what each size cost before"), "platform"),
    (N_("threshold that adapts at run time"), N_("no threshold: every message takes the same path"), "threshold"),
)


def choice(view: View) -> Table:
    """Return which node to take for which kind of work: the fastest, all not shown to be slower, and the leanest."""
    _ = view.say
    rows = []
    for use, size in USES.items():
        row = [_(USE_NAMES[use]), size_text(view, size), RECOMMENDED[use]]
        for medium in MEDIA:
            found = contest(view.contests, BOTH, f"medium={medium}", "cross", size)
            row += [_names(view, found, medium), _detectable(view, found)]
        rows.append([*row, _leanest(view, size)])
    show = _("Detectable slow-down")
    heads = [_(MESSAGE), _("The text says"), _("Fastest, pipe"), show, _("Fastest, Unix socket"), show]
    heads.append(_("Least memory, both ends"))
    notes = [
        _("Nodes named together were not shown to differ by more than {bound:pct,int}.", bound=BOUND),
        _("Detectable: a slow-down of this size would have been found for every node left undecided."),
    ]
    return Table(_("Which node for what, on this machine"), [Column(_("Use")), *map(Column, heads)], rows, notes)


def _names(view: View, found: Contest | None, medium: str) -> str:
    if found is None:
        return "–"
    row = main_row(view.rows, medium, found.fastest, found.size_bytes)
    return f"{', '.join(found.tied())} ({view.cell(row, '')})"


def _detectable(view: View, found: Contest | None) -> str:
    share = found.detectable() if found else None
    return "–" if share is None else view.value(share, "share")


def _leanest(view: View, size: int) -> str:
    """Return the nodes that allocate the least on both ends; within one percent, for the runtime's own."""
    rows = [(node, main_row(view.rows, "pipe", node, size, "bytes_allocated")) for node in NODES]
    found = {node: row.estimate.value for node, row in rows if row}
    if not found:
        return "–"
    least = min(found.values())
    names = [node for node, value in found.items() if value <= least * 1.01]
    return f"{', '.join(names)} ({view.value(round(least), 'B')})"


def adaptive(view: View) -> Table:
    """Return Adaptive over the best of the three published nodes, on each side at each size."""
    _ = view.say
    rows = []
    for size, name in SIZE_NAMES.items():
        cells = []
        for side in SIDES:
            best = best_row(view.rows, side, size)
            ratio = view.fact(f"multiplexer.adaptive.{side}.{name}", "x,interval")
            cells.append(f"{ratio} ({best.point.backend})" if best else ratio)
        rows.append([size_text(view, size), *cells])
    columns = [Column(_(MESSAGE)), *(Column(_(SIDE_NAMES[side]), "right") for side in SIDES)]
    note = _("Time of Adaptive over that of the fastest published node, which is named; below one, Adaptive is faster.")
    return Table(_("Adaptive over the best of the published nodes"), columns, rows, [note])


def roadmap(view: View) -> Table:
    """Return what the text left to be done, and what Adaptive measures for it."""
    _ = view.say
    rows = []
    for words, means, key in OPEN:
        for over, name, size in _measured(view, key):
            rows.append([_(words), _(means), over, size, view.fact(name, "x,interval")])
    heads = [_("Left open by the text"), _("Adaptive"), _("Measured against"), _("Message"), _("Time over that")]
    columns = [*(Column(head) for head in heads[:-1]), Column(heads[-1], "right")]
    note = _("The text hopes for {text.multiplexer.goal:pct} from the first.")
    return Table(_("What the text left open, answered"), columns, rows, [note])


def _measured(view: View, key: str) -> list[tuple[str, str, str]]:
    """Return against what, the fact, and the message size, for one open point."""
    _ = view.say
    if key == "inlined":
        return [("hybrid", "multiplexer.adaptive.over_hybrid.small", size_text(view, SIZES[0]))]
    if key == "platform":
        size, name = SIZES[-1], SIZE_NAMES[SIZES[-1]]
        best = _("best of the three")
        return [
            (f"{best}, {_(SIDE_NAMES[side])}", f"multiplexer.adaptive.{side}.{name}", size_text(view, size))
            for side in MEDIA
        ]
    stem, best = "multiplexer.threshold", _("hybrid, best threshold")
    return [
        (best, f"{stem}.adaptive_over_best.{name}", view.fact(f"{stem}.size.{name}", "KiB,int"))
        for name in ("short", "long")
    ]
