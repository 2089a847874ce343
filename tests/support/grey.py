"""What of a drawn figure cannot be told apart in a grey print: its series by lightness, dash,
marker and hatch.
"""

from collections.abc import Iterator
from itertools import combinations, pairwise
from typing import Any

from matplotlib.collections import PolyCollection
from matplotlib.colors import to_hex

from ipclab.marks import style

CAPS = ("_", "|", 2, 3, "None", "", None)  # markers of intervals' ends and limits
LIGHTEST = 75.0  # lightness of what is named; the paper's is 100


def alike(canvas: Any) -> list[str]:
    """Return one line for each pair of neighbouring series that looks the same in grey, and for
    each too pale one.
    """
    return [line for ax in canvas.axes if ax.get_visible() for line in _axes(ax)]


def _axes(ax: Any) -> Iterator[str]:
    drawn: list[Any] = [line for line in ax.lines if line.get_color() != style.PALE]
    curves = [
        line
        for line in drawn
        if line.get_linestyle() not in ("None", "") and len(line.get_xdata()) > 1
    ]
    # others are rules across the axes
    inside = [line for line in curves if line.get_transform() == ax.transData]
    yield from _pairs(combinations([(_curve(line), line.get_color()) for line in inside], 2))
    marks = [
        line
        for line in drawn
        if line.get_linestyle() in ("None", "") and line.get_marker() not in CAPS
    ]
    rows: dict[int, dict[Any, Any]] = {}
    for mark in (mark for mark in marks if len(mark.get_ydata())):
        rows.setdefault(round(mark.get_ydata()[0]), {})[float(mark.get_ydata()[0])] = (
            _mark(mark),
            mark.get_color(),
        )
    for row in rows.values():
        yield from _pairs(combinations(row.values(), 2))
    parts = [
        (each.patches[0].get_hatch(), each.patches[0].get_facecolor())
        for each in ax.containers
        if getattr(each, "patches", None)  # bars
    ]
    yield from _pairs(pairwise(parts))
    spans: list[Any] = [
        each
        for each in ax.collections
        if isinstance(each, PolyCollection) and len(each.get_facecolor())
    ]
    lanes = {(each.get_hatch() or "", to_hex(each.get_facecolor()[0])) for each in spans}
    yield from _pairs(combinations(sorted(lanes), 2))
    for colour in {line.get_color() for line in (*inside, *marks)}:
        if style.lightness(colour) > LIGHTEST:
            yield f"{ax.get_title()}: {colour} is too pale"


def _pairs(pairs: Any) -> Iterator[str]:
    for (look, colour), (other_look, other) in pairs:
        if look == other_look and style.near(colour, other):
            yield f"{colour} and {other} both {look}"


def _curve(line: Any) -> tuple[Any, ...]:
    return line.get_linestyle(), *_mark(line)


def _mark(line: Any) -> tuple[Any, ...]:
    return str(line.get_marker()), str(line.get_markerfacecolor()) == "white"
