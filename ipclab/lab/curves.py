"""Lines over a factor: with markers, intervals and names at their ends, and which of many lead."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns

from ipclab.lab import labels, style
from ipclab.lab.axes import scale, ticks_at
from ipclab.lab.catalogue import N_
from ipclab.lab.drawing import dots
from ipclab.lab.marks import (
    INTERVAL,
    NAMELESS,
    drawable,
    groups,
    interval_ends,
    label_of,
    tell,
)

MARKER = {"markersize": 4.5, "linewidth": 1.0}
OTHERS = N_("others")
End = tuple[float, float, str, str]  # of a line: x, y, its name and its colour
WIDE = 10.0  # a ratio of values above which dots stand on a logarithmic axis
FEW_LEVELS = 2  # of an axis, that make no line
BESIDE = 0.45  # room beside the first and last level of an axis of names


def lines(
    frame: pd.DataFrame,
    *,
    x: str,
    ax: Any,
    hue: str | None = None,
    y: str = "value",
    log: str = "",
    ends: bool | str = False,
    beside: bool = False,
    leading: Sequence[Any] | None = None,
) -> None:
    """Draw a line over `x` for each level of `hue`, with markers and intervals; levels that are
    words stand in a row.

    `log` names the logarithmic axes ("xy"); with `ends` names stand at the lines' right ends
    instead of in a legend, with `ends="both"` at the left ones too. With `beside` the lines are
    grey, hollow, dashed and nameless: other values of the same levels, such as the text's. Levels
    that are not among `leading` (see there) are thin grey lines.
    """
    if beside and frame.empty:
        return
    if not drawable(frame, ax, x, hue):
        return
    words = []
    if not pd.api.types.is_numeric_dtype(frame[x]):
        words = labels.ordered(x, dict.fromkeys(frame[x]))
        frame = frame.assign(**{x: frame[x].map(words.index).astype(float)})
    named = []
    for place, (level, rows) in enumerate(groups(frame, hue)):
        part = rows.sort_values(x)
        label = label_of(ax, hue, level)
        tell(ax, part, part[x], part[y], label)
        if leading is not None and level not in leading:
            stroke = style.stroke(ax, level, place, leading)
            ax.plot(part[x], part[y], label=ax.figure.lab.say(OTHERS), **stroke)
            continue
        nameless = ends or beside or hue is None
        _line(
            part,
            x,
            y,
            ax,
            _look(ax, level, place, beside),
            NAMELESS if nameless else label,
        )
        named.append((part, label, style.look(level, place)[0]))
    scale(ax, "x", frame, x, log="x" in log)
    scale(ax, "y", frame, y, log="y" in log)
    if x in labels.UNITS or x in labels.COUNTED:
        ticks_at(ax, "x", x, list(frame[x].dropna()))
    if words:
        ax.set_xscale("linear")
        ax.set_xticks(range(len(words)), [label_of(ax, x, word) for word in words])
        ax.set_xlim(-BESIDE, len(words) - 1 + BESIDE)
    if ends:
        name_ends(ax, [_end(*line, x, y, -1) for line in named])
    if ends == "both":
        name_ends(ax, [_end(*line, x, y, 0) for line in named], "left")


def over(frame: pd.DataFrame, *, x: str, hue: str, ax: Any, label: str, log: str = "") -> None:
    """Draw values over `x` as lines; where it has one or two levels, as dots in a row for each
    level of `hue`.

    `label` is the name of the values, `log` names the logarithmic axes of the lines ("xy").
    """
    if frame[x].nunique() > FEW_LEVELS:
        lines(frame, x=x, hue=hue, ax=ax, log=log)
        ax.set_ylabel(label)
        return
    wide = "y" in log and frame.value.max() > WIDE * frame.value.min()
    dots(frame, y=hue, hue=x, ax=ax, log="x" if wide else "")
    ax.set_xlabel(label)
    if not wide:
        ax.set_xlim(left=0)


def _look(ax: Any, level: Any, place: int, beside: bool) -> dict[str, Any]:
    colour, marker = style.look(level, place)
    look = {"color": colour, "markeredgecolor": colour, "marker": marker}
    if beside:
        grey = {"color": style.GREY, "markeredgecolor": style.GREY}
        return {**look, **grey, "linestyle": "--", "markerfacecolor": "white"}
    return {**look, "linestyle": style.stroke(ax, level, place)["linestyle"]}


def _line(part: pd.DataFrame, x: str, y: str, ax: Any, look: dict[str, Any], label: str) -> None:
    """Draw one line, each row of it a point, with its intervals."""
    options: dict[str, Any] = {
        "errorbar": None,
        "estimator": None,
        "legend": False,
        **look,
        **MARKER,
    }
    sns.lineplot(data=part, x=x, y=y, ax=ax, label=label, **options)
    error = interval_ends(part, y)
    if error is not None:
        ax.errorbar(part[x], part[y], yerr=error, color=look["color"], label=NAMELESS, **INTERVAL)


def _end(part: pd.DataFrame, label: str, colour: str, x: str, y: str, end: int) -> End:
    return float(part[x].iloc[end]), float(part[y].iloc[end]), label, colour


def leading(
    frame: pd.DataFrame,
    *,
    x: str,
    hue: str,
    y: str = "value",
    most: int = 5,
    greatest: bool = False,
) -> list[Any]:
    """Return at most `most` levels of `hue`: those that are least (or greatest) at some `x`, then
    second, and so on.
    """
    keys = [frame[name] for name in dict.fromkeys((x, "placement")) if name in frame]
    ranks = frame[y].groupby(keys).rank(ascending=not greatest)
    best = ranks.groupby(frame[hue]).agg(["min", "mean"])
    return list(best.sort_values(["min", "mean"]).index[:most])


def sources(ax: Any, solid: str, hollow: str) -> None:
    """Name in the legend what solid marks are and what those of `lines(..., beside=True)` are, such
    as the text's.
    """
    for label, face in ((solid, style.GREY), (hollow, "white")):
        look = {
            "marker": "o",
            "color": style.GREY,
            "markerfacecolor": face,
            "linestyle": "none",
        }
        ax.plot([], [], label=ax.figure.lab.say(label), **look)


def name_ends(ax: Any, ends: Sequence[End], side: str = "right") -> None:
    """Write names beside line ends, moved apart where they would overlap, once all is drawn."""
    if not ends:
        return
    right = side == "right"
    look = {
        "ha": "left" if right else "right",
        "va": "center",
        "fontsize": 8,
        "annotation_clip": False,
        "xytext": (6, 0) if right else (-6, 0),
        "textcoords": "offset points",
    }

    def write() -> None:
        ax.figure.draw_without_rendering()
        pixels = ax.transData.transform
        values = ax.transData.inverted().transform
        x = (max if right else min)(end[0] for end in ends)
        ordered = sorted(ends, key=lambda end: end[1])
        heights = [float(pixels((x, y))[1]) for _, y, _, _ in ordered]
        apart = _apart(heights, ax.figure.dpi * 9.5 / 72)
        for (_, y, name, colour), height in zip(ordered, apart, strict=True):
            where = values((pixels((x, y))[0], height))
            ax.annotate(name, tuple(map(float, where)), color=colour, **look)

    ax.figure.later.append(write)


def _apart(places: list[float], gap: float) -> list[float]:
    """Return ascending places moved as little as makes each stand at least `gap` above the one
    before.
    """
    # Groups of places less their number of gaps: those that touch stand around their mean.
    groups: list[list[float]] = []
    for number, place in enumerate(places):
        groups.append([place - number * gap])
        while len(groups) > 1 and np.mean(groups[-1]) < np.mean(groups[-2]):
            groups[-2:] = [groups[-2] + groups[-1]]
    means = [float(np.mean(group)) for group in groups for _ in group]
    return [mean + number * gap for number, mean in enumerate(means)]
