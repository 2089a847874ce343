"""The pictures of the round-trip study."""

from typing import Any

import numpy as np
from matplotlib.figure import Figure as Canvas

from ipclab.facts.limits import PASSES
from ipclab.facts.round_trip import PLACEMENTS
from ipclab.facts.rows import Rows
from ipclab.figures import marks, style
from ipclab.report.catalogue import N_
from ipclab.studies.round_trip import OP, SIZES
from ipclab.view import View

TITLES = {"same": N_("same CPU"), "cross": N_("two CPUs")}
ECDF_POINTS = 300
NO_GAP_NS = 10_000  # where a gap of nothing is drawn on the logarithmic axis


def latency(view: View, canvas: Canvas) -> None:
    """Draw: how long does a round trip take, by size, for every mechanism, and what would the hardware allow?"""
    _ = view.say
    panels = canvas.subplots(1, 2, sharey=True)
    handles: dict[str, Any] = {}
    for axes, placement in zip(panels, PLACEMENTS, strict=True):
        found = view.rows.all(OP, study="round_trip", arm="main", placement=placement)
        for backend in sorted({row.point.backend for row in found}):
            colour, marker = style.LOOKS.get(backend, style.UNKNOWN)
            rows = _by_size(found.all(OP, backend=backend))
            sizes = [row.point.size_bytes for row in rows]
            for row, size in zip(rows, sizes, strict=True):
                marks.dot(axes, row, size, horizontal=False, color=colour, marker=marker)
            (handles[backend],) = axes.plot(
                sizes, [row.estimate.value for row in rows], color=colour, marker=marker, markersize=4.5, linewidth=0.9
            )
        handles |= _draw_limits(axes, view, placement)
        axes.set(xscale="log", yscale="log", title=_(TITLES[placement]), xlabel=_("message"))
        marks.size_ticks(axes.xaxis, view, list(SIZES), "scaled,int")
        axes.tick_params(axis="x", labelsize=7.5)
    marks.plain_log(panels[0].yaxis, view, "ns")
    panels[0].set_ylabel(_("round trip, median"))
    canvas.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=6, fontsize=8)


def _draw_limits(axes: Any, view: View, placement: str) -> dict[str, Any]:
    """Draw the native spinning echo and the copies at memcpy's speed; return their lines by name."""
    _ = view.say
    lines: dict[str, Any] = {}
    native = _by_size(view.rows.all("round-trip", study="limits", backend="echo-shm-spin", placement=placement))
    memcpy = _by_size(view.rows.all("copy", study="limits", backend="memcpy"))
    memcpy = Rows(row for row in memcpy if SIZES[0] <= row.point.size_bytes <= SIZES[-1])
    for rows, passes, label, line in (
        (native, 1, _("native echo, spinning"), "--"),
        (memcpy, PASSES["round_trip", OP], _("copies by memcpy"), ":"),
    ):
        if rows:
            at = [(row.point.size_bytes, passes * row.estimate.value) for row in rows]
            (lines[label],) = axes.plot(*zip(*at, strict=True), color=style.BLACK, linestyle=line, linewidth=1.1)
    return lines


def _by_size(rows: Rows) -> Rows:
    return Rows(sorted(rows, key=lambda row: row.point.size_bytes))


def ranking(view: View, canvas: Canvas) -> None:
    """Draw: does placement change which mechanism is fastest for the smallest message?"""
    _ = view.say
    axes = canvas.subplots()
    found = view.rows.all(OP, study="round_trip", arm="main", size_bytes=SIZES[0])
    left, right = [], []
    for backend in sorted({row.point.backend for row in found}):
        colour, marker = style.LOOKS.get(backend, style.UNKNOWN)
        pair = [found.find(OP, backend=backend, placement=placement) for placement in PLACEMENTS]
        if pair[0] is None or pair[1] is None:
            continue
        values = [row.estimate.value for row in pair if row]
        for place, row in enumerate(pair):
            marks.dot(axes, row, place, horizontal=False, color=colour, marker=marker)  # type: ignore[arg-type]
        axes.plot([0, 1], values, color=colour, linewidth=1)
        left.append((values[0], backend, colour))
        right.append((values[1], backend, colour))
    axes.set_yscale("log")
    axes.set_xticks([0, 1], [_(TITLES[placement]) for placement in PLACEMENTS])
    axes.set_xlim(-0.45, 1.45)
    axes.set_ylabel(_("round trip, median"))
    axes.grid(axis="x", visible=False)
    marks.plain_log(axes.yaxis, view, "ns")
    marks.spread_labels(axes, left, -0.05, "right")
    marks.spread_labels(axes, right, 1.05, "left")


