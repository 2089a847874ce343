"""Marks that figures share below seaborn and matplotlib: values, panels, limits.

Every helper draws rows of one study's frame into any matplotlib axes, refuses rows of another
study and two rows in one place (levels that were not narrowed down), and says in words why nothing
is drawn.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from ipclab.marks import drawn, style
from ipclab.marks.axes import note_ends, reach, scale
from ipclab.marks.marks import (
    INTERVAL,
    NAMELESS,
    add_hover,
    check_columns,
    drawable,
    groups,
    interval_ends,
    label_of,
    name_rows,
)
from ipclab.stats.quantity import Quantity
from ipclab.words import labels
from ipclab.words.catalogue import N_

ROOM = 0.5  # that the levels of hue share in one place
DOT: dict[str, Any] = {"markersize": 4.5, "label": NAMELESS}
SPINS = N_("spins while it waits, at first at least")
COLOURS = N_("colour: the mechanism, alike in all figures")


def dots(
    frame: pd.DataFrame,
    *,
    y: str,
    ax: Any,
    hue: str | None = None,
    log: str = "",
) -> dict[Any, int]:
    """Draw each level of `y` as dots on a horizontal scale, levels of `hue` side by side.

    Returns the row of each level of `y`, from the top.
    """
    if not drawable(frame, ax, y, hue):
        return {}
    rows = labels.ordered(y, dict.fromkeys(frame[y]))
    series = list(groups(frame, hue))
    for place, (level, part) in enumerate(series):
        shift = (place - (len(series) - 1) / 2) * ROOM / len(series)
        marker = style.SERIES[place % len(style.SERIES)][1]
        hollow = bool(place % 2)
        for name, mine in part.groupby(y, sort=False):
            colour = style.look(name if y == "backend" else level, place)[0]
            at = np.full(len(mine), rows.index(name) + shift)
            ax.errorbar(
                mine.value,
                at,
                xerr=interval_ends(mine, "value"),
                marker=marker,
                color=colour,
                markerfacecolor="white" if hollow else colour,
                **DOT,
                **INTERVAL,
            )
            names = [label_of(ax, y, name)] + ([label_of(ax, hue, level)] if hue else [])
            add_hover(
                ax,
                mine,
                mine.value,
                at,
                drawn.of(ax).words.joined(names),
            )
        if hue:
            face = "white" if hollow else style.GREY
            _name_mark(ax, marker, label_of(ax, hue, level), face)
    name_rows(ax, y, rows)
    ax.set_ylabel("")
    scale(ax, "x", frame, "value", log="x" in log)
    return {level: row for row, level in enumerate(rows)}


def values_beside(
    frame: pd.DataFrame,
    rows: dict[Any, int],
    *,
    y: str,
    ax: Any,
    label: str,
) -> None:
    """Write the value of each level of `y` at the right edge of its row, below `label`.

    `rows` are those that `dots` returned.
    """
    edge = ax.get_yaxis_transform()
    look = {"fontsize": "small", "va": "center"}
    ax.annotate(label, (1.01, 1), xycoords="axes fraction", fontsize="small", va="bottom")
    for level, value, unit in zip(
        frame[y],
        frame.value,
        frame.unit,
        strict=True,
    ):
        written = drawn.of(ax).words.numbers.format(Quantity(value, unit))
        ax.text(1.01, rows[level], written, transform=edge, **look)


def spinning(
    rows: dict[Any, int],
    levels: Iterable[Any],
    *,
    ax: Any,
) -> None:
    """Hatch the rows of mechanisms that spin while they wait, and say so in the legend.

    `rows` are those that `dots` returned, `levels` the mechanisms; the legend names the colours
    too.
    """
    if not rows:
        return
    label = drawn.of(ax).say(SPINS)
    for row in sorted(rows[level] for level in set(levels) & rows.keys()):
        look = {"facecolor": "none", "edgecolor": style.GREY, "hatch": "////"}
        ax.axhspan(row - 0.5, row + 0.5, linewidth=0, alpha=0.5, zorder=0, label=label, **look)
        label = NAMELESS
    ax.plot([], [], " ", label=drawn.of(ax).say(COLOURS))


def bars(
    frame: pd.DataFrame,
    *,
    y: str,
    hue: str,
    ax: Any,
) -> None:
    """Draw a stacked bar for each level of `y`, a part for each level of `hue` in order."""
    if not drawable(frame, ax, y, hue):
        return
    rows = list(dict.fromkeys(frame[y]))
    levels = labels.ordered(hue, dict.fromkeys(frame[hue]))
    lengths = frame.groupby([y, hue]).value.sum().unstack(fill_value=0)
    lengths = lengths.reindex(index=rows, columns=levels)
    left = lengths.cumsum(axis="columns").shift(axis="columns", fill_value=0.0)
    for place, level in enumerate(levels):
        ax.barh(
            range(len(rows)),
            lengths[level],
            left=left[level],
            label=label_of(ax, hue, level),
            color=style.SERIES[place % len(style.SERIES)][0],
            hatch=style.HATCHES[place % len(style.HATCHES)],
            edgecolor="white",
            linewidth=0.4,
        )
    name_rows(ax, y, rows)
    ax.grid(axis="y", visible=False)
    scale(ax, "x", frame, "value", log=False)
    note_ends(ax, "x", [0, lengths.sum(axis="columns").max()])
    ax.set_xlim(left=0)


def limit(
    frame: pd.DataFrame,
    *,
    x: str,
    ax: Any,
    label: str,
    passes: float = 1,
    dash: str = ":",
) -> None:
    """Draw the hardware's limit, a black broken line: `passes` times rows of `limits`."""
    if frame.empty:
        return
    part = frame.sort_values(x, kind="stable")
    values = passes * part.value
    reach(ax, "y", values.min(), values.max())  # it stays in view
    note_ends(ax, "y", values)
    note_ends(ax, "x", part[x])
    ax.plot(
        part[x],
        values,
        label=drawn.of(ax).say(label),
        color=style.BLACK,
        linestyle=dash,
        linewidth=1.1,
        marker="_" if len(part) == 1 else None,
    )


def facets(
    frame: pd.DataFrame,
    by: str,
    axes: Any,
) -> Iterator[tuple[Any, pd.DataFrame]]:
    """Yield axes and rows of each level of `by`, titled; there must be a panel for each."""
    check_columns(frame, by)
    panels = list(np.ravel(axes))
    for ax in panels[max(1, len(frame[by].unique())) :]:
        ax.set_visible(False)
    if frame.empty:
        drawable(frame, panels[0])
    for ax, (level, part) in zip(panels, groups(frame, by), strict=False):
        ax.set_title(label_of(ax, by, level), fontsize=9)
        yield ax, part


def _name_mark(ax: Any, marker: str, label: str, face: str) -> None:
    """Name a grey mark in the legend, filled with the colour `face`."""
    ax.plot([], [], marker, label=label, color=style.GREY, markerfacecolor=face)
