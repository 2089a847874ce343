"""Marks below seaborn and matplotlib that figures share: values with their intervals, plain ticks, panels, limits.

Every helper draws rows of one study's frame into axes of `lab.figure`, refuses rows of another study and two rows in
one place (levels that were not narrowed down), and says in words why nothing is drawn.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns

from ipclab.errors import LabError, UsageError, nearest
from ipclab.lab import labels, style
from ipclab.lab.axes import note_ends, reach, scale, ticks_at
from ipclab.lab.catalogue import N_
from ipclab.lab.data import why_empty
from ipclab.stats.quantity import Quantity

MARKER = {"markersize": 4.5, "linewidth": 1.0}
INTERVAL = {"capsize": 2, "elinewidth": 0.9, "linestyle": "none"}
ROOM = 0.5  # that the levels of hue share in one place
NAMELESS = "_nolegend_"
DOT: dict[str, Any] = {"markersize": 4.5, "label": NAMELESS}
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
    """Draw a line over `x` for each level of `hue`, with markers and intervals; levels that are words stand in a row.

    `log` names the logarithmic axes ("xy"); with `ends` names stand at the lines' right ends instead of in a legend,
    with `ends="both"` at the left ones too. With `beside` the lines are grey, hollow, dashed and nameless: other
    values of the same levels, such as the text's. Levels that are not among `leading` (see there) are thin grey lines.
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
        label = _label(ax, hue, level)
        _tell(ax, part, part[x], part[y], label)
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
        ax.set_xticks(range(len(words)), [_label(ax, x, word) for word in words])
        ax.set_xlim(-BESIDE, len(words) - 1 + BESIDE)
    if ends:
        name_ends(ax, [_end(*line, x, y, -1) for line in named])
    if ends == "both":
        name_ends(ax, [_end(*line, x, y, 0) for line in named], "left")


def over(
    frame: pd.DataFrame, *, x: str, hue: str, ax: Any, label: str, log: str = ""
) -> None:
    """Draw values over `x` as lines; where it has one or two levels, as dots in a row for each level of `hue`.

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


def _line(
    part: pd.DataFrame, x: str, y: str, ax: Any, look: dict[str, Any], label: str
) -> None:
    """Draw one line, each row of it a point, with its intervals."""
    options: dict[str, Any] = {
        "errorbar": None,
        "estimator": None,
        "legend": False,
        **look,
        **MARKER,
    }
    sns.lineplot(data=part, x=x, y=y, ax=ax, label=label, **options)
    error = _error(part, y)
    if error is not None:
        ax.errorbar(
            part[x], part[y], yerr=error, color=look["color"], label=NAMELESS, **INTERVAL
        )


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
    """Return at most `most` levels of `hue`: those that are least (or greatest) at some `x`, then second, and so on."""
    keys = [frame[name] for name in dict.fromkeys((x, "placement")) if name in frame]
    ranks = frame[y].groupby(keys).rank(ascending=not greatest)
    best = ranks.groupby(frame[hue]).agg(["min", "mean"])
    return list(best.sort_values(["min", "mean"]).index[:most])


def sources(ax: Any, solid: str, hollow: str) -> None:
    """Name in the legend what solid marks are and what those of `lines(..., beside=True)` are, such as the text's."""
    for label, face in ((solid, style.GREY), (hollow, "white")):
        look = {
            "marker": "o",
            "color": style.GREY,
            "markerfacecolor": face,
            "linestyle": "none",
        }
        ax.plot([], [], label=ax.figure.lab.say(label), **look)


