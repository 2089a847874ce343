"""What all marks of a figure share: rows to draw, groups, names, intervals, pointing."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from ipclab.errors import LabError
from ipclab.frames.points import VALUES
from ipclab.frames.rows import check_columns
from ipclab.marks import drawn
from ipclab.words import labels
from ipclab.words.catalogue import N_
from ipclab.words.words import NOT_MEASURED

INTERVAL = {"capsize": 2, "elinewidth": 0.9, "linestyle": "none"}
NAMELESS = "_nolegend_"
# Columns that may differ between two rows of one place.
_MEASURED = {
    *("point", "limit", "over_limit", "over", "fast", "slow", "why", "busy"),
    *("p99", "mean", "cpu_ns", "row"),
    *VALUES,
} - {"op", "metric", "unit"}


def drawable(frame: pd.DataFrame, ax: Any, *factors: str | None) -> bool:
    """Tell whether there are rows to draw, and say so in `ax` when there are none.

    What is drawn from is noted; raises `LabError` for rows of several studies or two rows in one
    place, and `UsageError` for factors that are no columns.
    """
    sketch = drawn.sketch_of(ax)
    if frame.empty:
        sketch.empty = True
        ax.set_axis_off()
        ax.text(
            0.5, 0.5, sketch.say(NOT_MEASURED), ha="center", va="center", transform=ax.transAxes
        )
        return False
    keys = list(filter(None, factors))
    check_columns(frame, keys)
    studies = set(frame.get("study", ()))
    if len(studies | (sketch.rows.keys() - {"limits"})) > 1:
        why = f"it was given rows of {', '.join(sorted(studies | sketch.rows.keys()))}"
        raise LabError("a figure draws one study", why)
    same = frame[frame.duplicated(keys, keep=False)] if keys else frame.iloc[:0]
    if len(same):
        where = ", ".join(f"{name}={same[name].iloc[0]}" for name in keys)
        others = [str(name) for name in same if name not in _MEASURED.union(keys)]
        differ = [name for name in others if same[name].nunique(dropna=False) > 1]
        why = f"at {where} they differ in {', '.join(differ)}"
        raise LabError(f"{len(same)} rows share a place", why, "choose one level")
    sketch.rows.update({study: sketch.rows.get(study, 0) + len(frame) for study in studies})
    return True


def groups(frame: pd.DataFrame, by: str | None) -> Iterator[tuple[Any, pd.DataFrame]]:
    """Yield the rows of each level of `by` in their order; all rows when it is None."""
    if by is None:
        yield None, frame
        return
    for level in labels.ordered(by, dict.fromkeys(frame[by])):
        yield level, frame[frame[by] == level]


def interval_ends(part: pd.DataFrame) -> list[pd.Series] | None:
    """Return how far intervals reach to both sides, or None.

    One that has an end nowhere is none: the other end, where it is cut at a limit, says nothing.
    """
    if not {"low", "high"} <= set(part):
        return None
    ends = [(part.value - part.low).astype(float), (part.high - part.value).astype(float)]
    known = np.isfinite(ends[0]) & np.isfinite(ends[1])
    return [end.where(known) for end in ends]


def label_of(ax: Any, factor: str | None, level: Any) -> str:
    """Return a level of `factor` as the figure names it, else in the reader's words."""
    sketch = drawn.sketch_of(ax)
    if isinstance(level, str) and level in sketch.names:
        return sketch.say(sketch.names[level])
    written = sketch.words.level(factor or "", level)
    if factor not in labels.COUNTED:
        return written
    # a bare count does not say of what
    name = sketch.words.label(str(factor))
    return sketch.say(N_("{factor}: {count}"), factor=name, count=written)
