"""The tables of the round-trip study."""

from itertools import product

from ipclab.facts.comparisons import ALL, SLEEPING, Contest
from ipclab.facts.fact import Fact
from ipclab.facts.round_trip import PLACEMENTS, SIZE_NAMES, contest
from ipclab.facts.rows import Row
from ipclab.points import Level
from ipclab.report.catalogue import N_
from ipclab.report.table import Column, Table
from ipclab.stats.compare import EQUIVALENCE
from ipclab.studies.round_trip import INTENDED, OP, PUBLISHED, SIZES
from ipclab.tables.limits import over_floor
from ipclab.view import View

WAIT_NAMES = {"block": N_("block"), "spin-then-block": N_("spin, then block"), "spin": N_("spin")}
TOUCH_NAMES = {"untouched": N_("untouched"), "header": N_("header"), "full": N_("every byte")}
RECEIVE_NAMES = {"bytes": N_("new object"), "into": N_("caller's buffer"), "view": N_("in place")}
BOUND = Fact("equivalence", EQUIVALENCE, "share", kind="computed")
USES = (
    (N_("short messages, processes on one CPU"), "same", "small"),
    (N_("short messages, processes on two CPUs"), "cross", "small"),
    (N_("medium messages, processes on two CPUs"), "cross", "medium"),
    (N_("large messages, processes on one CPU"), "same", "largest"),
    (N_("large messages, processes on two CPUs"), "cross", "largest"),
)


def published(view: View) -> Table:
    """Return the published table beside this machine's by the published method, in both placements."""
    _ = view.say
    sizes = {name: size for size, name in SIZE_NAMES.items()}
    rows = []
    for name in SIZE_NAMES.values():
        for backend in PUBLISHED:
            said = view.fact(f"text.round_trip.published.{backend}.{name}", "us")
            stems = [f"round_trip.published.{backend}.{placement}.{name}" for placement in PLACEMENTS]
            here = [view.fact(stem, "us,interval") for stem in stems]
            total, speed = (
                view.fact(f"{stems[-1]}.total_ns"),
                view.fact(f"{stems[-1]}.round_trips_per_second", "int,bare"),
            )
            found = view.rows.all(OP, study="round_trip", arm="published", backend=backend)
            limit = over_floor(view, found.find(OP, placement="cross", size_bytes=sizes[name]))
            rows.append([view.fact(f"round_trip.size.{name}"), backend, said, *here, limit, total, speed])
    heads = [_("Published"), _("Here, same CPU"), _("Here, two CPUs"), _("× limit"), _("Total, two CPUs")]
    heads.append(_("Round trips a second"))
    columns = [Column(_("Message")), Column(_("Mechanism")), *(Column(head, "right") for head in heads)]
    note = _("Mean of all round trips of a launch by one pair of clock reads, as published; median over launches.")
    return Table(_("The published method on this machine: round trips"), columns, rows, [note])


def main(view: View) -> Table:
    """Return every mechanism at every size in both placements, over the native echo that does the same work."""
    _ = view.say
    found = view.rows.all(OP, study="round_trip", arm="main")
    rows = []
    for size, backend in sorted({(row.point.size_bytes, row.point.backend) for row in found}):
        cells = []
        for placement in PLACEMENTS:
            row = found.find(OP, backend=backend, placement=placement, size_bytes=size)
            cells += [view.cell(row), over_floor(view, row)]
        tail = _row(view, "p99", backend, size)
        rows.append([view.value(size, "B"), backend, *cells, view.cell(tail, "")])
    heads = [_("same CPU"), _("× limit"), _("two CPUs"), _("× limit"), _("p99, two CPUs")]
    columns = [Column(_("Message")), Column(_("Mechanism")), *(Column(head, "right") for head in heads)]
    note = _("The limit is the native echo over the same medium, at the same size and placement, in the same run.")
    return Table(_("Round trips of all mechanisms"), columns, rows, [note])


def _row(view: View, metric: str, backend: str, size: int, placement: str = "cross") -> Row | None:
    where: dict[str, Level] = {"backend": backend, "size_bytes": size, "placement": placement}
    return view.rows.find(OP, metric, study="round_trip", arm="main", **where)


