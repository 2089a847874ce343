"""The pictures of the comparison of machines."""

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter, NullLocator

from ipclab.figures import style
from ipclab.figures.drawing import Drawing
from ipclab.machines.normalised import ALIKE, BETTER, USES, WORSE
from ipclab.machines.verdicts import LIMITS, VERDICTS, Judged, Pairing
from ipclab.machines.view import comparison
from ipclab.report.catalogue import N_
from ipclab.stats.compare import EQUIVALENCE, FASTER, NOT_COMPARABLE, SAME, SLOWER, UNDECIDED
from ipclab.tables.machines import NAMES, STUDY_LIMITS
from ipclab.view import View

# Colour, marker and hatch of a verdict: legible without colour too.
LOOKS = {
    **{FASTER: (style.GREEN, "<", ""), SLOWER: (style.RED, ">", "///")},
    **{SAME: (style.BLUE, "s", "..."), UNDECIDED: (style.GREY, "o", "\\\\\\"), NOT_COMPARABLE: ("#dddddd", "x", "xx")},
    **{BETTER: (style.GREEN, "<", ""), WORSE: (style.RED, ">", "///"), ALIKE: (style.BLUE, "s", "...")},
}
TICKS = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0)
WIDTH = 7.0  # inches
MOST_PAIRS = 3  # side by side on a page; all pairs stand in the tables
ROOM = 0.3  # of a bar's width that a number inside it needs, in inches


def _pairs(view: View) -> list[tuple[str, Pairing]]:
    found = comparison(view)
    first, *others = found.names()
    return [(f"{first} → {name}", pair) for name, pair in zip(others, found.pairings, strict=True)]


def summary(view: View, canvas: Canvas) -> None:
    """Draw: how many points of each study are faster, slower, the same, undecided, not comparable?"""
    _ = view.say
    bars = [(name, study, pair.counts(study)) for name, pair in _pairs(view) for study in pair.studies()]
    canvas.set_size_inches(WIDTH, 1.2 + 0.27 * len(bars))
    axes = canvas.subplots()
    handles: dict[str, Any] = {}
    for place, (_name, _study, counts) in enumerate(bars):
        total, left = sum(counts.values()), 0.0
        for verdict in VERDICTS:
            share = counts[verdict] / total if total else 0.0
            colour, _marker, hatch = LOOKS[verdict]
            look: dict[str, Any] = {"color": colour, "hatch": hatch, "edgecolor": "white", "height": 0.7}
            handles[_(NAMES[verdict])] = axes.barh(place, share, left=left, **look)
            if share > ROOM / WIDTH:
                box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1}
                axes.text(left + share / 2, place, str(counts[verdict]), ha="center", va="center", fontsize=8, bbox=box)
            left += share
    labels = [f"{name}  {_(STUDY_LIMITS) if study == LIMITS else study}" for name, study, _counts in bars]
    axes.set_yticks(range(len(bars)), labels, fontsize=8)
    axes.invert_yaxis()
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: view.value(value, "share", "int")))
    axes.set(xlim=(0, 1), xlabel=_("share of the points"))
    axes.grid(axis="y", visible=False)
    canvas.legend(list(handles.values()), list(handles), loc="outside lower center", ncols=5, fontsize=8)


def ratios(view: View, canvas: Canvas) -> None:
    """Draw: by what ratio do the times of each point differ, study by study?"""
    _ = view.say
    shown = _pairs(view)[:MOST_PAIRS]
    studies = sorted({study for _name, pair in shown for study in pair.studies()}, key=lambda s: (s != LIMITS, s))
    counts = [max(sum(e.point.study == study for e in pair.judged) for _name, pair in shown) for study in studies]
    heights = [max(20, count) for count in counts]
    panels = canvas.subplots(len(studies), len(shown), squeeze=False, sharex=True, height_ratios=heights)
    handles: dict[str, Any] = {}
    for column, (name, pair) in enumerate(shown):
        for row, study in enumerate(studies):
            axes = panels[row][column]
            mine = [each for each in pair.judged if each.point.study == study and each.found.ratio]
            handles |= _ratio_panel(view, axes, sorted(mine, key=lambda each: each.found.ratio or 0))
            if column == 0:
                axes.set_ylabel(_(STUDY_LIMITS) if study == LIMITS else study, fontsize=8)
        panels[0][column].set_title(name)
        _ratio_axis(view, panels[-1][column].xaxis)
        panels[-1][column].set_xlabel(_("time of the second run over the first"))
    ordered = {_(NAMES[verdict]): handles[verdict] for verdict in VERDICTS if verdict in handles}
    canvas.legend(list(ordered.values()), list(ordered), loc="outside lower center", ncols=5, fontsize=8)


