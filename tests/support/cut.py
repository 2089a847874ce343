"""What a figure draws and does not show: medians outside their axes."""

from typing import Any

import numpy as np

PIXEL = 1.0
CAPS = ("|", "_", "None", "", " ")  # of intervals, which may end outside


def cut(figure: Any) -> list[str]:
    """Return a line for each series whose marked points lie outside the axes that show it."""
    found = []
    for ax in figure.axes:
        marked = [
            (line.get_label(), line.get_xydata()) for line in ax.lines if _is_marked(line, ax)
        ]
        dotted = [dots for dots in ax.collections if _is_dots(dots, ax)]
        marked += [(dots.get_label(), np.ma.getdata(dots.get_offsets())) for dots in dotted]
        for name, points in marked:
            places = ax.transData.transform(points[np.isfinite(points).all(axis=1)])
            inside = (places >= ax.bbox.min - PIXEL) & (places <= ax.bbox.max + PIXEL)
            if not inside.all():
                found.append(
                    f"{ax.get_title()}: {name}: {np.count_nonzero(~inside.all(axis=1))} points"
                )
    return found


def _is_marked(line: Any, ax: Any) -> bool:
    return (
        line.get_visible()
        and line.get_marker() not in CAPS
        and line.get_transform() == ax.transData
    )


def _is_dots(dots: Any, ax: Any) -> bool:
    return hasattr(dots, "get_sizes") and dots.get_offset_transform() == ax.transData
