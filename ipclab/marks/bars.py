"""Values in named rows (dots, bars, hatches), limits, panels, and which of many levels lead."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ipclab.frames.rows import check_columns
from ipclab.marks import drawn, style
from ipclab.marks.axes import note_ends, reach, scale
from ipclab.marks.curves import lines
from ipclab.marks.marks import (
    INTERVAL,
    NAMELESS,
    drawable,
    groups,
    interval_ends,
    label_of,
)
from ipclab.stats.quantity import Quantity
from ipclab.words import labels
from ipclab.words.catalogue import N_

HATCHES = ("", "///", "...", "\\\\\\", "xx", "--", "++", "oo")
WIDE = 10.0  # a ratio of values above which dots stand on a logarithmic axis
FEW_LEVELS = 2  # of an axis, that make no line

ROOM = 0.5  # that the levels of hue share in one place
DOT: dict[str, Any] = {"markersize": 4.5, "label": NAMELESS, **INTERVAL}
SPINS = N_("spins while it waits, at first at least")


def name_rows(ax: Any, factor: str, levels: Sequence[Any]) -> None:
    """Name the rows of a horizontal picture, the first on top."""
    ax.set_yticks(range(len(levels)), [label_of(ax, factor, level) for level in levels])
    ax.set_ylim(len(levels) - 0.5, -0.5)


def _rows_of(ax: Any, levels: Iterable[Any]) -> dict[Any, int]:
    """Return the row of each level, from the top: that of panels that share the axis, if it has one."""
    known = drawn.sketch_of(ax).levels
    together = ax.get_shared_y_axes().get_siblings(ax)
    before = [level for other in together for level in known.get(other, ())]
    known[ax] = list(dict.fromkeys([*before, *levels]))
    return {level: row for row, level in enumerate(known[ax])}


def dots(
    frame: pd.DataFrame, *, y: str, ax: Any, hue: str | None = None, log: str = ""
) -> dict[Any, int]:
    """Draw each level of `y` as dots on a horizontal scale, levels of `hue` side by side.

    Returns the row of each level of `y`, from the top.
    """
    if not drawable(frame, ax, y, hue):
        return {}
    rows = _rows_of(ax, labels.ordered(y, dict.fromkeys(frame[y])))
    sketch = drawn.sketch_of(ax)
    series = list(groups(frame, hue))
    for nth, (level, part) in enumerate(series):
        shift = (nth - (len(series) - 1) / 2) * ROOM / len(series)
        place = sketch.place(hue, level)
        marker = style.SERIES[place % len(style.SERIES)][1]
        hollow = "white" if place % 2 else None  # else it is filled with its own colour
        for name, mine in part.groupby(y, sort=False):
            of_row = (name, sketch.place(y, name)) if y == "backend" else (level, place)
            colour = style.look(*of_row)[0]
            at = np.full(len(mine), rows[name] + shift)
            look = {"marker": marker, "color": colour, "markerfacecolor": hollow or colour}
            ax.errorbar(mine.value, at, xerr=interval_ends(mine), **look, **DOT)
            names = [label_of(ax, factor, of) for factor, of in ((y, name), (hue, level)) if factor]
            sketch.series.append((ax, mine, mine.value, at, sketch.words.joined(names)))
        if hue:
            colour = style.GREY if y == "backend" else style.look(level, place)[0]
            look = {"color": colour, "markerfacecolor": hollow or colour}
            ax.plot([], [], marker, label=label_of(ax, hue, level), **look)
    name_rows(ax, y, list(rows))
    ax.set_ylabel("")
    scale(ax, "x", frame, "value", log="x" in log)
    return rows


def values_beside(
    frame: pd.DataFrame, rows: dict[Any, int], *, y: str, ax: Any, label: str
) -> None:
    """Write the value of each level of `y` at the right edge of its row, below `label`.

    `rows` are those that `dots` returned.
    """
    if not rows or frame.empty:
        return
    edge = ax.get_yaxis_transform()
    numbers = drawn.sketch_of(ax).words.numbers
    ax.annotate(label, (1.01, 1), xycoords="axes fraction", fontsize="small", va="bottom")
    for level, value, unit in zip(frame[y], frame.value, frame.unit, strict=True):
        look = {"transform": edge, "fontsize": "small", "va": "center"}
        ax.text(1.01, rows[level], numbers.format(Quantity(value, unit)), **look)


def spinning(rows: dict[Any, int], levels: Iterable[Any], *, ax: Any) -> None:
    """Hatch the rows of mechanisms that spin while they wait, and say so in the legend.

    `rows` are those that `dots` returned, `levels` the mechanisms.
    """
    if not rows:
        return
    label = drawn.sketch_of(ax).say(SPINS)
    for row in sorted(rows[level] for level in set(levels) & rows.keys()):
        look = {"facecolor": "none", "edgecolor": style.GREY, "hatch": "////"}
        ax.axhspan(row - 0.5, row + 0.5, linewidth=0, alpha=0.5, zorder=0, label=label, **look)
        label = NAMELESS


def bars(frame: pd.DataFrame, *, y: str, hue: str, ax: Any) -> None:
    """Draw a stacked bar for each level of `y`, a part for each level of `hue` in order."""
    if not drawable(frame, ax, y, hue):
        return
    rows = list(_rows_of(ax, dict.fromkeys(frame[y])))
    levels = labels.ordered(hue, dict.fromkeys(frame[hue]))
    lengths = frame.groupby([y, hue]).value.sum().unstack(fill_value=0)
    lengths = lengths.reindex(index=rows, columns=levels, fill_value=0)
    left = lengths.cumsum(axis="columns").shift(axis="columns", fill_value=0.0)
    for place, level in enumerate(levels):
        look: dict[str, Any] = {
            "label": label_of(ax, hue, level),
            "color": style.SERIES[place % len(style.SERIES)][0],
            "hatch": HATCHES[place % len(HATCHES)],
        }
        ends = {"width": lengths[level], "left": left[level]}
        ax.barh(range(len(rows)), **ends, **look, edgecolor="white", linewidth=0.4)
    name_rows(ax, y, rows)
    ax.grid(axis="y", visible=False)
    scale(ax, "x", frame, "value", log=False)
    note_ends(ax, "x", [0, lengths.sum(axis="columns").max()])
    ax.set_xlim(left=0)


def limit(frame: pd.DataFrame, *, x: str, ax: Any, label: str, dash: str = ":") -> None:
    """Draw the hardware's limit, rows of `limits`, as a black broken line."""
    if frame.empty:
        return
    part = frame.sort_values(x, kind="stable")
    reach(ax, "y", part.value.min(), part.value.max())  # it stays in view
    note_ends(ax, "y", part.value)
    note_ends(ax, "x", part[x])
    look = {"color": style.BLACK, "linestyle": dash, "linewidth": 1.1}
    marker = "_" if len(part) == 1 else None
    ax.plot(part[x], part.value, label=drawn.sketch_of(ax).say(label), marker=marker, **look)