def dots(
    frame: pd.DataFrame,
    *,
    y: str,
    ax: Any,
    hue: str | None = None,
    x: str = "value",
    log: str = "",
) -> dict[Any, int]:
    """Draw the values of each level of `y` as dots on a horizontal scale, the levels of `hue` side by side.

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
            look = {**DOT, **INTERVAL, "marker": marker, "color": colour}
            look["markerfacecolor"] = "white" if hollow else colour
            ax.errorbar(mine[x], at, xerr=_error(mine, x), **look)
            named = [_label(ax, y, name), *([_label(ax, hue, level)] if hue else [])]
            _tell(ax, mine, mine[x], at, ax.figure.lab.words.joined(named))
        if hue:
            face = "white" if hollow else style.GREY
            look = {"color": style.GREY, "markerfacecolor": face}
            ax.plot([], [], marker, label=_label(ax, hue, level), **look)
    _rows(ax, y, rows)
    ax.set_ylabel("")
    scale(ax, "x", frame, x, log="x" in log)
    return {level: row for row, level in enumerate(rows)}


def values_beside(frame: pd.DataFrame, rows: dict[Any, int], *, y: str, ax: Any) -> None:
    """Write the value of each level of `y` at the right edge of its row; `rows` are those that `dots` returned."""
    for level, value, unit in zip(frame[y], frame.value, frame.unit, strict=True):
        written = ax.figure.lab.say("{value}", value=Quantity(value, unit))
        look = {
            "transform": ax.get_yaxis_transform(),
            "va": "center",
            "fontsize": "small",
        }
        ax.text(1.01, rows[level], written, **look)


def bars(frame: pd.DataFrame, *, y: str, hue: str, ax: Any, x: str = "value") -> None:
    """Draw a stacked bar for each level of `y`, a part for each level of `hue` in the order given."""
    if not drawable(frame, ax, y, hue):
        return
    rows = list(dict.fromkeys(frame[y]))
    levels = labels.ordered(hue, dict.fromkeys(frame[hue]))
    sums = frame.groupby([y, hue])[x].sum().unstack(fill_value=0)
    lengths = sums.reindex(index=rows, columns=levels)
    left = lengths.cumsum(axis="columns").shift(axis="columns", fill_value=0.0)
    for place, level in enumerate(levels):
        look = {
            "label": _label(ax, hue, level),
            "color": style.SERIES[place % len(style.SERIES)][0],
            "hatch": style.HATCHES[place % len(style.HATCHES)],
            "edgecolor": "white",
            "linewidth": 0.4,
        }
        ax.barh(range(len(rows)), lengths[level], left=left[level], **look)
    _rows(ax, y, rows)
    ax.grid(axis="y", visible=False)
    scale(ax, "x", frame, x, log=False)
    note_ends(ax, "x", [0, lengths.sum(axis="columns").max()])
    ax.set_xlim(left=0)


def limit(
    frame: pd.DataFrame,
    *,
    x: str,
    ax: Any,
    label: str,
    y: str = "value",
    passes: float = 1,
    dash: str = ":",
) -> None:
    """Draw what the hardware allows as a black broken line: `passes` times the rows of the study `limits`."""
    if frame.empty:
        return
    part = frame.sort_values(x)
    values = passes * part[y]
    reach(ax, "y", values.min(), values.max())  # it stays in view
    note_ends(ax, "y", values)
    note_ends(ax, "x", part[x])
    look = {
        "label": ax.figure.lab.say(label),
        "color": style.BLACK,
        "linestyle": dash,
        "linewidth": 1.1,
        "marker": "_" if len(part) == 1 else None,
    }
    ax.plot(part[x], values, **look)


def facets(frame: pd.DataFrame, by: str, axes: Any) -> Iterator[tuple[Any, pd.DataFrame]]:
    """Yield the axes and the rows of each level of `by` in the frame's order, titled; needs a panel for each."""
    _has(frame, by)
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
    if by is None:
        yield None, frame
        return
    for level in labels.ordered(by, dict.fromkeys(frame[by])):
        yield level, frame[frame[by] == level]


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
    """Return ascending places moved as little as makes each stand at least `gap` above the one before."""
    # Groups of places less their number of gaps: those that touch stand around their mean.
    groups: list[list[float]] = []
    for number, place in enumerate(places):
        groups.append([place - number * gap])
        while len(groups) > 1 and np.mean(groups[-1]) < np.mean(groups[-2]):
            groups[-2:] = [groups[-2] + groups[-1]]
    means = [float(np.mean(group)) for group in groups for _ in group]
    return [mean + number * gap for number, mean in enumerate(means)]


