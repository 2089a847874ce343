"""How a frame is made a table: its columns named, its cells finished text."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from math import isnan
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from ipclab.errors import LabError
from ipclab.marks.drawn import Names, named
from ipclab.stats.quantity import Quantity
from ipclab.tables.table import Align, Column, Table
from ipclab.words import labels
from ipclab.words.catalogue import N_
from ipclab.words.words import DASH, NOT_MEASURED

if TYPE_CHECKING:
    from ipclab.lab.data import Data

Spec = str | Mapping[str, str]  # how quantities are printed: all, or by column
COUNTED = N_("{factor}: {count}")
LEFT_OUT = N_("Left out, since nothing is in them: {columns}.")


class _ShownColumn(NamedTuple):
    """One column as it is shown; `stays` says that it is not left out, empty or not."""

    head: Column
    cells: list[str]
    values: list[list[Any]]
    stays: bool


def tabulated(
    lab: "Data",
    frame: pd.DataFrame,
    caption: str,
    *,
    spec: Spec = "interval",
    notes: Sequence[str] = (),
    name: str = "",
    empty: str = "",
    names: Names = (),
) -> Table:
    """Return a frame as a table: levels and columns named, cells formatted, translated.

    `spec` is how quantities are printed, for all columns or by column: see `Formatter.format`; it
    also names the unit of plain numbers ("ns", "B", "share"). `caption`, `notes`, `names` and
    `empty` are msgids: they are translated here. `names` are what columns and levels are called in
    this table; of a frame without rows only `empty` is said, by default that nothing was
    measured, and why. Where the index is sorted, levels that have a usual order stand in that; so
    do columns. Of what `pivot` makes of several `values`, those of one level stand together, `cell`
    without a name of its own. Of several rows, named columns without a cell are left out, which a
    note says; others are lines to write on. Raises `LabError` when the cells follow from rows of
    several studies (the limits excepted).

    >>> lab.table(lab.cells(writes).pivot(index="size_bytes", columns="mapping", values="cell"),
    "One write")
    """
    frame = labels.in_order(labels.ordered_columns(frame))
    drawn = _drawn_from(frame)
    if len(drawn.keys() - {"limits"}) > 1:
        what = f"table {name or caption!r} holds one study"
        raise LabError(what, f"its rows are of {', '.join(drawn)}")

    def in_language(of: "Data") -> Table:
        made = _tabulated(of, frame, spec, named(names), notes, empty)
        called = of.say(caption)
        return replace(made, caption=called, name=name, drawn=drawn, lang=of.words.lang)

    made = in_language(lab)  # first: what it says is what the others say again
    others = {other.words.lang: in_language(other) for other in lab.others}
    return replace(made, others=others)


def _tabulated(
    lab: "Data",
    frame: pd.DataFrame,
    spec: Spec,
    names: Mapping[Any, str],
    notes: Sequence[str],
    empty: str,
) -> Table:
    """Return a frame as a table in one language, without what a table is called."""
    if frame.empty:
        return Table("", [], [], [lab.say(empty or NOT_MEASURED)], absent=not empty)
    every = _columns(lab, frame, spec, names)
    shown = [column for column in every if column.stays]
    said = [lab.say(note) for note in notes]
    if gone := [column.head.label for column in every if not column.stays]:
        said.append(lab.say(LEFT_OUT, columns=lab.words.joined(gone, N_("; "))))
    rows = [list(row) for row in zip(*(column.cells for column in shown), strict=True)]
    values = [list(row) for row in zip(*(column.values for column in shown), strict=True)]
    if gone and len(shown) <= len(_index(frame)):
        rows = []  # nothing beside the levels of the index
    if not rows or not any(map(any, values)):
        values = []
    return Table("", [column.head for column in shown], rows, said, values=values)


def _index(frame: pd.DataFrame) -> list[Any]:
    return [level for level in frame.index.names if level is not None]


def _columns(
    lab: "Data", frame: pd.DataFrame, spec: Spec, names: Mapping[Any, str]
) -> list[_ShownColumn]:
    """Return the columns of a frame as they are shown, its index levels first."""
    index = _index(frame)
    shown = frame.reset_index() if index else frame
    labels_of = [(level,) for level in index]
    labels_of += [label if isinstance(label, tuple) else (label,) for label in frame.columns]
    made = []
    for place, parts in enumerate(labels_of):
        in_index = place < len(index)
        head = _head(lab, parts, [None] if in_index else frame.columns.names, names)
        values = shown.iloc[:, place]
        column = str(parts[-1])
        if isinstance(spec, str):
            how = spec
        else:  # as its first part that has one
            how = next((spec[str(part)] for part in parts if str(part) in spec), "interval")
        cells = [_text(lab, column, value, how, names) for value in values]
        has_cells = bool({*cells} - {"", DASH})
        stays = has_cells or in_index or len(shown) <= 1 or not head.strip()
        align: Align = "right" if place > 0 and _numeric(values, column) else "left"
        made.append(_ShownColumn(Column(head, align), cells, [*map(_value, values)], stays))
    return made


def _value(value: Any) -> list[Any]:
    """Return value, low, high and unit of a numeric quantity (unknown ends are empty)."""
    if not isinstance(value, Quantity) or not isinstance(value.value, int | float | np.number):
        return []
    ends = ["" if end is None or not np.isfinite(end) else end for end in (value.low, value.high)]
    return [float(value.value), *ends, value.unit]


def _drawn_from(frame: pd.DataFrame) -> dict[str, int]:
    """Return the studies that the cells follow from, with the number of rows of each."""
    cells = [cell for cell in frame.to_numpy().ravel() if isinstance(cell, Quantity)]
    sources = {source for cell in cells for source in cell.sources}
    return dict(sorted(Counter(source.partition("/")[0] for source in sources).items()))


def _head(
    lab: "Data", parts: tuple[Any, ...], factors: Sequence[Any], names: Mapping[Any, str]
) -> str:
    words = []
    for part, factor in zip(parts, factors, strict=True):
        if part in names:
            words.append(lab.say(names[part]))
        elif factor:
            word = lab.level(str(factor), part)
            if factor in labels.COUNTED and isinstance(part, Real):  # bare, it does not say of what
                word = lab.say(COUNTED, factor=lab.words.label(factor), count=word)
            words.append(word)
        elif part != "cell" or len(parts) == 1:
            words.append(lab.words.label(str(part)))
    return reduce(lambda one, other: lab.say(N_("{one}, {other}"), one=one, other=other), words)


def _text(lab: "Data", column: str, value: Any, spec: str, names: Mapping[Any, str]) -> str:
    if isinstance(value, str) and value in names:
        return lab.say(names[value])
    if isinstance(value, Quantity):
        return lab.words.numbers.format(value, spec) if value else DASH
    if isinstance(value, float) and not isnan(value) and column not in labels.UNITS:
        words = spec.split(",")
        unit = next((word for word in words if word in ("ns", "B", "share", "B/s")), "1")
        return lab.words.numbers.format(Quantity(value, unit), "int" if "int" in words else "")
    return lab.level(column, value)


def _numeric(column: "pd.Series[Any]", name: str) -> bool:
    """Tell whether a column has numbers, be it beside words."""
    kinds = Quantity | int | float | np.number
    return name not in labels.UNITS and any(isinstance(value, kinds) for value in column.dropna())
