"""Dots in named rows, with intervals: a mark beside the lines of `ipclab.marks`.

It draws rows of one study's frame into any matplotlib axes, refuses rows of another
study and two rows in one place (levels that were not narrowed down), and says in words why nothing
is drawn.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ipclab.marks import drawn, style
from ipclab.marks.axes import scale
from ipclab.marks.marks import (
    INTERVAL,
    NAMELESS,
    add_hover,
    drawable,
    groups,
    interval_ends,
    label_of,
)
from ipclab.words import labels

ROOM = 0.5  # that the levels of hue share in one place
DOT: dict[str, Any] = {"markersize": 4.5, "label": NAMELESS}


def name_rows(ax: Any, factor: str, levels: Sequence[Any]) -> None:
    """Name the rows of a horizontal picture, the first on top."""
    ax.set_yticks(range(len(levels)), [label_of(ax, factor, level) for level in levels])
    ax.set_ylim(len(levels) - 0.5, -0.5)


def dots(
    frame: pd.DataFrame, *, y: str, ax: Any, hue: str | None = None, log: str = ""
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
            add_hover(ax, mine, mine.value, at, drawn.of(ax).words.joined(names))
        if hue:
            face = "white" if hollow else style.GREY
            _name_mark(ax, marker, label_of(ax, hue, level), face)
    name_rows(ax, y, rows)
    ax.set_ylabel("")
    scale(ax, "x", frame, "value", log="x" in log)
    return {level: row for row, level in enumerate(rows)}


def _name_mark(ax: Any, marker: str, label: str, face: str) -> None:
    """Name a grey mark in the legend, filled with the colour `face`."""
    ax.plot([], [], marker, label=label, color=style.GREY, markerfacecolor=face)
