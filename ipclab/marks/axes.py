"""A figure's axes: plain numbers with units as ticks, and a logarithmic axis's reach."""

from collections.abc import Sequence
from functools import partial
from math import ceil, isfinite, log10
from typing import Any

import pandas as pd
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from ipclab.marks import drawn
from ipclab.stats.quantity import Quantity
from ipclab.words import labels
from ipclab.words.catalogue import N_
from ipclab.words.numbers import trimmed

NEAR = 1.3  # ticks nearer than this are one
LEAST = 4.0  # the least ratio of a logarithmic axis' ends: it must not magnify what is noise
STEPS = 1.0, 2.0, 5.0  # ticks within a decade
NAME_WIDTH, NAME_HEIGHT = 38.0, 14.0  # points that the name of a tick takes
FEWEST_TICKS = 3
BEYOND = 10.0  # times the values that a logarithmic axis may show of their intervals
# of an interval: each column reaches as far as the others
SPANNED = "value", "low", "high"


def scale(ax: Any, which: str, frame: pd.DataFrame, column: str, *, log: bool) -> None:
    """Give one axis ticks that are plain numbers with their unit, and its name."""
    axis = getattr(ax, f"{which}axis")
    words = drawn.sketch_of(ax).words
    values = pd.to_numeric(frame[column], errors="coerce").dropna()
    beside = SPANNED if column in SPANNED else ()
    for name in {column, *beside} & set(frame):
        note_ends(ax, which, frame[name])
    if log and len(values) and values.min() > 0:
        _logarithmic(ax, which, float(values.min()), float(values.max()))
    else:
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    of_frame = str(frame.unit.iloc[0]) if "unit" in frame and len(frame) else "1"
    unit = labels.UNITS.get(column, of_frame)

    def written(value: float, _: Any) -> str:
        return trimmed(words.numbers.format(Quantity(float(value), unit)))

    axis.set_major_formatter(FuncFormatter(written))
    axis.set_label_text(_label(drawn.sketch_of(ax), frame, column))


def note_ends(ax: Any, which: str, values: Any) -> None:
    """Note how far the data of one axis reach: a test holds every mark against it."""
    finite = [value for value in map(float, values) if isfinite(value)]
    if finite:
        ends = drawn.sketch_of(ax).ends
        finite += ends.get((ax, which), ())
        ends[ax, which] = min(finite), max(finite)


def _logarithmic(ax: Any, which: str, low: float, high: float) -> None:
    axis = getattr(ax, f"{which}axis")
    if low == high:  # a single value gives an axis no width
        wide = [(low / NEAR,) * 2, (high * NEAR,) * 2]
        ax.update_datalim(wide, updatex=which == "x", updatey=which == "y")
    ax.set(**{f"{which}scale": "log"})
    axis.set_major_locator(_Steps(base=10, numticks=12))
    axis.set_minor_formatter(NullFormatter())
    reach(ax, which, low, high)  # now, since other axes may share this one
    drawn.sketch_of(ax).at_last(partial(_bound, ax, which, low, high), first=True)


def _label(sketch: drawn.Drawn, frame: pd.DataFrame, column: str) -> str:
    """Return what an axis shows: of values their op, where there is one, and their metric."""
    if column != "value":
        return sketch.words.label(column)
    ops, metrics = (
        list(frame[name].unique()) if name in frame else [] for name in ("op", "metric")
    )
    names = [*(ops if len(ops) == 1 else ()), *metrics[:1]]
    said = [sketch.words.label(name) for name in names]
    if len(said) > 1:
        return sketch.say(N_("{what}, {metric}"), what=said[0], metric=said[1])
    return "".join(said)


def reach(ax: Any, which: str, low: float, high: float) -> tuple[float, float]:
    """Return the ends of all values on one axis, and on those that share it."""
    extents = drawn.sketch_of(ax).extents
    for other in getattr(ax, f"get_shared_{which}_axes")().get_siblings(ax):
        least, most = extents.get((other, which), (low, high))
        low = min(low, least)
        high = max(high, most)
    extents[ax, which] = low, high
    return low, high


def _bound(ax: Any, which: str, low: float, high: float) -> None:
    """Cut a logarithmic axis at ends far beyond all values; lengthen one below `LEAST`.

    Few launches bound nothing.
    """
    least, most = reach(ax, which, low, high)
    if getattr(ax, f"get_{which}scale")() != "log":
        return
    low, high = getattr(ax, f"get_{which}lim")()
    low = max(low, least / BEYOND)
    high = min(high, most * BEYOND)
    more = max(1.0, LEAST * low / high) ** 0.5 if 0 < low < high else 1.0
    ax.set(**{f"{which}lim": (low / more, high * more)})


class _Steps(LogLocator):
    """Ticks at the decades of a logarithmic axis, and between them where their names have room."""

    def tick_values(self, vmin: float, vmax: float) -> Any:
        decades = log10(vmax / vmin) if vmin > 0 else 0.0
        room = _room(self.axis)
        steps = STEPS if len(STEPS) * decades + 1 <= room else STEPS[:1]
        self.set_params(subs=steps, numticks=room)
        ticks = super().tick_values(vmin, vmax)  # within a decade evenly, whatever the room
        inside = [tick for tick in ticks if vmin <= tick <= vmax]
        return inside[:: ceil(len(inside) / room)] if len(inside) > room else ticks


def _room(axis: Any) -> int:
    """Return how many names of ticks stand beside each other along an axis."""
    extent = axis.axes.get_window_extent()
    across = axis.axis_name == "x"
    length = (extent.width if across else extent.height) * 72 / axis.axes.figure.dpi
    return max(FEWEST_TICKS, int(length / (NAME_WIDTH if across else NAME_HEIGHT)))


def ticks_at(ax: Any, which: str, column: str, values: Sequence[Any]) -> None:
    """Put the ticks of one axis at the levels that were measured, such as sizes."""
    axis = getattr(ax, f"{which}axis")
    unit = labels.UNITS.get(column, "count")
    ordered = sorted(set(map(float, values)))
    least = NEAR
    if ordered and ordered[0] > 0:
        least = max(NEAR, (ordered[-1] / ordered[0]) ** (1 / _room(axis)))
    apart: list[float] = []
    for value in ordered:
        if not apart or value > apart[-1] * least:
            apart.append(value)

    def written(value: float, _: Any) -> str:
        how = labels.spec(column, value) or ("scaled,int" if unit == "B" else "int")
        return str(drawn.sketch_of(ax).words.numbers.format(Quantity(round(value), unit), how))

    axis.set(
        major_locator=FixedLocator(apart), minor_locator=FixedLocator([]), major_formatter=written
    )