def waiting(view: View) -> Table:
    """Return what each way to wait costs in time and in CPU time, for the smallest message."""
    _ = view.say
    rows = []
    points = {
        (row.point.backend, str(row.point.levels["wait"]))
        for row in view.rows.all(OP, study="round_trip", size_bytes=SIZES[0])
        if row.point.levels["arm"] in ("main", "wait")
    }
    for backend, wait in sorted(points):
        cells = []
        for placement, metric in product(PLACEMENTS, ("p50", "cpu_ns")):
            where: dict[str, Level] = {"backend": backend, "wait": wait, "placement": placement, "size_bytes": SIZES[0]}
            found = [view.rows.find(OP, metric, study="round_trip", arm=arm, **where) for arm in ("main", "wait")]
            row = next((row for row in found if row), None)
            cells += [view.cell(row), over_floor(view, row)] if metric == "p50" else [view.cell(row, "")]
        rows.append([backend, _(WAIT_NAMES[wait]), *cells])
    heads = [_("same CPU"), _("× limit"), _("CPU time"), _("two CPUs"), _("× limit"), _("CPU time")]
    columns = [Column(_("Mechanism")), Column(_("Waits by")), *(Column(head, "right") for head in heads)]
    note = _("CPU time is that of both processes for one round trip.")
    return Table(_("Ways to wait, messages of {round_trip.size.small}"), columns, rows, [note])


def gaps(view: View) -> Table:
    """Return the round trip after an idle gap, from its start and from the time it was due."""
    _ = view.say
    found = view.rows.all(OP, study="round_trip", arm="gap")
    rows = []
    for row in sorted(found, key=_gap_order):
        point = row.point
        where = {name: value for name, value in point.key().items() if name not in ("size_bytes",)}
        due = view.rows.find(INTENDED, study="round_trip", **where)
        late = view.rows.find(INTENDED, "p99", study="round_trip", **where)
        gap, place = view.value(int(point.levels["gap_ns"]), "ns"), _(N_("same CPU"))
        place = place if point.placement == "same" else _(N_("two CPUs"))
        cells = [view.cell(row), over_floor(view, row), view.cell(due), view.cell(late, "")]
        rows.append([point.backend, place, gap, *cells])
    heads = [_("Gap"), _("From the start"), _("× limit"), _("From the due time"), _("p99 from the due time")]
    columns = [Column(_("Mechanism")), Column(_("Placement")), *(Column(head, "right") for head in heads)]
    note = _("A round trip that starts late is also counted from when it was due, so that waiting is not left out.")
    return Table(_("After an idle gap, messages of {round_trip.size.small}"), columns, rows, [note])


def _gap_order(row: Row) -> tuple[str, int, int]:
    return row.point.backend, PLACEMENTS.index(row.point.placement), int(row.point.levels["gap_ns"])


def touching(view: View) -> Table:
    """Return how much of the message the receiver reads, and how it gets it, for the largest message."""
    _ = view.say
    rows = []
    found = view.rows.all(OP, study="round_trip", arm="touch")
    for row in sorted(found, key=lambda row: [row.point.backend, *map(str, row.point.key().values())]):
        levels = row.point.levels
        receive, touch = RECEIVE_NAMES[str(levels["receive"])], TOUCH_NAMES[str(levels["touch"])]
        rows.append([row.point.backend, _(receive), _(touch), view.cell(row), over_floor(view, row)])
    columns = [Column(_("Mechanism")), Column(_("Received as")), Column(_("Reads")), Column(_("two CPUs"), "right")]
    columns.append(Column(_("× limit"), "right"))
    return Table(_("How much the receiver reads of {round_trip.size.largest}"), columns, rows)


def choice(view: View) -> Table:
    """Return which mechanism to take for what: the fastest, and all that were not shown to be slower."""
    _ = view.say
    sizes = {name: size for size, name in SIZE_NAMES.items()}
    rows = []
    for use, placement, name in USES:
        row = [_(use), view.value(sizes[name], "B")]
        for among in (ALL, SLEEPING):
            found = contest(view.contests, among, placement, sizes[name])
            row += [_names(view, found), _detectable(view, found)]
        rows.append(row)
    show = _("Detectable slow-down")
    heads = [_("Message"), _("Fastest"), show, _("Fastest that does not spin"), show]
    notes = [
        _("Mechanisms named together were not shown to differ by more than {bound:pct,int}.", bound=BOUND),
        _("Detectable: a slow-down of this size would have been found for every mechanism left undecided."),
    ]
    return Table(_("Which one for what, on this machine"), [Column(_("Use")), *map(Column, heads)], rows, notes)


def _names(view: View, found: Contest | None) -> str:
    if found is None:
        return "–"
    row = _row(view, "p50", found.fastest, found.size_bytes, found.placement)
    return f"{', '.join(found.tied())} ({view.cell(row, '')})"


def _detectable(view: View, found: Contest | None) -> str:
    share = found.detectable() if found else None
    return "–" if share is None else view.value(share, "share")
