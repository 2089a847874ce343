"""Marks below seaborn and matplotlib that figures share: values with their intervals, plain ticks, panels, limits.

Every helper draws rows of one study's frame into axes of `lab.figure`, refuses rows of another study and two rows in
one place (levels that were not narrowed down), and says in words why nothing is drawn.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns

from ipclab.errors import LabError
from ipclab.lab import labels, style
from ipclab.lab.axes import reach, scale, ticks_at
from ipclab.lab.catalogue import N_
from ipclab.stats.quantity import Quantity

MARKER = {"markersize": 4.5, "linewidth": 1.0}
INTERVAL = {"capsize": 2, "elinewidth": 0.9, "linestyle": "none"}
ROOM = 0.5  # that the levels of hue share in one place
NAMELESS = "_nolegend_"
OTHERS = N_("others")
BESIDE = 0.45  # room beside the first and last level of an axis of names


def lines(
    frame: pd.DataFrame, *, x: str, ax: Any, hue: str | None = None, y: str = "value", log: str = "",
    ends: bool | str = False, beside: bool = False, leading: Sequence[Any] | None = None,
) -> None:  # fmt: skip
    """Draw a line over `x` for each level of `hue`, with markers and intervals; levels that are words stand in a row.

    `log` names the logarithmic axes ("xy"); with `ends` names stand at the lines' right ends instead of in a legend,
    with `ends="both"` at the left ones too. With `beside` the lines are hollow, dashed and nameless: other values of
    the same levels, such as the text's. Levels that are not among `leading` (see there) are thin grey lines.
    """
    if (beside and frame.empty) or not drawable(frame, ax, x, hue):
        return
    words = [] if pd.api.types.is_numeric_dtype(frame[x]) else labels.ordered(x, dict.fromkeys(frame[x]))
    if words:
        frame = frame.assign(**{x: frame[x].map(words.index).astype(float)})
    names: dict[str, list[tuple[float, float, str, str]]] = {"right": [], "left": []}
    for place, (level, rows) in enumerate(groups(frame, hue)):
        (colour, marker), label, part = style.look(level, place), _label(ax, hue, level), rows.sort_values(x)
        _tell(ax, part, part[x], part[y], label)
        if leading is not None and level not in leading:
            ax.plot(part[x], part[y], label=ax.figure.lab.say(OTHERS), **style.stroke(ax, level, place, leading))
            continue
        dash = "--" if beside else style.stroke(ax, level, place)["linestyle"]
        look = {"color": colour, "markeredgecolor": colour, "marker": marker, "linestyle": dash}
        look |= {"markerfacecolor": "white"} if beside else {}
        shown = NAMELESS if ends or beside or hue is None else label
        whole: dict[str, Any] = {"errorbar": None, "estimator": None, "legend": False}  # each row is a point
        sns.lineplot(data=part, x=x, y=y, ax=ax, label=shown, **whole, **look, **MARKER)
        if (error := _error(part, y)) is not None:
            ax.errorbar(part[x], part[y], yerr=error, color=colour, label=NAMELESS, **INTERVAL)
        for side, end in (("right", -1), ("left", 0)):
            names[side].append((float(part[x].iloc[end]), float(part[y].iloc[end]), label, colour))
    scale(ax, "x", frame, x, log="x" in log)
    scale(ax, "y", frame, y, log="y" in log)
    if x in labels.UNITS or x in labels.COUNTED:
        ticks_at(ax, "x", x, list(frame[x].dropna()))
    if words:
        ax.set_xscale("linear")
        ax.set_xticks(range(len(words)), [_label(ax, x, word) for word in words])
        ax.set_xlim(-BESIDE, len(words) - 1 + BESIDE)
    for side in ("right", "left") if ends == "both" else ("right",) if ends else ():
        name_ends(ax, names[side], side)


def leading(
    frame: pd.DataFrame, *, x: str, hue: str, y: str = "value", most: int = 5, greatest: bool = False
) -> list[Any]:
    """Return at most `most` levels of `hue`: those that are least (or greatest) at some `x`, then second, and so on."""
    ranks = frame[y].groupby([frame[name] for name in dict.fromkeys((x, "placement")) if name in frame])
    best = ranks.rank(ascending=not greatest).groupby(frame[hue]).agg(["min", "mean"])
    return list(best.sort_values(["min", "mean"]).index[:most])


def sources(ax: Any, solid: str, hollow: str) -> None:
    """Name in the legend what solid marks are and what those of `lines(..., beside=True)` are, such as the text's."""
    for label, face in ((solid, style.GREY), (hollow, "white")):
        ax.plot([], [], marker="o", color=style.GREY, markerfacecolor=face, linestyle="none", label=label)


