"""Lines over a factor: with markers, intervals and names at their ends, and which of many lead."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import isotonic_regression

from ipclab.marks import drawn, style
from ipclab.marks.axes import scale, ticks_at
from ipclab.marks.marks import INTERVAL, NAMELESS, drawable, groups, interval_ends, label_of
from ipclab.words import labels
from ipclab.words.catalogue import N_

LINE: dict[str, Any] = {"markersize": 4.5, "linewidth": 1.0}
NOT_NAMED: dict[str, Any] = {"color": style.PALE, "linestyle": "-", "linewidth": 0.7, "zorder": 1}
GREY_LOOK: dict[str, Any] = {
    "color": style.GREY,
    "linestyle": "--",
    "markerfacecolor": "white",
    "markeredgecolor": style.GREY,
    "zorder": 1,
}
OTHERS = N_("others")
BESIDE = 0.45  # room beside the first and last level of an axis of names


def lines(
    frame: pd.DataFrame,
    *,
    x: str,
    ax: Any,
    hue: str | None = None,
    log: str = "",
    ends: bool = False,
    beside: str = "",
    leading: Sequence[Any] | None = None,
) -> None:
    """Draw a line over `x` for each level of `hue`, with intervals; words stand in a row.

    `log` names the logarithmic axes ("xy"); with `ends` names stand at the lines' right ends
    instead of in a legend. With `beside` the lines are grey, hollow and dashed, and the legend
    calls them by it: other values of the same levels, such as the text's. Levels that are not among
    `leading` (see there) are thin grey lines.
    """
    if (beside and frame.empty) or not drawable(frame, ax, x, hue):
        return
    words = []
    if not pd.api.types.is_numeric_dtype(frame[x]):
        words = labels.ordered(x, dict.fromkeys(frame[x]))
        frame = frame.assign(**{x: frame[x].map(words.index).astype(float)})
    line_ends = []
    sketch = drawn.sketch_of(ax)
    for level, rows in groups(frame, hue):
        place = sketch.place(hue, level)
        part = rows.dropna(subset=[x, "value"]).sort_values(x, kind="stable")
        if part.empty:
            continue
        label = label_of(ax, hue, level)
        sketch.series.append((ax, part, part[x], part.value, label))
        if leading is not None and level not in leading:
            ax.plot(part[x], part.value, label=sketch.say(OTHERS), **NOT_NAMED)
            continue
        colour, marker = style.look(level, place)
        look = LINE | {"color": colour, "marker": marker, "markeredgecolor": colour}
        look["linestyle"] = style.dash(ax, level, place)
        name = NAMELESS if ends or hue is None else label
        if beside:
            name = beside
            look |= GREY_LOOK
        ax.plot(part[x], part.value, label=name, **look)
        if error := interval_ends(part):
            bar = {"color": look["color"], "label": NAMELESS, **INTERVAL}
            ax.errorbar(part[x], part.value, yerr=error, **bar)
        end = part.iloc[-1]
        line_ends.append((end[x], end["value"], label, look["color"]))
    _lay_out(frame, x, ax, log, words)
    if ends and line_ends:
        sketch.at_last(partial(_name_ends, ax, line_ends))


def _lay_out(frame: pd.DataFrame, x: str, ax: Any, log: str, words: Sequence[str]) -> None:
    """Give the axes their scales and ticks; `words` stand at whole numbers."""
    scale(ax, "x", frame, x, log="x" in log)
    scale(ax, "y", frame, "value", log="y" in log)
    # panels that share an axis have its name once
    ax.yaxis.label.set_visible(ax.yaxis.get_tick_params().get("labelleft", True))
    if x in labels.UNITS or x in labels.COUNTED:
        ticks_at(ax, "x", x, list(frame[x].dropna()))
    if words:
        ax.set_xscale("linear")
        ax.set_xticks(range(len(words)), [label_of(ax, x, word) for word in words])
        ax.set_xlim(-BESIDE, len(words) - 1 + BESIDE)


def _name_ends(ax: Any, ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Write names beside line ends (x, y, name, colour), apart where they would overlap."""
    ax.figure.draw_without_rendering()
    right = max(end[0] for end in ends)
    ordered = sorted(ends, key=lambda end: end[1])
    pixels = ax.transData.transform([(right, y) for _, y, _, _ in ordered])
    heights = _apart(pixels[:, 1].tolist(), ax.figure.dpi * 9.5 / 72)
    places = ax.transData.inverted().transform(np.column_stack([pixels[:, 0], heights]))
    for (_, _, name, colour), place in zip(ordered, places, strict=True):
        look = {"color": colour, "va": "center", "fontsize": 8, "annotation_clip": False}
        ax.annotate(name, place, xytext=(6, 0), textcoords="offset points", **look)


def _apart(places: list[float], gap: float) -> list[float]:
    """Return ascending places, moved as little as makes each `gap` above the last."""
    gaps = gap * np.arange(len(places))
    return list(isotonic_regression(np.asarray(places) - gaps).x + gaps)
