"""The pictures of the payload study."""

from typing import Any

from matplotlib.figure import Figure as Canvas

from ipclab.facts.payload import LARGE, VARIANTS
from ipclab.facts.rows import Row, Rows
from ipclab.figures import marks, style
from ipclab.points import Level
from ipclab.report.catalogue import N_
from ipclab.studies.payload.mapping import MAPPINGS
from ipclab.view import View

SOUND: dict[str, Level] = {"arm": "tcp", "nodelay": "on", "placement": "cross", **VARIANTS["kept"]}
PAST: dict[str, Level] = {"arm": "tcp", "nodelay": "off", "placement": "cross", **VARIANTS["v09"]}
MAPPING_NAMES = {
    "truncated": N_("truncated each time"),
    "reopened": N_("reopened (published)"),
    "kept": N_("mapping kept"),
}
# Parts of a write in drawing order: label, phases, colour, hatch. "faults" is what a copy costs beyond a kept one.
PARTS = (
    (N_("open and size"), ("open", "ftruncate", "map"), style.SKY, ""),
    (N_("serialise"), ("serialise",), style.YELLOW, "..."),
    (N_("copy"), ("kept-copy",), style.BLUE, ""),
    (N_("page faults"), ("faults",), style.RED, "///"),
    (N_("flush"), ("flush",), style.BLACK, ""),
    (N_("unmap and close"), ("unmap", "close"), style.GREEN, "\\\\\\"),
)


def bandwidth(view: View, canvas: Canvas) -> None:
    """Draw: how much does each way move in a second, for each payload?"""
    _ = view.say
    axes = canvas.subplots()
    largest = max((row.point.size_bytes for row in view.rows.all("handover", arm="handover")), default=0)
    copies = view.rows.all("copy", "bandwidth", study="limits", backend="memcpy")
    limit = Rows(row for row in copies if row.point.size_bytes <= largest)
    series = [
        (_("write, published method"), view.rows.all("write", "bandwidth", arm="published"), "shm-mmap", "full"),
        (_("read, published method"), view.rows.all("read", "bandwidth", arm="published"), "shm-mmap", "none"),
        (
            _("two processes, mapping kept"),
            view.rows.all("handover", "bandwidth", arm="handover", backend="shm-mmap", placement="cross"),
            "posix-shm",
            "full",
        ),
        (_("TCP, connection kept"), view.rows.all("handover", "bandwidth", **SOUND), "tcp", "none"),
        (_("TCP as v0.9"), view.rows.all("handover", "bandwidth", **PAST), "tcp", "full"),
        (_("memcpy limit"), limit, "memcpy", "full"),
    ]
    ends = [_draw_series(axes, label, rows, *look) for label, rows, *look in series if rows]
    axes.set(xscale="log", yscale="log", xlabel=_("payload"), ylabel=_("bandwidth at the median"))
    sizes = sorted({row.point.size_bytes for row in view.rows.all("handover", arm="handover")})
    marks.size_ticks(axes.xaxis, view, sizes or sorted({row.point.size_bytes for row in view.rows}))
    marks.plain_log(axes.yaxis, view, "B/s")
    _label_ends(axes, ends)


def _draw_series(axes: Any, label: str, rows: Rows, backend: str, fill: str) -> tuple[float, float, str, str]:
    colour, marker = style.LOOKS[backend]
    ordered = sorted(rows, key=lambda row: row.point.size_bytes)
    face = colour if fill == "full" else "white"
    look: dict[str, Any] = {"color": colour, "marker": marker, "markerfacecolor": face}
    for row in ordered:
        marks.dot(axes, row, row.point.size_bytes, horizontal=False, **look)
    at = [(row.point.size_bytes, row.estimate.value) for row in ordered]
    dashed = "--" if fill == "none" else ":" if backend == "memcpy" else "-"
    axes.plot(*zip(*at, strict=True), color=colour, linewidth=1, linestyle=dashed)
    return *at[-1], label, colour


def _label_ends(axes: Any, ends: list[tuple[float, float, str, str]]) -> None:
    """Write each series' name at its right end, moved apart where they would overlap."""
    if not ends:
        return
    right = max(end[0] for end in ends) * 1.35
    low, high = axes.get_ylim()
    gap = (high / low) ** 0.062
    place = 0.0
    for _, value, label, colour in sorted(ends, key=lambda end: end[1]):
        place = max(value, place * gap)
        axes.annotate(label, (right, place), color=colour, va="center", annotation_clip=False, fontsize=8.5)
    axes.set_xlim(axes.get_xlim()[0], max(end[0] for end in ends) * 60)


def write_time(view: View, canvas: Canvas) -> None:
    """Draw: where does the time of a write go, for each way to come by the mapping?"""
    _ = view.say
    axes = canvas.subplots()
    kept = _phase(view, "kept", "copy")
    bottom = dict.fromkeys(MAPPINGS, 0.0)
    for label, phases, colour, hatch in PARTS:
        lengths = {mapping: _part(view, mapping, phases, kept) for mapping in MAPPINGS}
        look: dict[str, Any] = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.4}
        axes.barh(list(MAPPINGS), list(lengths.values()), left=list(bottom.values()), label=_(label), **look)
        bottom = {mapping: bottom[mapping] + lengths[mapping] for mapping in MAPPINGS}
    for place, mapping in enumerate(MAPPINGS):
        row = view.rows.find("write", arm="mapping", mapping=mapping, size_bytes=LARGE)
        if row:
            axes.annotate(f" {view.cell(row, '')}", (bottom[mapping], place), va="center")
    axes.set_yticks(range(len(MAPPINGS)), [_(MAPPING_NAMES[mapping]) for mapping in MAPPINGS])
    axes.invert_yaxis()
    axes.grid(axis="y", visible=False)
    axes.set_xlim(0, max(bottom.values(), default=1.0) * 1.15 or 1.0)
    axes.xaxis.set_major_formatter(lambda value, _: view.value(value, "ns", "ms"))
    axes.set_xlabel(_("time of one write (sum of the phases' medians)"))
    canvas.legend(loc="outside lower center", ncols=len(PARTS), fontsize=8, handlelength=1.4, columnspacing=1.2)


