"""The pictures of the file-reading study: what reading costs, by way, threads and file size."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

from ipclab.facts.file_io_found import BUFFERS, Found
from ipclab.facts.rows import Row
from ipclab.figures import marks, style
from ipclab.points import Level
from ipclab.report.catalogue import N_
from ipclab.studies.file_io import KIB, MIB, OP, TASK
from ipclab.studies.file_io.experiments import CACHES, COLD, SIZED, WARM, sized
from ipclab.tables.file_io import CACHE_NAMES, KIND_NAMES, WAY_NAMES, of_run
from ipclab.view import View

BUFFER_LOOKS = {
    "fresh": (style.RED, "o", "-", N_("fresh buffer")),
    "prefaulted": (style.BLUE, "s", "--", N_("pages touched before")),
    "registered": (style.GREEN, "^", ":", N_("registered buffer")),
}
CACHE_LOOKS = {COLD: (style.BLUE, "o", "-", "full"), WARM: (style.RED, "s", "--", "none")}
LONGEST_MIXES = 12
FEW_MS = 5e6


def _scaled(axis: Any, view: View, values: Sequence[int], unit: str) -> None:
    """Put the ticks of a logarithmic axis at `values`."""
    axis.set_major_locator(FixedLocator([float(value) for value in values]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: view.value(round(value), unit, _spec(value, unit))))
    axis.set_minor_formatter(NullFormatter())
    axis.set_minor_locator(FixedLocator([]))


def _spec(value: float, unit: str) -> str:
    """Return how a tick is written: bytes in the binary unit that fits."""
    if unit != "B" or value < KIB:
        return "int"
    return "KiB,int" if value < MIB else "MiB,int"


def in_time(longest: float) -> str:
    """Return in which unit the ticks of an axis up to `longest` (ns) are whole numbers."""
    return "ms,int" if longest > FEW_MS else "us,int"


def _line(axes: Any, pairs: Sequence[tuple[float, Row]], label: str, **look: Any) -> Any:
    """Draw rows over `x` with their intervals and a line; return the line's handle."""
    for x, row in pairs:
        marks.dot(axes, row, x, horizontal=False, **{k: v for k, v in look.items() if k != "linestyle"})
    at = [(x, row.estimate.value) for x, row in pairs]
    (line,) = axes.plot(*zip(*at, strict=True), label=label, linewidth=1, markersize=4.5, **look)
    return line


def overlap(view: View, canvas: Canvas) -> None:
    """Draw: do large files come faster when several are read at once, and how long does each then take?"""
    _ = view.say
    left, right = canvas.subplots(1, 2)
    run = of_run(view)
    serial = run.row(OP, arm="overlap", backend="sync", cache=COLD)
    if serial:
        left.axhline(serial.estimate.value, color=style.BLACK, linestyle=":", linewidth=1.1)
        where = (0.02, serial.estimate.value)
        look: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points", "fontsize": 8}
        left.annotate(_("serial reads"), where, (0, -11), **look)
    for axes, op, name in ((left, OP, _("all files")), (right, f"{TASK}latency", _("one file"))):
        found = run.rows.all(op, arm="overlap", backend="overlapped", cache=COLD)
        pairs = sorted(((float(row.point.levels["depth"]), row) for row in found), key=lambda pair: pair[0])
        if pairs:
            _line(axes, pairs, name, color=style.LOOKS["overlapped"][0], marker="o", linestyle="-")
        axes.set_xscale("log", base=2)
        _scaled(axes.xaxis, view, [round(x) for x, _row in pairs] or [1], "count")
        axes.set(title=name, xlabel=_("files in flight"))
        axes.set_ylim(bottom=0)
        marks.plain(axes.yaxis, view, "ns", in_time(axes.get_ylim()[1]))
    left.set_ylabel(_("time, files not in memory"))


