"""The pictures of the explorer: a metric across a factor, the distribution of points, their samples over time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import LogLocator, NullLocator

from ipclab.explore.selection import SIZE, Selection
from ipclab.facts.limits import PASSES
from ipclab.facts.rows import Row, Rows
from ipclab.figures import marks, style
from ipclab.lab.catalogue import N_
from ipclab.stats.intervals import Samples
from ipclab.view import View

CURVE_POINTS = 2_000
DOTS = 4_000
LINES = ("-", "--", ":", "-.")
PERCENTILES = (0.5, 0.9, 0.99)
DECADES = 30  # a span of levels above which their axis is logarithmic


@dataclass(frozen=True)
class Shown:
    """One run in the picture: its name, its view, and the rows that are shown."""

    name: str
    view: View
    rows: Rows


def across(shown: Sequence[Shown], selection: Selection, canvas: Canvas) -> None:
    """Draw the metric of every mechanism across a factor, a line style for each run, and the limit if there is one."""
    axes = canvas.subplots()
    every = [row for each in shown for row in each.rows]
    if not every:
        return
    view, unit = shown[0].view, every[0].unit
    levels = sorted({row.levels[selection.across] for row in every}, key=lambda level: (isinstance(level, str), level))
    numeric = all(isinstance(level, int) for level in levels)
    place = {level: float(level) if numeric else number for number, level in enumerate(levels)}
    names: list[tuple[float, str, str]] = []
    last = 0.0
    for number, each in enumerate(shown):
        for backend in sorted({row.point.backend for row in each.rows}):
            rows = [row for row in each.rows if row.point.backend == backend]
            colour, marker = style.LOOKS.get(backend, style.UNKNOWN)
            at = [place[row.levels[selection.across]] for row in rows]
            for row, x in zip(rows, at, strict=True):
                marks.dot(axes, row, x, horizontal=False, color=colour, marker=marker)
            values = [row.estimate.value for row in rows]
            line = LINES[number % len(LINES)] if len(set(at)) == len(at) else "none"
            axes.plot(at, values, color=colour, linestyle=line, linewidth=0.9)
            if number == 0:
                names.append((values[-1], f"  {backend}", colour))
            last = max(last, at[-1])
    _scales(axes, view, unit, [row.estimate.value for row in every])
    if selection.across == SIZE:
        _limit(axes, shown[0], selection)
    _levels(axes, view, levels, numeric, selection.across)
    _runs(axes, shown)
    if axes.get_yscale() == "log":
        marks.spread_labels(axes, names, last, "left")
    else:
        for value, text, colour in names:
            axes.annotate(text, (last, value), color=colour, fontsize=8, va="center")
    axes.set_ylabel(f"{selection.op} · {selection.metric}")
    axes.set_xlabel(selection.across)


def _scales(axes: Any, view: View, unit: str, values: list[float]) -> None:
    unit = "count" if unit == "1/op" else unit
    if min(values) > 0 and max(values) / min(values) > DECADES:
        axes.set_yscale("log")
        marks.plain_log(axes.yaxis, view, unit)
    else:
        axes.set_ylim(bottom=min(0.0, *values))
        marks.plain(axes.yaxis, view, unit, "")


def _levels(axes: Any, view: View, levels: list[Any], numeric: bool, name: str) -> None:
    if not numeric:
        axes.set_xticks(range(len(levels)), [str(level) for level in levels], fontsize=8)
        return
    if min(levels) > 0 and max(levels) / min(levels) > DECADES:
        axes.set_xscale("log")
    if name == SIZE:
        marks.size_ticks(axes.xaxis, view, levels, "scaled,int")
        axes.tick_params(axis="x", labelsize=8, rotation=30 if len(levels) > 6 else 0)  # noqa: PLR2004  they would touch


def _limit(axes: Any, shown: Shown, selection: Selection) -> None:
    """Draw what memcpy allows for the passes that the op makes over its data."""
    passes = PASSES.get((selection.study, selection.op))
    if passes is None or selection.metric not in ("p50", "min", "mean"):
        return
    sizes = [row.point.size_bytes for row in shown.rows]
    copies = shown.view.rows.all("copy", study="limits")
    at = sorted((row.point.size_bytes, passes * row.estimate.value) for row in copies)
    inside = [(size, value) for size, value in at if min(sizes) <= size <= max(sizes)]
    if len(inside) > 1:
        axes.plot(*zip(*inside, strict=True), color=style.BLACK, linestyle=":", linewidth=1.1)
        label = shown.view.say(N_("copies by memcpy"))
        axes.annotate(label, inside[0], xytext=(0, -9), textcoords="offset points", fontsize=7.5)


def _runs(axes: Any, shown: Sequence[Shown]) -> None:
    if len(shown) > 1:
        lines = [axes.plot([], [], color=style.BLACK, linestyle=LINES[i % len(LINES)])[0] for i in range(len(shown))]
        axes.legend(lines, [each.name for each in shown], fontsize=7.5)


def distribution(named: Sequence[tuple[str, Samples]], view: View, canvas: Canvas) -> None:
    """Draw the cumulative distribution of each point's samples (ns), with p50, p90 and p99 marked."""
    axes = canvas.subplots()
    for number, (name, samples) in enumerate(named):
        values, shares = curve(samples)
        line = LINES[number % len(LINES)]
        axes.step(values, shares, where="post", linewidth=1, linestyle=line, color=_colour(name), label=name)
    for share in PERCENTILES:
        axes.axhline(share, color=style.GREY, linewidth=0.6)
        axes.annotate(f"p{round(share * 100)}", (0, share), xycoords=("axes fraction", "data"), fontsize=7)
    axes.set_xscale("log")
    _ticks(axes.xaxis, view)
    axes.set_ylabel(view.say(N_("share of samples")))
    axes.legend(fontsize=7.5)