def _phase(view: View, mapping: str, phase: str) -> float:
    row = view.rows.find(f"write.{phase}", arm="mapping", mapping=mapping, size_bytes=LARGE)
    return row.estimate.value if row else 0.0


def _part(view: View, mapping: str, phases: tuple[str, ...], kept: float) -> float:
    copy = _phase(view, mapping, "copy")
    if phases == ("kept-copy",):
        return min(copy, kept)
    if phases == ("faults",):
        return max(0.0, copy - kept)
    return sum(_phase(view, mapping, phase) for phase in phases)


def then_now(view: View, canvas: Canvas) -> None:
    """Draw: how long does one large transfer take, then and now, on one CPU and on two?"""
    _ = view.say
    axes = canvas.subplots()
    published = view.facts["text.payload.tcp_time"]
    if published.low is None or published.high is None:
        raise ValueError("the published estimate is a range")
    axes.plot([published.low, published.high], [0, 0], color=style.GREY, linewidth=6, solid_capstyle="butt")
    names = [_("TCP of v0.9, published estimate"), *(label for label, *_rest in _ways(view))]
    for place, (_label, backend, find) in enumerate(_ways(view), start=1):
        colour, _marker = style.LOOKS[backend]
        for placement, marker, face, shift in (("same", "o", "white", -0.17), ("cross", "s", colour, 0.17)):
            if row := find(placement):
                look: dict[str, Any] = {"color": colour, "marker": marker, "markerfacecolor": face}
                marks.dot(axes, row, place + shift, horizontal=True, **look)
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xscale("log")
    marks.plain_log(axes.xaxis, view, "ns")
    axes.set_xlabel(_("time of one transfer of {payload.size.large}"))
    for label, marker, face in ((_("same CPU"), "o", "white"), (_("two CPUs"), "s", style.GREY)):
        axes.plot([], [], marker=marker, color=style.GREY, markerfacecolor=face, linestyle="none", label=label)
    canvas.legend(loc="outside lower right", ncols=2, fontsize=8)


def _ways(view: View) -> list[tuple[str, str, Any]]:
    """Return label, mechanism and a finder by placement for each way of a large transfer."""
    _ = view.say

    def past(variant: str, nodelay: str) -> Any:
        levels = {**VARIANTS[variant], "arm": "tcp", "nodelay": nodelay, "size_bytes": LARGE}
        return lambda placement: view.rows.find("handover", placement=placement, **levels)

    def shared(backend: str) -> Any:
        levels: dict[str, Level] = {"arm": "handover", "backend": backend, "size_bytes": LARGE}
        return lambda placement: view.rows.find("handover", placement=placement, **levels)

    def file(placement: str) -> Row | None:
        return view.rows.find("write", arm="file", size_bytes=LARGE) if placement == "same" else None

    return [
        (_("TCP as v0.9, measured"), "tcp", past("v09", "off")),
        (_("TCP, pickle-0"), "tcp", past("pickle0", "off")),
        (_("TCP, pickle-5"), "tcp", past("pickle5", "off")),
        (_("TCP, large reads"), "tcp", past("chunked", "off")),
        (_("TCP, reads into a buffer"), "tcp", past("into", "off")),
        (_("TCP, connection kept too"), "tcp", past("kept", "on")),
        (_("file in /dev/shm, write only"), "file", file),
        (_("shared memory, mp-shm"), "mp-shm", shared("mp-shm")),
        (_("shared memory, posix-shm"), "posix-shm", shared("posix-shm")),
        (_("shared memory, shm-mmap"), "shm-mmap", shared("shm-mmap")),
    ]


def placement(view: View, canvas: Canvas) -> None:
    """Draw: what does placement do to handing over, for each payload?"""
    _ = view.say
    rows = view.rows.all("handover", arm="handover")
    sizes = sorted({row.point.size_bytes for row in rows})
    panels = canvas.subplots(1, max(1, len(sizes)), sharey=True, squeeze=False)[0]
    backends = sorted({row.point.backend for row in rows})
    marker_of = {"same": ("o", _("same CPU")), "cross": ("s", _("two CPUs")), "free": ("^", _("scheduler's choice"))}
    for axes, size in zip(panels, sizes, strict=False):
        for name, shift in (("same", -0.2), ("cross", 0.0), ("free", 0.2)):
            for place, backend in enumerate(backends):
                row = rows.find("handover", backend=backend, placement=name, size_bytes=size)
                if row:
                    colour = style.LOOKS.get(backend, (style.PINK, ""))[0]
                    look: dict[str, Any] = {"color": colour, "marker": marker_of[name][0]}
                    marks.dot(axes, row, place + shift, horizontal=True, **look)
        axes.set_title(view.value(size, "B"), fontsize=9)
        axes.set_xlim(left=0)
        marks.plain(axes.xaxis, view, "ns", "us,int")
        axes.set_xlabel(_("time of one handover"))
    panels[0].set_yticks(range(len(backends)), backends)
    panels[0].invert_yaxis()
    for marker, label in marker_of.values():
        panels[0].plot([], [], marker=marker, color=style.GREY, linestyle="none", label=label)
    canvas.legend(loc="outside lower center", ncols=3, fontsize=8)