def dots(frame: pd.DataFrame, *, y: str, ax: Any, hue: str | None = None, x: str = "value", log: str = "") -> None:
    """Draw the values of each level of `y` as dots on a horizontal scale, the levels of `hue` side by side."""
    if not drawable(frame, ax, y, hue):
        return
    rows, series = labels.ordered(y, dict.fromkeys(frame[y])), list(groups(frame, hue))
    for place, (level, part) in enumerate(series):
        shift = (place - (len(series) - 1) / 2) * ROOM / len(series)
        look: dict[str, Any] = {"marker": style.SERIES[place % len(style.SERIES)][1], **INTERVAL}
        named = [_label(ax, hue, level)] if hue else []
        for name, mine in part.groupby(y, sort=False):
            colour = style.look(name if y == "backend" else level, place)[0]
            at, face = np.full(len(mine), rows.index(name) + shift), "white" if place % 2 else colour
            shown = {"color": colour, "markerfacecolor": face, "markersize": 4.5, "label": NAMELESS}
            ax.errorbar(mine[x], at, xerr=_error(mine, x), **look, **shown)
            _tell(ax, mine, mine[x], at, ax.figure.lab.joined([_label(ax, y, name), *named]))
        if hue:
            face, marker = "white" if place % 2 else style.GREY, look["marker"]
            ax.plot([], [], marker, label=named[0], color=style.GREY, markerfacecolor=face)
    _rows(ax, y, rows)
    ax.set_ylabel("")
    scale(ax, "x", frame, x, log="x" in log)


def bars(frame: pd.DataFrame, *, y: str, hue: str, ax: Any, x: str = "value") -> None:
    """Draw a stacked bar for each level of `y`, a part for each level of `hue` in the order given."""
    if not drawable(frame, ax, y, hue):
        return
    rows, levels = list(dict.fromkeys(frame[y])), labels.ordered(hue, dict.fromkeys(frame[hue]))
    lengths = frame.groupby([y, hue])[x].sum().unstack(fill_value=0).reindex(index=rows, columns=levels)
    left = lengths.cumsum(axis="columns").shift(axis="columns", fill_value=0.0)
    for place, level in enumerate(levels):
        colour, hatch = style.SERIES[place % len(style.SERIES)][0], style.HATCHES[place % len(style.HATCHES)]
        look = {"hatch": hatch, "color": colour, "edgecolor": "white", "linewidth": 0.4}
        ax.barh(range(len(rows)), lengths[level], left=left[level], label=_label(ax, hue, level), **look)
    _rows(ax, y, rows)
    ax.grid(axis="y", visible=False)
    scale(ax, "x", frame, x, log=False)
    ax.set_xlim(left=0)


def limit(
    frame: pd.DataFrame, *, x: str, ax: Any, label: str, y: str = "value", passes: float = 1, dash: str = ":"
) -> None:
    """Draw what the hardware allows as a black broken line: `passes` times the rows of the study `limits`."""
    if len(frame):
        part = frame.sort_values(x)
        reach(ax, "y", passes * part[y].min(), passes * part[y].max())  # it stays in view
        look = {"color": style.BLACK, "linestyle": dash, "marker": "_" if len(part) == 1 else None}
        ax.plot(part[x], passes * part[y], linewidth=1.1, label=label, **look)


def facets(frame: pd.DataFrame, by: str, axes: Any) -> Iterator[tuple[Any, pd.DataFrame]]:
    """Yield the axes and the rows of each level of `by` in the frame's order, titled; needs a panel for each."""
    panels = list(np.ravel(axes))
    for ax in panels[max(1, len(frame[by].unique())) :]:
        ax.set_visible(False)
    if frame.empty:
        drawable(frame, panels[0])
    for ax, (level, part) in zip(panels, groups(frame, by), strict=False):
        ax.set_title(_label(ax, by, level), fontsize=9)
        yield ax, part


def groups(frame: pd.DataFrame, by: str | None) -> Iterator[tuple[Any, pd.DataFrame]]:
    """Yield the rows of each level of `by`, in their usual order or that of the frame; all rows when it is None."""
    for level in labels.ordered(by, dict.fromkeys(frame[by])) if by else [None]:
        yield level, frame[frame[by] == level] if by else frame