def curve(samples: Samples) -> tuple[Samples, Samples]:
    """Return at most `CURVE_POINTS` values of the sorted samples with the share of samples not above each."""
    ordered = np.sort(samples)
    places = np.unique(np.linspace(0, len(ordered) - 1, CURVE_POINTS).astype(int))
    return ordered[places], (places + 1) / len(ordered)


def over_time(named: Sequence[tuple[str, Samples]], view: View, canvas: Canvas) -> None:
    """Draw the samples (ns) in the order taken: where there are many, the median and the extremes of each stretch."""
    axes = canvas.subplots()
    for name, samples in named:
        at, low, middle, high = stretches(samples)
        axes.fill_between(at, low, high, color=_colour(name), alpha=0.2, linewidth=0)
        axes.plot(at, middle, color=_colour(name), linewidth=0.8, label=name)
    axes.set_yscale("log")
    _ticks(axes.yaxis, view)
    axes.set_xlabel(view.say(N_("sample")))
    axes.legend(fontsize=7.5)


def _ticks(axis: Any, view: View) -> None:
    """Give a logarithmic axis of times plain numbers, three a decade: samples of a point seldom span more."""
    marks.plain_log(axis, view, "ns")
    axis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5), numticks=12))
    axis.set_minor_locator(NullLocator())


def stretches(samples: Samples) -> tuple[Samples, Samples, Samples, Samples]:
    """Return position, minimum, median and maximum of at most `DOTS` stretches of the samples."""
    width = max(1, -(-len(samples) // DOTS))
    whole = len(samples) // width * width
    table = samples[:whole].reshape(-1, width)
    return np.arange(0, whole, width), table.min(axis=1), np.median(table, axis=1), table.max(axis=1)


def _colour(name: str) -> str:
    return style.LOOKS.get(name.split(maxsplit=1)[0], style.UNKNOWN)[0]


def label(row: Row) -> str:
    """Return how a point is called in a list: its mechanism, its placement and its size."""
    return f"{row.point.backend} · {row.point.placement} · {row.point.size_bytes}"
