"""How a table fits the width of a page: smaller letters, columns of their own widths, or parts.

Words are never set over each other: a table too wide for readable letters breaks between columns,
each part with the first column again, and a word too long for its column breaks.
"""

import re
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, NamedTuple
from unicodedata import east_asian_width

from ipclab.report.pages import pandoc
from ipclab.report.pages.pandoc import Tree, text_of
from ipclab.tables.table import INTERVAL

ROOM = 470.0  # pt, of a page's text
INSET = 10.0  # pt, beside a cell's text
SIZES = 8.5, 7.5, 6.5  # pt, of letters: the largest that fits
SAFE = 1.06  # heads are bold, and widths of letters are estimated
MANY_ROWS = 30  # above which a table has the second size at most
_HAN = "\u2e80-\u303f\u3400-\u9fff\uff00-\uffef"  # a line may break at each of these
_TOGETHER = 4  # so many Han letters stay together, though a line may break at each
_PIECE = re.compile(rf"{INTERVAL}|[{_HAN}]{{1,{_TOGETHER}}}|[(\[]?[^\s(\[{_HAN}]+")
_NARROW, _BROAD = frozenset("iljtfrI.,:;'|!()[]{}/-\u00b7 \u00a0"), frozenset("mwMW@%OQGDNH—…")
DEFAULT = {"t": "ColWidthDefault"}


class Columns(NamedTuple):
    """Columns that stand side by side, by their places, and the share of the line of each.

    Without shares columns are as wide as their cells.
    """

    columns: list[int]
    shares: list[float]


class Fit(NamedTuple):
    """How a table is set: the size of its letters (pt), its parts, and the letters of a word."""

    size: float
    parts: list[Columns]
    longest: int


def fitted(rows: Sequence[Sequence[str]], leads: int = 1) -> Fit:
    """Return how a table of texts, its head among the rows, fits a page.

    Where it is parted, its first `leads` columns stand in each part, if they leave half the line.
    """
    columns = [list(column) for column in zip(*rows, strict=True)]
    if not columns:
        return Fit(SIZES[0], [], 0)
    sizes = SIZES[1:] if len(rows) > MANY_ROWS else SIZES
    places = list(range(len(columns)))
    lasting = [_widest(text, _PIECE.findall) for text in columns]  # in em, of what stays whole
    lines = [_widest(text, str.splitlines) for text in columns]
    for size in sizes[:-1]:  # cells of one line each, in letters that are not the smallest
        if sum(lines) * size + INSET * len(columns) <= ROOM:
            return Fit(size, [Columns(places, [])], 0)
    for size in sizes:
        least = [INSET + size * each for each in lasting]
        if sum(least) <= ROOM:
            return Fit(size, [_part(places, least, [INSET + size * each for each in lines])], 0)
    size = SIZES[1]
    most = ROOM / 2 if len(columns) > 1 else ROOM
    least = [min(most, INSET + size * each) for each in lasting]
    natural = [max(low, INSET + size * each) for low, each in zip(least, lines, strict=True)]
    leads = leads if 0 < sum(least[:leads]) <= ROOM / 2 else 1
    groups = [places[:leads]]
    for place in places[leads:]:
        full = sum(least[each] for each in groups[-1]) + least[place] > ROOM
        if len(groups[-1]) > leads and full:
            groups.append(places[:leads])
        groups[-1].append(place)
    parts = [_part(group, least, natural) for group in groups]
    return Fit(size, parts, int((most - INSET) / size / SAFE))


def fitted_prose(table: dict[str, Any]) -> Tree:
    """Return a table of prose, or of others' HTML, that fits a page; another node as it is."""
    if table["t"] != "Table":
        return [table]
    columns, rows = table["c"][2], _rows(table)
    if not columns or not rows:
        return [table]
    size, parts, longest = fitted([_texts(cells, len(columns)) for _, cells in rows])
    spans = any(cell[2:4] != [1, 1] for _, cells in rows for cell in cells)
    if spans and len(parts) > 1:  # cells that span columns stay together, in the smallest letters
        size, parts = SIZES[-1], [Columns(list(range(len(columns))), [])]
    made: Tree = [pandoc.raw("typst", f"#[#show table: set text(size: {size}pt)")]
    for part in parts:
        copied = deepcopy(table)
        copied["c"][2] = [
            [columns[place][0], {"t": "ColWidth", "c": part.shares[at]} if part.shares else DEFAULT]
            for at, place in enumerate(part.columns)
        ]
        for row in _rows(copied):
            if len(part.columns) < len(columns):
                row[1] = [row[1][place] for place in part.columns]
            for node in pandoc.tree_nodes([cell[4] for cell in row[1]]):
                if node["t"] == "Str":
                    node["c"] = broken(node["c"], longest)
        made.append(copied)
    return [*made, pandoc.raw("typst", "]")]


def _rows(table: dict[str, Any]) -> list[Any]:
    """Return the rows of a table, those of its head and foot, too."""
    _, _, _, (_, head), bodies, (_, foot) = table["c"]
    return [*head, *(row for _, _, above, body in bodies for row in (*above, *body)), *foot]


def _texts(cells: list[Any], count: int) -> list[str]:
    """Return the text of a row's cells by column; those of cells over several ones are left out."""
    texts = [text_of(cell[4]) if cell[3] == 1 else "" for cell in cells for _ in range(cell[3])]
    return [*texts, *[""] * count][:count]


def broken(text: str, longest: int) -> str:
    """Return text in which words of more letters than `longest` may break; 0 is no bound."""
    if not longest:
        return text
    return re.sub(rf"(\S{{{longest}}})(?=\S)", "\\1\u200b", text)


def width(text: str) -> float:
    """Return about how wide a text is in letters' sizes (em)."""
    return SAFE * sum(map(_em, text))


def _em(letter: str) -> float:
    if east_asian_width(letter) in "WF":
        return 1.0
    if letter in _NARROW:
        return 0.36
    if letter in _BROAD:
        return 0.9
    return 0.66 if letter.isupper() else 0.57


def _part(places: list[int], least: Sequence[float], natural: Sequence[float]) -> Columns:
    """Return columns with what is left of the line given to those that lack most."""
    if sum(natural[place] for place in places) <= ROOM:
        return Columns(places, [])
    left = ROOM - sum(least[place] for place in places)
    lacks = [natural[place] - least[place] for place in places]
    # a square root: the longest sentence does not take all
    parts = [lack**0.5 for lack in lacks]
    whole = sum(parts) or 1.0
    widths = [least[place] + left * part / whole for place, part in zip(places, parts, strict=True)]
    return Columns(places, [each / sum(widths) for each in widths])


def _widest(texts: Sequence[str], parts: Callable[[str], Sequence[str]]) -> float:
    """Return the width of the widest of the parts of texts."""
    return max((width(part) for text in texts for part in parts(text)), default=0.0)