def name_ends(ax: Any, named: Sequence[tuple[float, float, str, str]], side: str = "right") -> None:
    """Write names beside line ends (x, y, name, colour), moved apart where they would overlap, once all is drawn."""

    def write() -> None:
        ax.figure.draw_without_rendering()
        to, back = ax.transData.transform, ax.transData.inverted().transform
        x = (max if side == "right" else min)(each[0] for each in named)
        ordered = sorted(named, key=lambda each: each[1])
        heights = _apart([float(to((x, value))[1]) for _, value, _, _ in ordered], ax.figure.dpi * 9.5 / 72)
        offset, align = ((6, 0), "left") if side == "right" else ((-6, 0), "right")
        for (_, value, name, colour), up in zip(ordered, heights, strict=True):
            where = tuple(map(float, back((to((x, value))[0], up))))
            look = {"ha": align, "va": "center", "color": colour, "fontsize": 8, "annotation_clip": False}
            ax.annotate(name, where, offset, textcoords="offset points", **look)

    if named:
        ax.figure.later.append(write)


def _apart(places: list[float], gap: float) -> list[float]:
    """Return ascending places moved as little as makes each stand at least `gap` above the one before."""
    groups: list[list[float]] = []  # of places less their number of gaps; those that touch stand around their mean
    for number, place in enumerate(places):
        groups.append([place - number * gap])
        while len(groups) > 1 and np.mean(groups[-1]) < np.mean(groups[-2]):
            groups[-2:] = [groups[-2] + groups[-1]]
    means = [float(np.mean(group)) for group in groups for _ in group]
    return [mean + number * gap for number, mean in enumerate(means)]


_MEASURED = ("point", "value", "low", "high", "launches", "samples", "flags", "limit", "over_limit")


def drawable(frame: pd.DataFrame, ax: Any, *factors: str | None) -> bool:
    """Tell whether there are rows to draw, and say in `ax` why when there are none: before seaborn's own functions.

    What is drawn from is noted; raises `LabError` for rows of several studies or two rows in one place.
    """
    canvas, keys = ax.figure, [name for name in factors if name]
    if frame.empty:
        canvas.bare = True
        ax.set_axis_off()
        ax.text(0.5, 0.5, canvas.lab.why_empty(), ha="center", va="center", transform=ax.transAxes, wrap=True)
        return False
    studies = set(frame.study) if "study" in frame else set()
    if len(studies | (canvas.drawn.keys() - {"limits"})) > 1:
        why = f"it was given rows of {', '.join(sorted(studies | canvas.drawn.keys()))}"
        raise LabError("a figure draws one study", why)
    if keys and len(twice := frame[frame.duplicated(keys, keep=False)]):
        where = ", ".join(f"{name}={twice[name].iloc[0]}" for name in keys)
        others = [str(name) for name in twice if name not in (*keys, *_MEASURED)]
        why = f"at {where} they differ in {', '.join(o for o in others if twice[o].nunique(dropna=False) > 1)}"
        raise LabError(f"{len(twice)} rows share a place", why, "choose one level")
    canvas.drawn.update({name: canvas.drawn.get(name, 0) + len(frame) for name in studies})
    return True


def _tell(ax: Any, part: pd.DataFrame, xs: Any, ys: Any, label: str) -> None:
    """Have each mark of a series tell its name and its value with the interval when it is pointed at."""
    for x, y, row in zip(xs, ys, part.to_dict("records"), strict=True):
        found = row.get("value"), row.get("low"), row.get("high")
        if "unit" in row and not pd.isna([x, y, *found]).any():
            value = ax.figure.lab.numbers.format(Quantity(found[0], str(row["unit"]), *found[1:]), "interval")
            ax.figure.hover.append((ax, x, y, f"{label}: {value}"))


def _rows(ax: Any, factor: str, levels: Sequence[Any]) -> None:
    """Name the rows of a horizontal picture, the first on top."""
    ax.set_yticks(range(len(levels)), [_label(ax, factor, level) for level in levels])
    ax.set_ylim(len(levels) - 0.5, -0.5)


def _error(part: pd.DataFrame, column: str) -> list[pd.Series] | None:
    """Return how far the intervals reach to both sides, None without any."""
    known = column == "value" and {"low", "high"} <= set(part)
    return [part.value - part.low, part.high - part.value] if known else None


def _label(ax: Any, factor: str | None, level: Any) -> str:
    return str(ax.figure.lab.level(factor or "", level))