def _ratio_panel(view: View, axes: Any, found: Sequence[Judged]) -> dict[str, Any]:
    axes.axvspan(1 / (1 + EQUIVALENCE), 1 + EQUIVALENCE, color="#eeeeee", zorder=0)
    axes.axvline(1, color=style.BLACK, linewidth=0.7)
    axes.set(xscale="log", yticks=[])
    handles = {}
    for verdict in VERDICTS:
        mine = [(place, each.found) for place, each in enumerate(found) if each.found.verdict == verdict]
        if not mine:
            continue
        colour, marker, _hatch = LOOKS[verdict]
        spans = [(place, each.low, each.high) for place, each in mine if each.low and each.high]
        if spans:
            places, lows, highs = zip(*spans, strict=True)
            axes.hlines(places, lows, highs, color=colour, linewidth=0.5)
        values = [each.ratio for _place, each in mine]
        face = "white" if verdict == UNDECIDED else colour
        look = {"color": colour, "marker": marker, "markersize": 2.6, "markerfacecolor": face, "markeredgewidth": 0.6}
        (handles[verdict],) = axes.plot(values, [place for place, _each in mine], linestyle="none", **look)
    return handles


def _ratio_axis(view: View, axis: Any) -> None:
    """Give a logarithmic axis of ratios a few plain numbers."""
    axis.set_major_locator(FixedLocator(list(TICKS)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: view.numbers.number(float(value), _places(value))))
    axis.set_minor_formatter(NullFormatter())
    axis.set_minor_locator(NullLocator())


def _places(value: float) -> int:
    return max(0, -math.floor(math.log10(value)))


def use(view: View, canvas: Canvas) -> None:
    """Draw: is the machine faster, or is it better used? Times over limits, both as ratios of the two runs."""
    _ = view.say
    shown = list(zip(_pairs(view), comparison(view).normalised, strict=True))[:MOST_PAIRS]
    panels = canvas.subplots(1, len(shown), squeeze=False, sharex=True, sharey=True)[0]
    handles: dict[str, Any] = {}
    for axes, ((name, _pair), found) in zip(panels, shown, strict=True):
        axes.set(xscale="log", yscale="log", title=name, xlabel=_("limit of the second over that of the first"))
        for word in USES:
            mine = [each for each in found if each.verdict == word]
            if mine:
                colour, marker, _hatch = LOOKS[word]
                at = [each.limit.value for each in mine], [each.time.value for each in mine]
                look = {"color": colour, "marker": marker, "markersize": 4, "markerfacecolor": "none"}
                (handles[word],) = axes.plot(*at, linestyle="none", **look)
        ends = [min(axes.get_xlim()[0], axes.get_ylim()[0]), max(axes.get_xlim()[1], axes.get_ylim()[1])]
        axes.plot(ends, ends, color=style.BLACK, linewidth=0.8)
        axes.annotate(
            _("used alike"), (ends[1], ends[1]), (-4, -12), textcoords="offset points", ha="right", fontsize=7
        )
        for line in (axes.axhline, axes.axvline):
            line(1, color=style.GREY, linewidth=0.6)
        _ratio_axis(view, axes.xaxis)
        _ratio_axis(view, axes.yaxis)
    panels[0].set_ylabel(_("time of the second over that of the first"))
    labels = [_(NAMES[word]) for word in handles]
    canvas.legend(list(handles.values()), labels, loc="outside lower center", ncols=5, fontsize=8)


DRAWINGS = {
    "machines-summary": Drawing(
        summary,
        WIDTH,
        2.8,
        N_("How many points of each study are faster, slower or the same on the second machine?"),
        N_(
            "Stacked bars by study. Of {compare.points.shared} points that both runs hold, {compare.points.faster} are "
            "faster, {compare.points.slower} slower, {compare.points.same} the same, {compare.points.undecided} "
            "undecided; {compare.points.not_comparable} more are not comparable."
        ),
    ),
    "machines-ratios": Drawing(
        ratios,
        WIDTH,
        8.4,
        N_("By what ratio do the times of each point differ? Every point with its interval, sorted, by study."),
        N_(
            "A dot for each point on a logarithmic axis, with the band of {compare.bound:pct,int} either side of one. "
            "The geometric mean is {compare.ratio.time:x} for the studies and {compare.ratio.limits:x} for the limits."
        ),
    ),
    "machines-use": Drawing(
        use,
        WIDTH,
        4.2,
        N_("Is the machine faster, or is it better used?"),
        N_(
            "The ratio of times over the ratio of limits, point by point. On the diagonal a machine gains what its "
            "limits gain; {compare.use.better} points lie shown below it, {compare.use.worse} shown above it."
        ),
    ),
}
