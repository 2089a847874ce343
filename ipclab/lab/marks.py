"""Marks that several figures share: points with intervals, axes with plain numbers."""

from typing import Any

from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from ipclab.facts.rows import Row
from ipclab.view import View


def interval(row: Row, scale: float = 1.0) -> tuple[float, tuple[float, float]]:
    """Return a row's value and the lengths of its interval below and above, all times `scale`."""
    found = row.estimate
    value = found.value * scale
    return value, (value - found.low * scale, found.high * scale - value)


def dot(axes: Any, row: Row, at: float, *, horizontal: bool, scale: float = 1.0, **look: Any) -> None:
    """Draw a row's value with its interval at position `at` of the other axis."""
    value, (below, above) = interval(row, scale)
    error = [[below], [above]]
    look = {"capsize": 2, "elinewidth": 0.9, "markersize": 4.5, "linestyle": "none", **look}
    if horizontal:
        axes.errorbar([value], [at], xerr=error, **look)
    else:
        axes.errorbar([at], [value], yerr=error, **look)


def plain(axis: Any, view: View, unit: str, spec: str) -> None:
    """Give a linear axis a few ticks, written as numbers with their unit."""
    axis.set_major_locator(MaxNLocator(4))
    axis.set_major_formatter(FuncFormatter(lambda value, _: view.value(value, unit, spec)))


def plain_log(axis: Any, view: View, unit: str) -> None:
    """Give a logarithmic axis one tick a decade, written as a number with its unit."""
    axis.set_major_locator(LogLocator(base=10, numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: view.value(value, unit, "int")))
    axis.set_minor_formatter(NullFormatter())


def size_ticks(axis: Any, view: View, sizes: list[int], spec: str = "") -> None:
    """Put the ticks at the sizes that were measured: exact bytes, or as `spec` says."""
    axis.set_major_locator(FixedLocator([float(size) for size in sizes]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: view.value(round(value), "B", spec)))
    axis.set_minor_formatter(NullFormatter())
    axis.set_minor_locator(FixedLocator([]))


def spread_labels(axes: Any, labels: list[tuple[float, str, str]], x: float, align: str) -> None:
    """Write names beside their points on a logarithmic axis, moved apart where they would overlap.

    `labels` are (value, text, colour); `x` is the place on the other axis, `align` is left or right.
    """
    low, high = axes.get_ylim()
    gap, place = (high / low) ** 0.042, 0.0
    for value, text, colour in sorted(labels):
        place = max(value, place * gap)
        axes.annotate(text, (x, place), ha=align, va="center", color=colour, fontsize=8, annotation_clip=False)
    axes.set_ylim(low, max(high, place))