def calls(view: View, canvas: Canvas) -> None:
    """Draw: what does the read call cost over file size, by the state of its buffer?"""
    _ = view.say
    axes = canvas.subplots()
    run = of_run(view)
    for buffer in BUFFERS:
        colour, marker, line, name = BUFFER_LOOKS[buffer]
        where: dict[str, Level] = {"arm": "call", "backend": "overlapped", "cache": COLD, "buffer": buffer}
        found = [(float(size), run.row(f"{TASK}submit", set=sized(size), **where)) for size in SIZED]
        pairs = [(size, row) for size, row in found if row]
        if pairs:
            _line(axes, pairs, _(name), color=colour, marker=marker, linestyle=line)
    opened = [(float(size), _opened(run, size)) for size in SIZED]
    if there := [(size, row) for size, row in opened if row]:
        _line(axes, there, _("opening"), color=style.BLACK, marker="x", linestyle="-.")
    said = [(size, f"text.file_io.said.call.{size}.call") for size in sorted(SIZED)]
    texts = [(size, float(view.facts[name].value or 0)) for size, name in said if name in view.facts]
    axes.plot(
        *zip(*texts, strict=True), color=style.GREY, marker="h", markersize=4, linewidth=0.9, label=_("published")
    )
    axes.set(xscale="log", yscale="log", xlabel=_("size of the file"), ylabel=_("read call, median"))
    _scaled(axes.xaxis, view, sorted(SIZED), "B")
    axes.tick_params(axis="x", labelsize=7.5)
    marks.plain_log(axes.yaxis, view, "ns")
    canvas.legend(loc="outside lower center", ncols=5, fontsize=8)


def _opened(run: Found, size: int) -> Row | None:
    where: dict[str, Level] = {"arm": "call", "backend": "overlapped", "cache": COLD, "set": sized(size)}
    return run.row(f"{TASK}open", buffer="fresh", **where)


def threads(view: View, canvas: Canvas) -> None:
    """Draw: how many threads are enough when all read calls come first, for large and for small files?"""
    _ = view.say
    panels = canvas.subplots(1, 2)
    run = of_run(view)
    for axes, (name, kind) in zip(panels, KIND_NAMES.items(), strict=True):
        counts: set[int] = set()
        ends: list[tuple[float, float, str, str]] = []
        for cache in CACHES:
            colour, marker, line, fill = CACHE_LOOKS[cache]
            found = run.rows.all(OP, arm="soon", set=name, cache=cache)
            pairs = sorted(((float(row.point.levels["threads"]), row) for row in found), key=lambda pair: pair[0])
            face = colour if fill == "full" else "white"
            look: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": line, "markerfacecolor": face}
            if pairs:
                _line(axes, pairs, _(CACHE_NAMES[cache]), **look)
                ends.append((pairs[-1][1].estimate.value, pairs[-1][0], _(CACHE_NAMES[cache]), colour))
            counts |= {round(x) for x, _row in pairs}
        if run.cores:
            axes.axvline(run.cores, color=style.GREY, linewidth=0.8, linestyle=":")
            axes.annotate(
                _("CPUs"), (run.cores, 0.02), (3, 2), xycoords=("data", "axes fraction"), textcoords="offset points",
                fontsize=7.5, color=style.GREY,
            )  # fmt: skip
        axes.set_xscale("log", base=2)
        _scaled(axes.xaxis, view, sorted(counts) or [1], "count")
        axes.set(title=_(kind), xlabel=_("threads"))
        axes.set_ylim(bottom=0)
        _name_ends(axes, ends)
        marks.plain(axes.yaxis, view, "ns", in_time(axes.get_ylim()[1]))
    panels[0].set_ylabel(_("elapsed, median"))


def _name_ends(axes: Any, ends: list[tuple[float, float, str, str]]) -> None:
    """Write each line's name at its right end, moved apart where they would overlap."""
    gap, place = 0.07 * axes.get_ylim()[1], float("-inf")
    for value, x, label, colour in sorted(ends):
        place = max(value, place + gap)
        look: dict[str, Any] = {"textcoords": "offset points", "va": "center", "annotation_clip": False}
        axes.annotate(label, (x, place), (6, 0), color=colour, **look)


