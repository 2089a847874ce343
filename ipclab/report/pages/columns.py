"""How wide the columns of a printed table are, whose cells are sentences."""

import re
from collections.abc import Iterable
from itertools import chain
from operator import truediv
from unicodedata import east_asian_width

from ipclab.tables.table import Table

LINE, SMALL_LINE = 104, 126  # narrow characters that a line of a table holds, by its type
FEW = 7  # columns of a table in the larger type at most
BETWEEN = 2.5  # of them between two columns
_HAN = "\u2e80-\u303f\u3400-\u9fff\uff00-\uffef"  # a line may break at each of these
_INTERVAL = r"\[[^\[\]]{1,32}[–~][^\[\]]{1,32}\]"  # stays whole, as words do
_PIECE = re.compile(rf"{_INTERVAL}|[{_HAN}]|[(\[]?[^\s(\[{_HAN}]+")
FILE_NAME = 24  # letters of a name that the template breaks
SHORT = 12  # a cell no longer than that has one line


def column_shares(table: Table) -> list[float]:
    """Return the share of the line that each column has: the one with which rows are lowest.

    Nothing of a table that fits, or has numbers: its columns are as wide as their cells.
    """
    rows = [[column.label for column in table.columns], *table.rows]
    by_column = [*zip(*rows, strict=True)]
    line = LINE if len(table.columns) <= FEW else SMALL_LINE
    room = int(line - BETWEEN * len(table.columns))
    widths = [[*map(width, row)] for row in rows]
    fits = sum(map(max, zip(*widths, strict=True))) <= room
    if fits or any(column.align != "left" for column in table.columns):
        return []
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
    return max((width(part) for piece in pieces for part in _parts(piece)), default=0)


def _parts(piece: str) -> list[str]:
    """Return what stays on one line of a word: a file's name breaks at its hyphens."""
    return piece.split("-") if len(piece) >= FILE_NAME else [piece]


def _shortest(cells: Iterable[str]) -> int:
    """Return the width of the widest of cells that are short."""
    return max((wide for wide in map(width, cells) if wide <= SHORT), default=0)
