"""The pictures of what a shared dictionary's time is made of, and of updating it."""

from typing import Any

from matplotlib.figure import Figure as Canvas

from ipclab.facts.rows import Row
from ipclab.facts.shared_dict_levels import ENTRY_NAMES, LARGE, LARGEST, STUDY, reader_counts, usual_readers, where
from ipclab.figures import marks, style
from ipclab.figures.shared_dict import backends, entry_ticks, line, name_ends, time_ticks
from ipclab.report.catalogue import N_
from ipclab.tables.shared_dict import CODEC_NAMES
from ipclab.view import View

SMALL = next(iter(ENTRY_NAMES))
LOWER = 0.22  # of a row: how far p99 is drawn below the median
# Part, label, colour, hatch; in the order of time.
ENCODE = ("write.encode", N_("encoding"), style.ORANGE, "///")
STORE = ("write.transport", N_("transport of the write"), style.BLUE, "")
FETCH = ("read.transport", N_("transport of the read"), style.SKY, "...")
DECODE = ("read.decode", N_("decoding"), style.RED, "\\\\\\")
PARTS = {"write": (ENCODE, STORE), "read": (FETCH, DECODE)}


def shares(view: View, canvas: Canvas) -> None:
    """Draw: which share of a write is encoding, and of a read decoding?"""
    _ = view.say
    readers = usual_readers(view.rows)
    sizes = (SMALL, LARGE, LARGEST)
    panels = canvas.subplots(len(sizes), 2, sharex=True, squeeze=False)
    for row, entries in enumerate(sizes):
        found = view.rows.all("read", study=STUDY, arm="read-many", entries=entries, readers=readers)
        names = backends(found)
        for axes, op, title in zip(panels[row], ("write", "read"), (N_("a write"), N_("a read")), strict=True):
            left = [0.0] * len(names)
            for part, _label, colour, hatch in PARTS[op]:
                facts = [view.facts.get(f"shared_dict.share.{part}.{name}.{ENTRY_NAMES[entries]}") for name in names]
                width = [float(str(fact.value)) if fact and fact.value is not None else 0.0 for fact in facts]
                axes.barh(range(len(names)), width, left=left, color=colour, hatch=hatch, edgecolor="white")
                left = [a + b for a, b in zip(left, width, strict=True)]
            axes.set_yticks(range(len(names)), names if op == "write" else [], fontsize=7.5)
            axes.invert_yaxis()
            axes.grid(axis="y", visible=False)
            axes.set_xlim(0, 1)
            count = view.value(entries, "count", "int")
            axes.set_title(_("{what}, {entries} entries", what=_(title), entries=count), fontsize=8.5)
            axes.xaxis.set_major_formatter(lambda value, _: view.value(value, "share", "int"))
    _legend(view, canvas, panels[0][0], (ENCODE, STORE, FETCH, DECODE))


def _legend(view: View, canvas: Canvas, axes: Any, parts: tuple[tuple[str, str, str, str], ...]) -> None:
    bars = [axes.barh([0], [0], color=colour, hatch=hatch, edgecolor="white") for _, _, colour, hatch in parts]
    labels = [view.say(label) for _, label, _, _ in parts]
    canvas.legend(bars, labels, loc="outside lower center", ncols=4, fontsize=8)


def codecs(view: View, canvas: Canvas) -> None:
    """Draw: what does each codec cost, one write and one read together?"""
    _ = view.say
    readers = usual_readers(view.rows)
    panels = canvas.subplots(1, 2, sharex=True, sharey=True)
    for axes, backend in zip(panels, ("posix-shm", "lmdb"), strict=True):
        left = [0.0] * len(CODEC_NAMES)
        for part, _label, colour, hatch in (ENCODE, STORE, FETCH, DECODE):
            rows = [
                view.rows.find(part, **where("read-many", backend, LARGE, readers, codec=name)) for name in CODEC_NAMES
            ]
            width = [row.estimate.value if row else 0.0 for row in rows]
            axes.barh(range(len(rows)), width, left=left, color=colour, hatch=hatch, edgecolor="white")
            left = [a + b for a, b in zip(left, width, strict=True)]
        for place, total in enumerate(left):
            if total:
                axes.annotate(f" {view.value(total, 'ns')}", (total, place), va="center", fontsize=8)
        axes.set_title(backend, fontsize=9)
        axes.grid(axis="y", visible=False)
        marks.plain(axes.xaxis, view, "ns", "int")
        axes.set_xlabel(_("one write and one read"))
    most = max((patch.get_x() + patch.get_width() for axes in panels for patch in axes.patches), default=1.0)
    panels[0].set_xlim(0, most * 1.25 or 1.0)
    panels[0].set_yticks(range(len(CODEC_NAMES)), [_(label) for label in CODEC_NAMES.values()])
    panels[0].invert_yaxis()
    _legend(view, canvas, panels[0], (ENCODE, STORE, FETCH, DECODE))


