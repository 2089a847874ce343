"""The pictures of the multiplexer study."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from ipclab.facts.fact import Fact
from ipclab.facts.multiplexer import SIDES, factorial_row, main_row
from ipclab.facts.rows import Row, Rows
from ipclab.figures import marks, style
from ipclab.report.catalogue import N_
from ipclab.studies.multiplexer import (
    ADAPTIVE,
    BOTH,
    CHUNKS,
    NODES,
    POOLS,
    SIZES,
    STREAM_SIZE,
    STREAMS,
    THRESHOLD_SIZES,
    THRESHOLDS,
    WRITE,
)
from ipclab.tables.multiplexer import SIDE_NAMES, size_text
from ipclab.view import View

KIB = 1 << 10
FEW_DECADES = 150
POOL_LOOKS = {"no": (style.BLUE, "o", "-"), "yes": (style.RED, "s", "--")}
POOL_NAMES = {"no": N_("header made anew"), "yes": N_("header from a pool")}
MEMORY_SIZES = SIZES[2:]


def sides(view: View, canvas: Canvas) -> None:
    """Draw: what does a KiB of a message cost on each side, by size and node?"""
    _ = view.say
    panels = canvas.subplots(2, 2, sharex=True)
    handles: dict[str, Any] = {}
    for axes, side in zip(panels.flat, SIDES, strict=True):
        for node in NODES:
            rows = [(size, row) for size in SIZES if (row := main_row(view.rows, side, node, size))]
            if rows:
                handles[node] = _line(axes, rows, *style.LOOKS[node], scale=KIB)
        axes.set(xscale="log", yscale="log")
        axes.set_title(_(SIDE_NAMES[side]), fontsize=9)
        _size_axis(axes.xaxis, view, SIZES)
        _plain_ticks(axes, view, "ns")
    for axes in panels[:, 0]:
        axes.set_ylabel(_("time for each KiB"))
    for axes in panels[1, :]:
        axes.set_xlabel(_("message"))
    canvas.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=4, fontsize=8)


def _line(axes: Any, rows: list[tuple[int, Row]], colour: str, marker: str, *, scale: int = 0, line: str = "-") -> Any:
    """Draw medians with intervals, divided by the size in units of `scale` where one is given; return the line."""
    factors = [scale / size if scale else 1.0 for size, _ in rows]
    for (size, row), factor in zip(rows, factors, strict=True):
        marks.dot(axes, row, size, horizontal=False, scale=factor, color=colour, marker=marker)
    values = [row.estimate.value * factor for (_, row), factor in zip(rows, factors, strict=True)]
    sizes = [size for size, _ in rows]
    (drawn,) = axes.plot(sizes, values, color=colour, marker=marker, markersize=4.5, linewidth=0.9, linestyle=line)
    return drawn


def _size_axis(axis: Any, view: View, sizes: tuple[int, ...]) -> None:
    axis.set_ticks([float(size) for size in sizes], [size_text(view, size) for size in sizes], fontsize=8)
    axis.set_tick_params(which="minor", bottom=False)


def memory(view: View, canvas: Canvas) -> None:
    """Draw: how much memory do both ends allocate for one message, and which end does?"""
    _ = view.say
    panels = canvas.subplots(1, len(MEMORY_SIZES))
    places = np.arange(len(NODES))
    for axes, size in zip(panels, MEMORY_SIZES, strict=True):
        whole, far = (_values(view, size, name) for name in ("bytes_allocated", "receiver_bytes_allocated"))
        near = whole - far
        axes.barh(places, far, color=style.SKY, edgecolor="black", linewidth=0.5, label=_("receiver"))
        axes.barh(places, near, left=far, color=style.ORANGE, hatch="///", edgecolor="black", label=_("sender"))
        for place, value, sent in zip(places, whole, near, strict=True):
            both, sender = (Fact("bytes", round(part), "B") for part in (value, sent))
            label = _("{both}\nsender: {sender}", both=both, sender=sender) if value else "–"
            axes.annotate(label, (value, place), (3, 0), textcoords="offset points", va="center", fontsize=7.5)
        axes.axvline(size, color=style.BLACK, linestyle=":", linewidth=1)
        axes.set_yticks(places, NODES if axes is panels[0] else [])
        axes.invert_yaxis()
        axes.set_xlim(0, max(size, *whole) * 1.5)
        axes.set_title(_("messages of {size}", size=size_text(view, size)), fontsize=9)
        axes.set_xlabel(_("allocated for one message (dotted: the message)"))
        axes.grid(axis="y", visible=False)
        axes.xaxis.set_major_locator(MaxNLocator(3))
        axes.xaxis.set_major_formatter(lambda value, _place: view.value(value, "B", "scaled"))
    handles, labels = panels[0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=8)


def _values(view: View, size: int, metric: str) -> Any:
    rows = [main_row(view.rows, "pipe", node, size, metric) for node in NODES]
    return np.array([row.estimate.value if row else 0.0 for row in rows])


def factorial(view: View, canvas: Canvas) -> None:
    """Draw: what saves memory, the size of the chunks or the pool, and what saves time?"""
    _ = view.say
    left, right = canvas.subplots(1, 2)
    for pool in POOLS:
        colour, marker, line = POOL_LOOKS[pool]
        for axes, metric in ((left, "bytes_allocated"), (right, "p50")):
            rows = [(chunk, row) for chunk in CHUNKS if (row := factorial_row(view.rows, WRITE, pool, chunk, metric))]
            if rows:
                drawn = _line(axes, rows, colour, marker, line=line)
                drawn.set_label(_(POOL_NAMES[pool]))
    for axes, label, unit in ((left, _("bytes allocated, writing"), "B"), (right, _("time, writing"), "ns")):
        axes.set(xscale="log", yscale="log", ylabel=label, xlabel=_("chunk"))
        _size_axis(axes.xaxis, view, CHUNKS)
        _plain_ticks(axes, view, unit)
    handles, labels = left.get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=8)


def _plain_ticks(axes: Any, view: View, unit: str) -> None:
    """Give a logarithmic y axis ticks at 1, 2 and 5, or only each decade where there are many, with their unit."""
    low, high = axes.get_ylim()
    steps = (1.0, 2.0, 5.0) if high < FEW_DECADES * low else (1.0,)
    axes.yaxis.set_major_locator(LogLocator(base=10, subs=steps, numticks=12))
    spec = "scaled,int" if unit == "B" else "int"
    axes.yaxis.set_major_formatter(lambda value, _place: view.value(value, unit, spec))
    axes.yaxis.set_minor_locator(NullLocator())


def streams(view: View, canvas: Canvas) -> None:
    """Draw: what do many streams at once cost, and are they served alike?"""
    _ = view.say
    left, right = canvas.subplots(1, 2)
    found = view.rows
    for node in NODES:
        look = style.LOOKS[node]
        for axes, metric in ((left, "p50"), (right, "fairness")):
            rows = found.all(BOTH, metric, study="multiplexer", arm="streams", backend=node, size_bytes=STREAM_SIZE)
            if rows:
                _line(axes, _by_level(rows, "streams"), *look).set_label(node)
    right.axhline(1.0, color=style.BLACK, linestyle=":", linewidth=1)
    for axes, label in ((left, _("time for each message")), (right, _("slowest stream over the mean"))):
        axes.set(xscale="log", ylabel=label, xlabel=_("streams at once"))
        axes.set_xticks(STREAMS, [view.value(count, "count") for count in STREAMS])
        axes.minorticks_off()
    left.set_ylim(bottom=0)
    marks.plain(left.yaxis, view, "ns", "us,int")
    right.set_ylim(bottom=0.9)
    right.yaxis.set_major_locator(MaxNLocator(4))
    right.yaxis.set_major_formatter(lambda value, _place: view.numbers.number(float(value), 1))
    right.annotate(_("all alike"), (STREAMS[0], 1.0), (2, 3), textcoords="offset points", fontsize=8)
    handles, labels = left.get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=8)


def _by_level(rows: Rows, level: str) -> list[tuple[int, Row]]:
    return sorted(((int(row.point.levels[level]), row) for row in rows), key=lambda each: each[0])


def threshold(view: View, canvas: Canvas) -> None:
    """Draw: where should the fast path end, and what does a node without a threshold take?"""
    _ = view.say
    panels = canvas.subplots(1, len(THRESHOLD_SIZES))
    for axes, size in zip(panels, THRESHOLD_SIZES, strict=True):
        rows = view.rows.all(WRITE, study="multiplexer", arm="threshold", size_bytes=size)
        hybrid = rows.all(WRITE, backend="hybrid")
        if hybrid:
            _line(axes, _by_level(hybrid, "threshold"), *style.LOOKS["hybrid"]).set_label("hybrid")
        for row in rows.all(WRITE, backend=ADAPTIVE):
            colour, marker = style.LOOKS[ADAPTIVE]
            marks.dot(axes, row, THRESHOLDS[-1] * 2, horizontal=False, color=colour, marker=marker)
            axes.axhline(row.estimate.value, color=colour, linewidth=0.9, linestyle="--", label=ADAPTIVE)
        axes.axvline(size, color=style.GREY, linestyle=":", linewidth=1)
        axes.set(xscale="log", xlabel=_("threshold (dotted: the message)"))
        axes.set_title(_("messages of {size}", size=size_text(view, size)), fontsize=9)
        _size_axis(axes.xaxis, view, THRESHOLDS)
        axes.tick_params(axis="x", labelsize=7)
        axes.set_ylim(bottom=0)
        marks.plain(axes.yaxis, view, "ns", "ns,int")
    panels[0].set_ylabel(_("time, writing"))
    handles, labels = panels[0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=8)
