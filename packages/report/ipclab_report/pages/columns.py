"""How wide the columns of a printed table are, whose cells are sentences."""

import re
from collections.abc import Iterable
from itertools import chain
from operator import truediv
from unicodedata import east_asian_width

from ipclab.tables.table import Table

LINE = 104  # narrow characters that a line of a table holds, in its larger type
BETWEEN = 2.5  # of them between two columns
_HAN = "\u2e80-\u303f\u3400-\u9fff\uff00-\uffef"  # a line may break at each of these
_INTERVAL = r"\[[^\[\]]{1,32}[–~][^\[\]]{1,32}\]"  # stays whole, as words do
_PIECE = re.compile(rf"{_INTERVAL}|[{_HAN}]|[(\[]?[^\s(\[{_HAN}]+")
SHORT = 12  # a cell no longer than that has one line


def column_shares(table: Table) -> list[float]:
    """Return the share of the line that each column has: the one with which rows are lowest.

    Nothing of a table that fits, or has numbers: its columns are as wide as their cells.
    """
    rows = [[column.label for column in table.columns], *table.rows]
    by_column = [*zip(*rows, strict=True)]
    room = int(LINE - BETWEEN * len(table.columns))
    fits = sum(max(map(width, cells)) for cells in by_column) <= room
    if fits or any(column.align != "left" for column in table.columns):
        return []
    widths = [[*map(width, row)] for row in rows]
    shared = [max(_longest(cells), _shortest(cells), 1) for cells in by_column]

    while sum(shared) < room:
        saved = [0.0] * len(shared)  # of the heights of rows, by one more character
        for row in widths:
            lines = [*map(truediv, row, shared)]
            highest = lines.index(max(lines))
            saved[highest] += lines[highest] / shared[highest]
        shared[saved.index(max(saved))] += 1
    return [each + BETWEEN for each in shared]


def width(text: str) -> int:
    """Return how many narrow characters wide a text is."""
    return sum(1 + (east_asian_width(letter) in "WF") for letter in text)


def _longest(texts: Iterable[str]) -> int:
    """Return the width of the longest part of texts that stays on one line."""
    pieces = chain.from_iterable(map(_PIECE.findall, texts))
    return max(map(width, pieces), default=0)


def _shortest(cells: Iterable[str]) -> int:
    """Return the width of the widest of cells that are short."""
    return max((wide for wide in map(width, cells) if wide <= SHORT), default=0)
