"""The pictures of what threads do with their time: bars of states, and a timeline of their spans."""

from typing import Any

from matplotlib.figure import Figure as Canvas
from matplotlib.patches import Patch

from ipclab.facts.file_io_found import Found
from ipclab.figures import marks, style
from ipclab.figures.file_io import in_time
from ipclab.points import Point
from ipclab.report.catalogue import N_
from ipclab.runs.samples import decode
from ipclab.studies.file_io import OP
from ipclab.studies.file_io.experiments import COLD, SHORT
from ipclab.studies.interface import Launch
from ipclab.tables.file_io import CACHE_NAMES, STATE_NAMES, of_run
from ipclab.view import View

STATE_LOOKS = {
    "execution": (style.GREEN, ""),
    "io_wait": (style.PINK, "///"),
    "work_wait": (style.SKY, "..."),
    "preempted": (style.YELLOW, "xx"),
}
SPAN_LOOKS: dict[str, tuple[str, str, str]] = {
    "open": (style.ORANGE, "\\\\", N_("open")),
    "submit": (style.RED, "xx", N_("read call")),
    "read": (style.PINK, "///", N_("read")),
    "fault": (style.BLACK, "", N_("page faults")),
    "compute": (style.GREEN, "", N_("compute")),
    "close": (style.BLUE, "--", N_("close")),
    "wait": (style.SKY, "...", N_("wait")),
}
MOST_THREADS = 12  # of one panel


def states(view: View, canvas: Canvas) -> None:
    """Draw: what do the threads do with their time, by way of reading and mix of roles?"""
    _ = view.say
    axes = canvas.subplots()
    points = _points(of_run(view))
    labels = []
    for place, point in enumerate(points):
        left = 0.0
        counted = [launch.counters[OP] for launch in _launches(view, point)]
        for state, (colour, hatch) in STATE_LOOKS.items():
            share = sum(each[f"{state}_share"] for each in counted) / len(counted)
            look: dict[str, Any] = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.4}
            axes.barh([place], [share], left=[left], height=0.7, **look)
            left += share
        labels.append(f"{_(CACHE_NAMES[str(point.levels['cache'])])}: {point.levels['roles']}{_what(view, point)}")
    axes.set_yticks(range(len(labels)), labels)
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlim(0, 1)
    marks.plain(axes.xaxis, view, "share", "pct,int")
    axes.set_xlabel(_("share of all threads' time, mean over launches"))
    patches = [
        Patch(facecolor=colour, hatch=hatch, edgecolor="white", label=_(STATE_NAMES[state]))
        for state, (colour, hatch) in STATE_LOOKS.items()
    ]
    canvas.legend(handles=patches, loc="outside lower center", ncols=4, fontsize=8)


def _what(view: View, point: Point) -> str:
    words = {"serial": N_("files with work"), "roles": N_("small files"), "map": N_("maps of {kind} files")}
    kind = view.say(N_("large")) if point.levels["set"] == "exp-large" else view.say(N_("small"))
    return f" ({view.say(words[str(point.levels['arm'])], kind=kind)})"


def _points(run: Found) -> list[Point]:
    """Return the points whose threads are shown: those of the timeline, and the comparison of the text warm."""
    every = [row.point for row in run.rows.all(OP)]
    if not run.cores:
        return []
    drawn = [point for point in every if run.sweeps.in_timeline(point)]
    warm = [
        point
        for point in every
        if point.levels["arm"] == "serial"
        and (point.levels["cache"], point.levels["compute_ns"], point.levels["set"]) == ("warm", SHORT.mean, "mixed")
    ]
    order = ["serial", "roles", "map"]
    found = sorted([*drawn, *warm], key=lambda point: (order.index(str(point.levels["arm"])), _cold(point), point.id))
    return list({point.id: point for point in found}.values())


def _cold(point: Point) -> bool:
    return point.levels["cache"] != COLD


def timeline(view: View, canvas: Canvas) -> None:
    """Draw: what did each thread do when, in one launch of each way?"""
    _ = view.say
    found = [(point, _spans(view, point)) for point in _points(of_run(view))]
    drawn = [(point, spans) for point, spans in found if spans]
    panels = canvas.subplots(max(1, len(drawn)), 1, squeeze=False)[:, 0]
    seen: set[str] = set()
    for axes, (point, spans) in zip(panels, drawn, strict=False):
        seen |= _lanes(axes, spans)
        axes.set_title(f"{point.levels['roles']}{_what(view, point)}", fontsize=8, loc="left", pad=2)
        axes.grid(axis="y", visible=False)
        axes.invert_yaxis()
        axes.set_yticks([])
        axes.set_xlim(left=0)
        marks.plain(axes.xaxis, view, "ns", in_time(axes.get_xlim()[1]))
        axes.tick_params(axis="x", labelsize=7)
    panels[-1].set_xlabel(_("time since the start; a lane is a thread"))
    patches = [
        Patch(facecolor=colour, hatch=hatch, edgecolor="white", label=_(name))
        for kind, (colour, hatch, name) in SPAN_LOOKS.items()
        if kind in seen
    ]
    canvas.legend(handles=patches, loc="outside lower center", ncols=7, fontsize=8)


def _lanes(axes: Any, spans: list[tuple[int, str, int, int, int]]) -> set[str]:
    """Draw one lane a thread; return the kinds of spans that were there."""
    kinds = {kind for _thread, kind, *_rest in spans if kind in SPAN_LOOKS}
    lanes = sorted({thread for thread, *_rest in spans})[:MOST_THREADS]
    # What others overlap with is drawn first: a wait, then reads that are under way, then work.
    for kind in sorted(kinds, key=lambda kind: (kind != "wait", kind != "read", kind)):
        colour, hatch, _name = SPAN_LOOKS[kind]
        for lane, thread in enumerate(lanes):
            bars = [(start, end - start) for at, what, _i, start, end in spans if at == thread and what == kind]
            height = 0.3 if kind == "read" else 0.8
            shift = 0.15 if kind == "read" else -0.4
            look: dict[str, Any] = {"facecolor": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.1}
            if bars:
                axes.broken_barh(bars, (lane + shift, height), **look)
    return kinds


def _launches(view: View, point: Point) -> list[Launch]:
    return decode(view.folder / "points" / point.study / f"{point.id}.parquet").launches


def _spans(view: View, point: Point) -> list[tuple[int, str, int, int, int]]:
    """Return the spans of the point's first launch: thread, kind, file, start and end in ns."""
    kept: Any = next((launch.facts["spans"] for launch in _launches(view, point) if "spans" in launch.facts), [])
    return [(int(thread), str(kind), int(index), int(start), int(end)) for thread, kind, index, start, end in kept]
