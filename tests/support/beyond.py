"""What a figure draws beyond its data: lines, dots, bars and error bars that end outside their
frame's values.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.collections import QuadMesh
from matplotlib.patches import Polygon

from ipclab.marks.drawn import sketch_of

SHARE = 1e-6  # of the data's length: rounding


def beyond(figure: Any) -> list[str]:
    """Return a line for each drawn mark that reaches beyond the frames of its axes, and for axes
    without any frame.
    """
    found = []
    ends = sketch_of(figure).ends
    for ax in figure.axes:
        marks = list(_marks(ax))
        known = [which for which in "xy" if (ax, which) in ends]
        if marks and not known:
            found.append(f"{ax.get_title()}: marks, but no frame")
        for place, which in enumerate("xy"):
            if which in known:
                found += _outside(ax, which, place, marks, ends[ax, which])
    return found


def _outside(
    ax: Any, which: str, place: int, marks: list[Any], ends: tuple[float, float]
) -> list[str]:
    room = SHARE * max(abs(ends[0]), abs(ends[1]))
    low, high = ends[0] - room, ends[1] + room
    found = []
    for kind, points in marks:
        values = points[:, place]
        drawn = np.isfinite(values)
        if getattr(ax, f"get_{which}scale")() == "log":
            drawn &= values > 0
        values = values[drawn]
        if len(values) and (values.min() < low or values.max() > high):
            reached = f"{values.min():g} to {values.max():g}"
            found.append(
                f"{ax.get_title()}: {which} of {kind}: {reached}, data {ends[0]:g} to {ends[1]:g}"
            )
    return found


def _marks(ax: Any) -> Iterator[tuple[str, Any]]:
    """Yield what is drawn at data: its kind and its points; neither lines across the whole axes nor
    a grid's cells.
    """
    for line in ax.lines:
        if line.get_transform() == ax.transData and len(line.get_xydata()):
            yield f"line {line.get_label()}", np.asarray(line.get_xydata(), float)
    for patch in ax.patches:
        if isinstance(patch, Polygon):
            yield "area", np.asarray(patch.get_xy(), float)
        elif patch.get_width() and patch.get_height():
            points = patch.get_bbox().get_points()
            for place, across in enumerate((ax.get_yaxis_transform(), ax.get_xaxis_transform())):
                if patch.get_data_transform() == across:  # a span reaches across the whole axes
                    points[:, place] = np.nan
            yield "bar", points
    for drawn in (each for each in ax.collections if not isinstance(each, QuadMesh)):
        if hasattr(drawn, "get_sizes") and drawn.get_offset_transform() == ax.transData:
            yield (
                f"dots {drawn.get_label()}",
                np.ma.filled(drawn.get_offsets().astype(float), np.nan),
            )
        else:
            for path in drawn.get_paths():
                if len(path.vertices):
                    yield f"bar {drawn.get_label()}", path.vertices