def gap(view: View, canvas: Canvas) -> None:
    """Draw: what does an idle gap before a message do to its round trip?"""
    _ = view.say
    panels = canvas.subplots(1, 2, sharey=True)
    rows = view.rows.all(OP, study="round_trip", size_bytes=SIZES[0])
    handles: dict[str, Any] = {}
    for axes, placement in zip(panels, PLACEMENTS, strict=True):
        paced = Rows(row for row in rows if row.point.levels["arm"] == "gap" and row.point.placement == placement)
        for backend in sorted({row.point.backend for row in paced}):
            colour, marker = style.LOOKS.get(backend, style.UNKNOWN)
            busy = rows.all(OP, arm="main", backend=backend, placement=placement)
            line = sorted([*busy, *paced.all(OP, backend=backend)], key=lambda row: int(row.point.levels["gap_ns"]))
            at = [max(NO_GAP_NS, int(row.point.levels["gap_ns"])) for row in line]
            for row, x in zip(line, at, strict=True):
                marks.dot(axes, row, x, horizontal=False, color=colour, marker=marker)
            medians = [row.estimate.value for row in line]
            (handles[backend],) = axes.plot(at, medians, color=colour, marker=marker, markersize=4.5, linewidth=0.9)
        axes.set(xscale="log", yscale="log", title=_(TITLES[placement]), xlabel=_("idle gap before each message"))
        marks.plain_log(axes.xaxis, view, "ns")
        ticks = [float(NO_GAP_NS), *sorted({float(row.point.levels["gap_ns"]) for row in paced})]
        axes.set_xticks(ticks, [_("none"), *(view.value(tick, "ns", "int") for tick in ticks[1:])], fontsize=7.5)
        axes.minorticks_off()
    marks.plain_log(panels[0].yaxis, view, "ns")
    panels[0].set_ylabel(_("round trip, median"))
    canvas.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=6, fontsize=8)


def distribution(view: View, canvas: Canvas) -> None:
    """Draw: how are the round trips of the smallest message distributed, percentile by percentile?"""
    import seaborn as sns

    _ = view.say
    panels = canvas.subplots(1, 2, sharey=True)
    for axes, placement in zip(panels, PLACEMENTS, strict=True):
        found = view.rows.all(OP, study="round_trip", arm="main", size_bytes=SIZES[0], placement=placement)
        for row in sorted(found, key=lambda row: row.point.backend):
            colour, _marker = style.LOOKS.get(row.point.backend, style.UNKNOWN)
            dashed = "--" if row.point.backend in ("zmq-tcp", "mp-queue", "pipe", "shm-futex") else "-"
            shares = np.linspace(0, 1, ECDF_POINTS)
            thinned = np.quantile(view.samples(row.point.study, row.point.id, OP), shares, method="inverted_cdf")
            sns.ecdfplot(
                x=thinned, ax=axes, color=colour, linestyle=dashed, linewidth=1, label=row.point.backend, legend=False
            )
        axes.set(xscale="log", title=_(TITLES[placement]), xlabel=_("round trip"), ylabel=_("share of round trips"))
        marks.plain_log(axes.xaxis, view, "ns")
        for share in (0.5, 0.99):
            axes.axhline(share, color=style.GREY, linewidth=0.6)
            label = f"p{round(share * 100)}"
            axes.annotate(label, (axes.get_xlim()[0], share), (2, -8), textcoords="offset points", fontsize=7)
    handles, labels = panels[0].get_legend_handles_labels()
    canvas.legend(handles, labels, loc="outside lower center", ncols=6, fontsize=8)
