"""Dots in named rows, with intervals: values of mechanisms, or of the levels of any factor."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ipclab.marks import drawn, style
from ipclab.marks.axes import scale
from ipclab.marks.marks import INTERVAL, NAMELESS, drawable, groups, interval_ends, label_of
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
    rows = {level: row for row, level in enumerate(labels.ordered(y, dict.fromkeys(frame[y])))}
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
            ax.errorbar(
                mine.value,
                at,
                xerr=interval_ends(mine, "value"),
                marker=marker,
                color=colour,
                markerfacecolor=hollow or colour,
                **DOT,
                **INTERVAL,
            )
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