def roles(view: View, canvas: Canvas) -> None:
    """Draw: how many threads should read and how many compute, for small files?"""
    _ = view.say
    axes = canvas.subplots()
    found = of_run(view).rows.all(OP, arm="roles", cache=COLD)
    ordered = sorted(found, key=lambda row: row.estimate.value)[:LONGEST_MIXES]
    for place, row in enumerate(ordered):
        mixed = "+" in str(row.point.levels["roles"])
        colour, marker = (style.BLUE, "s") if mixed else (style.RED, "o")
        marks.dot(axes, row, place, horizontal=True, color=colour, marker=marker)
    names = [str(row.point.levels["roles"]) for row in ordered]
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    marks.plain(axes.xaxis, view, "ns", in_time(axes.get_xlim()[1]))
    axes.set_xlabel(_("elapsed, files not in memory"))
    for colour, marker, label in (
        (style.BLUE, "s", _("some threads only compute or only read")),
        (style.RED, "o", _("all threads do both")),
    ):
        axes.plot([], [], color=colour, marker=marker, linestyle="none", label=label)
    canvas.legend(loc="outside lower center", ncols=2, fontsize=8)


def maps(view: View, canvas: Canvas) -> None:
    """Draw: read or map, for small and large files, in memory and not?"""
    _ = view.say
    panels = canvas.subplots(1, 2, sharey=True)
    run = of_run(view)
    places = [(cache, backend) for cache in CACHES for backend in WAY_NAMES]
    for axes, (name, kind) in zip(panels, KIND_NAMES.items(), strict=True):
        for place, (cache, backend) in enumerate(places):
            colour, marker = style.LOOKS[backend]
            for row in run.rows.all(OP, arm="map", set=name, cache=cache, backend=backend, advice="none"):
                past = cache == WARM or backend == "mmap" or row.point.levels["direct"] == "yes"
                look: dict[str, Any] = {"color": colour, "marker": marker}
                look["markerfacecolor"] = colour if past else "white"
                marks.dot(axes, row, place, horizontal=True, **look)
        axes.axhline(len(WAY_NAMES) - 0.5, color=style.GREY, linewidth=0.8)
        axes.set_title(_(kind))
        axes.set_xlim(left=0)
        marks.plain(axes.xaxis, view, "ns", in_time(axes.get_xlim()[1]))
        axes.set_xlabel(_("elapsed"))
    labels = [f"{_(CACHE_NAMES[cache])}: {_(WAY_NAMES[backend])}" for cache, backend in places]
    panels[0].set_yticks(range(len(places)), labels)
    panels[0].invert_yaxis()
    for face, label in (
        (style.GREY, _("as published (one mark a thread count)")),
        ("white", _("through the page cache")),
    ):
        panels[0].plot([], [], marker="s", color=style.GREY, markerfacecolor=face, linestyle="none", label=label)
    canvas.legend(loc="outside lower center", ncols=2, fontsize=8)


def faults(view: View, canvas: Canvas) -> None:
    """Draw: how much of a map's time do page faults take over file size?"""
    _ = view.say
    axes = canvas.subplots()
    run = of_run(view)
    sizes: set[int] = set()
    for cache in CACHES:
        colour, marker, line, fill = CACHE_LOOKS[cache]
        at = []
        for size in sorted(SIZED):
            where: dict[str, Level] = {"arm": "fault", "backend": "mmap", "set": sized(size), "cache": cache}
            fault, work = (run.get(f"{TASK}{op}", **where) for op in ("fault", "compute"))
            if fault and work:
                at.append((size, fault.value / (fault.value + work.value)))
        sizes |= {size for size, _share in at}
        if at:
            face = colour if fill == "full" else "white"
            look: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": line, "markerfacecolor": face}
            axes.plot(*zip(*at, strict=True), label=_(CACHE_NAMES[cache]), **look)
    said = [(size, f"text.file_io.said.fault.{size}.share") for size in sorted(SIZED)]
    texts = [(size, float(view.facts[name].value or 0)) for size, name in said if name in view.facts]
    axes.plot(*zip(*texts, strict=True), color=style.GREY, marker="h", linewidth=0.9, label=_("published"))
    axes.set(xscale="log", xlabel=_("size of the file"), ylabel=_("faults, share of faults and one sum"))
    axes.set_ylim(0, 1)
    marks.plain(axes.yaxis, view, "share", "pct,int")
    _scaled(axes.xaxis, view, sorted(sizes | {size for size, _share in texts}), "B")
    canvas.legend(loc="outside lower center", ncols=3, fontsize=8)
