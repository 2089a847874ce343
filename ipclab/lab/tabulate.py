"""Tables out of frames: index levels and columns named, cells formatted and translated."""

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd

from ipclab.errors import LabError
from ipclab.lab import labels, values
from ipclab.lab.catalogue import N_
from ipclab.lab.reader import DASH, Reader
from ipclab.lab.table import Column, Table
from ipclab.stats.quantity import Quantity


def tabulated(
    lab: Reader, frame: pd.DataFrame, caption: str, spec: str | Mapping[str, str], notes: Sequence[str], name: str
) -> Table:
    """Return what `Lab.table` says; `caption` and `notes` are finished text.

    Raises `LabError` when the cells follow from rows of several studies (the limits excepted).
    """
    frame = labels.in_order(labels.ordered_columns(frame))
    index = [level for level in frame.index.names if level is not None]
    shown = frame.reset_index() if index else frame
    parts = [(name,) for name in index] + [each if isinstance(each, tuple) else (each,) for each in frame.columns]
    factors = [(None,)] * len(index) + [tuple(frame.columns.names)] * len(frame.columns)
    specs = [spec if isinstance(spec, str) else _spec(each, spec) for each in parts]
    told = [
        [_cell(lab, str(each[-1]), value, how) for value in shown.iloc[:, place]]
        for place, (each, how) in enumerate(zip(parts, specs, strict=True))
    ]
    right = [place > 0 and _numeric(shown.iloc[:, place], str(each[-1])) for place, each in enumerate(parts)]
    heads = [_head(lab, *each) for each in zip(parts, factors, strict=True)]
    columns = [Column(head, "right" if put else "left") for head, put in zip(heads, right, strict=True)]
    rows = [list(row) for row in zip(*told, strict=True)]
    drawn = values.drawn_from(shown.to_numpy().ravel())
    if len(drawn.keys() - {"limits"}) > 1:
        raise LabError(f"table {name or caption!r} holds one study", f"its rows are of {', '.join(drawn)}")
    return Table(caption, columns, rows, list(notes), name, drawn, frame)


def _head(lab: Reader, parts: tuple[Any, ...], factors: tuple[Any, ...]) -> str:
    words = [
        lab.level(str(factor), part) if factor else lab.label(str(part))
        for part, factor in zip(parts, factors, strict=True)
        if part != "cell" or len(parts) == 1
    ]
    return reduce(lambda one, other: lab.say(N_("{one}, {other}"), one=one, other=other), words)


def _cell(lab: Reader, column: str, value: Any, spec: str) -> str:
    if isinstance(value, Quantity):
        return lab.numbers.format(value, spec) if value else DASH
    if isinstance(value, float) and value == value and column not in labels.UNITS:  # noqa: PLR0124
        unit = next((word for word in spec.split(",") if word in ("ns", "B", "share", "B/s")), "1")
        return lab.numbers.format(Quantity(value, unit), "int" if "int" in spec.split(",") else "")
    return lab.level(column, value)


def _spec(parts: tuple[Any, ...], specs: Mapping[str, str]) -> str:
    return next((specs[str(part)] for part in parts if str(part) in specs), "interval")


def _numeric(column: "pd.Series[Any]", name: str) -> bool:
    """Tell whether a column has numbers, be it beside words."""
    kinds = Quantity | int | float | np.number
    return name not in labels.UNITS and any(isinstance(each, kinds) for each in column.dropna())