def stream(view: View, canvas: Canvas) -> None:
    """Draw: how long does an update take until every reader has acknowledged it?"""
    _ = view.say
    found = view.rows.all("update", study=STUDY, arm="stream", nodes=1)
    sizes = sorted({int(row.point.levels["entries"]) for row in found}) or [LARGE]
    counts = reader_counts(view.rows, "stream") or [1]
    shown = sorted({counts[0], counts[-1]})
    panels = canvas.subplots(1, len(shown), sharey=True, squeeze=False)[0]
    for axes, readers in zip(panels, shown, strict=True):
        ends = []
        for backend in backends(found):
            rows = [(n, view.rows.find("update", **where("stream", backend, n, readers))) for n in sizes]
            last = line(axes, [(float(n), row) for n, row in rows if row], backend)
            if last is not None:
                ends.append((last, backend, style.LOOKS.get(backend, style.UNKNOWN)[0]))
        axes.set_yscale("log")
        entry_ticks(axes, view, sizes)
        title = _(N_("one reader")) if readers == 1 else _("{count} readers", count=view.value(readers, "count", "int"))
        axes.set_title(title, fontsize=9)
        name_ends(axes, ends, sizes[-1] * 1.3)
    time_ticks(panels[0].yaxis, view)
    panels[0].set_ylabel(_("update, acknowledged by all"))


def live(view: View, canvas: Canvas) -> None:
    """Draw: how old is what a reader gets while the writer updates without a pause?"""
    _ = view.say
    found = view.rows.all("staleness", study=STUDY, arm="live")
    sizes = sorted({int(row.point.levels["entries"]) for row in found}) or [LARGE]
    names = backends(found)
    panels = canvas.subplots(1, len(sizes), sharey=True, squeeze=False)[0]
    for axes, entries in zip(panels, sizes, strict=True):
        for row in found.all("staleness", entries=entries):
            _aged(view, axes, row, names.index(row.point.backend))
        axes.set_xscale("log")
        time_ticks(axes.xaxis, view, 4)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel(_("age of what is read"))
        axes.set_title(_("{entries} entries", entries=view.value(entries, "count", "int")), fontsize=9)
    panels[0].set_yticks(range(len(names)), names)
    panels[0].set_ylim(len(names) - 0.4, -0.7)
    for label, face in ((N_("median"), style.GREY), (N_("p99"), "white")):
        look: dict[str, Any] = {"color": style.GREY, "markerfacecolor": face, "linestyle": "none"}
        panels[0].plot([], [], marker="o", label=_(label), **look)
    canvas.legend(loc="outside lower center", ncols=2, fontsize=8)


def _aged(view: View, axes: Any, row: Row, place: int) -> None:
    """Draw one mechanism's median and p99 of the age, and how many versions it is behind."""
    colour, marker = style.LOOKS.get(row.point.backend, style.UNKNOWN)
    marks.dot(axes, row, place, horizontal=True, color=colour, marker=marker)
    key = {"study": STUDY, **row.point.key()}
    late = view.rows.find("staleness", "p99", **key)
    if late:
        look: dict[str, Any] = {"color": colour, "marker": marker, "markerfacecolor": "white"}
        marks.dot(axes, late, place + LOWER, horizontal=True, **look)
    behind = view.rows.find("launch", "versions_behind_mean", **key)
    if behind:
        text = view.say(N_("{count} versions behind"), count=view.cell(behind, ""))
        where_to = {"xycoords": axes.get_yaxis_transform(), "ha": "center", "va": "center"}
        axes.annotate(text, (0.5, place - 0.32), fontsize=7, **where_to)