# Columns that may differ between two rows of one place.
_MEASURED = (
    *("point", "value", "low", "high", "launches", "samples", "flags"),
    *("limit", "over_limit", "over", "heats", "by_heat"),
)


def drawable(frame: pd.DataFrame, ax: Any, *factors: str | None) -> bool:
    """Tell whether there are rows to draw, and say in `ax` why when there are none: before seaborn's own functions.

    What is drawn from is noted; raises `LabError` for rows of several studies or two rows in one place, and
    `UsageError` for factors that are no columns.
    """
    canvas = ax.figure
    if frame.empty:
        canvas.bare = True
        ax.set_axis_off()
        middle = {"ha": "center", "va": "center", "transform": ax.transAxes}
        ax.text(0.5, 0.5, why_empty(canvas.lab), wrap=True, **middle)
        return False
    keys = [name for name in factors if name]
    _has(frame, *keys)
    studies = set(frame.study) if "study" in frame else set()
    if len(studies | (canvas.drawn.keys() - {"limits"})) > 1:
        why = f"it was given rows of {', '.join(sorted(studies | canvas.drawn.keys()))}"
        raise LabError("a figure draws one study", why)
    _check_places(frame, keys)
    for study in studies:
        canvas.drawn[study] = canvas.drawn.get(study, 0) + len(frame)
    return True


def _check_places(frame: pd.DataFrame, factors: list[str]) -> None:
    """Raise `LabError` when two rows have the same levels of the factors that are drawn."""
    same = frame[frame.duplicated(factors, keep=False)] if factors else frame.iloc[:0]
    if same.empty:
        return
    where = ", ".join(f"{name}={same[name].iloc[0]}" for name in factors)
    others = [str(name) for name in same if name not in (*factors, *_MEASURED)]
    differ = [name for name in others if same[name].nunique(dropna=False) > 1]
    why = f"at {where} they differ in {', '.join(differ)}"
    raise LabError(f"{len(same)} rows share a place", why, "choose one level")


def _has(frame: pd.DataFrame, *names: str) -> None:
    columns = [str(column) for column in frame]
    for name in (name for name in names if name not in columns):
        near = f"did you mean {nearest(name, columns)!r}?"
        raise UsageError(f"no column {name!r}", f"there are {', '.join(columns)}", near)


def _tell(ax: Any, part: pd.DataFrame, xs: Any, ys: Any, label: str) -> None:
    """Have each mark of a series tell its name and its value with the interval when it is pointed at."""
    numbers = ax.figure.lab.words.numbers
    for x, y, row in zip(xs, ys, part.to_dict("records"), strict=True):
        value, low, high = row.get("value"), row.get("low"), row.get("high")
        if "unit" not in row or pd.isna([x, y, value, low, high]).any():
            continue
        written = numbers.format(Quantity(value, str(row["unit"]), low, high), "interval")
        ax.figure.hover.append((ax, x, y, f"{label}: {written}"))


def _rows(ax: Any, factor: str, levels: Sequence[Any]) -> None:
    """Name the rows of a horizontal picture, the first on top."""
    ax.set_yticks(range(len(levels)), [_label(ax, factor, level) for level in levels])
    ax.set_ylim(len(levels) - 0.5, -0.5)


def _error(part: pd.DataFrame, column: str) -> list[pd.Series] | None:
    """Return how far the intervals reach to both sides, None without any; one without end is not drawn."""
    if column != "value" or not {"low", "high"} <= set(part):
        return None
    ends = [part.value - part.low, part.high - part.value]
    return [end.astype(float).replace(np.inf, 0.0) for end in ends]


def _label(ax: Any, factor: str | None, level: Any) -> str:
    canvas = ax.figure
    if isinstance(level, str) and level in canvas.names:
        return str(canvas.lab.say(canvas.names[level]))
    return str(canvas.lab.level(factor or "", level))