def over(
    frame: pd.DataFrame,
    *,
    x: str,
    hue: str,
    ax: Any,
    label: str,
    xlabel: str = "",
    log: str = "",
    leading: Sequence[Any] | None = None,
) -> None:
    """Draw values over `x` as lines; where it has one or two levels, as dots by `hue`.

    `label` is the name of the values. Of lines, `xlabel` is that of `x`, `log` names the
    logarithmic axes ("xy"), and `leading` are those that are not grey.
    """
    if frame[x].nunique() > FEW_LEVELS:
        lines(frame, x=x, hue=hue, ax=ax, log=log, leading=leading)
        ax.set_ylabel(label)
        ax.set_xlabel(xlabel or ax.get_xlabel())
        return
    wide = "y" in log and frame.value.max() > WIDE * frame.value.min()
    dots(frame, y=hue, hue=x, ax=ax, log="x" if wide else "")
    ax.set_xlabel(label)
    if not wide:
        ax.set_xlim(left=0)


def leading(
    frame: pd.DataFrame, *, x: str, hue: str, most: int = 5, greatest: bool = False
) -> list[Any]:
    """Return at most `most` levels of `hue`: those least (or greatest) at some `x`, and so on."""
    keys = [name for name in dict.fromkeys((x, "placement")) if name in frame]
    ranks = frame.groupby(keys).value.rank(ascending=not greatest)
    best = ranks.groupby(frame[hue]).agg(["min", "mean"])
    return list(best.sort_values(["min", "mean"]).index[:most])


def facets(frame: pd.DataFrame, by: str, axes: Any) -> Iterator[tuple[Any, pd.DataFrame]]:
    """Yield axes and rows of each level of `by`, titled; there must be a panel for each."""
    check_columns(frame, [by])
    panels = list(np.ravel(axes))
    for ax in panels[max(1, len(frame[by].unique())) :]:
        ax.set_visible(False)
    if frame.empty:
        drawable(frame, panels[0])
    for ax, (level, part) in zip(panels, groups(frame, by), strict=False):
        ax.set_title(label_of(ax, by, level), fontsize=9)
        yield ax, part
