"""The explorer's tables, and the words of its controls."""

from collections.abc import Sequence

from ipclab.explore.panels import Shown, label
from ipclab.explore.selection import Selection
from ipclab.facts.rows import Row, Rows
from ipclab.lab.catalogue import N_
from ipclab.lab.table import Column, Table
from ipclab.view import View

CONTROLS = {
    "runs": N_("Runs"),
    "lang": N_("Language"),
    "study": N_("Study"),
    "op": N_("Operation"),
    "metric": N_("Metric"),
    "across": N_("Across"),
    "backends": N_("Mechanisms"),
    "points": N_("Points"),
}
TABS = (N_("distribution"), N_("over time"), N_("numbers"))
NO_SAMPLES = N_("no samples: this is one number for each launch")
TIMES = ("min", "p50", "p90", "p99", "p99.9", "max", "mean", "sd")


def values(shown: Sequence[Shown], selection: Selection, view: View) -> Table:
    """Return what the picture shows: one row a point, with its interval, launches, samples and flags."""
    _ = view.say
    heads = (_("Run"), _("Mechanism"), selection.across, _("Placement"), f"{selection.op} · {selection.metric}")
    columns = [Column(head) for head in (*heads, _("Launches × samples"), _("Flags"))]
    rows = []
    for each in shown:
        for row in each.rows:
            level = str(row.levels[selection.across])
            count = f"{row.estimate.launches} × {row.estimate.samples}"
            head = [each.name, row.point.backend, level, row.point.placement]
            rows.append([*head, each.view.cell(row), count, ", ".join(row.flags)])
    return Table(_("The points of this view"), columns, rows)


def percentiles(chosen: Sequence[tuple[Shown, Row]], view: View) -> Table:
    """Return every time of the chosen points' op."""
    _ = view.say
    columns = [Column(_("Point")), *(Column(metric, "right") for metric in TIMES)]
    rows = [
        [label(row), *(shown.view.cell(_same(shown, row, metric), "") for metric in TIMES)] for shown, row in chosen
    ]
    return Table(_("Percentiles of the chosen points"), columns, rows)


def counters(chosen: Sequence[tuple[Shown, Row]], view: View) -> Table:
    """Return everything else that is known of the chosen points' op: faults, switches, CPU time and the like."""
    _ = view.say
    found = [[row for row in _of(shown, row) if row.metric not in TIMES] for shown, row in chosen]
    names = list(dict.fromkeys(row.metric for rows in found for row in rows))
    columns = [Column(_("Counter")), *(Column(label(row), "right") for _shown, row in chosen)]
    cells = [{row.metric: row for row in rows} for rows in found]
    rows = [[name, *(view.cell(each.get(name), "") for each in cells)] for name in names]
    return Table(_("Counters of the chosen points"), columns, rows)


def _of(shown: Shown, row: Row) -> Rows:
    mine = (other for other in shown.view.rows if other.op == row.op and other.point.id == row.point.id)
    return Rows(other for other in mine if other.point.study == row.point.study)


def _same(shown: Shown, row: Row, metric: str) -> Row | None:
    return next((other for other in _of(shown, row) if other.metric == metric), None)
