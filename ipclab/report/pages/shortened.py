"""A table too long for print: its rows that matter, and all of them as CSV beside it."""

import re
from dataclasses import replace

from ipclab.report.pages.columns import width
from ipclab.report.pages.document import WORDS, Document
from ipclab.report.pages.pandoc import text_of, tree_nodes
from ipclab.report.sheet import as_frame, csv
from ipclab.tables.table import Table

ROWS, UNCITED_ROWS = 10, 2  # that print has of a table too long for it; and where nothing cites it
MOST_ROWS, MOST_LINES = 12, 20  # of a table that is printed whole
HALVED_ROWS, HALVED_WIDTH = 14, 72  # of two columns: from so many rows on, of so narrow cells
_WIDE = 100  # narrow characters in a line of a table as wide as the page
LEAST = 3  # characters of a value that a text can be said to give
_VALUE = re.compile(r"[^\[(]+")  # of a cell, before its interval


def is_too_long(place: int, document: Document) -> bool:
    """Tell whether print shortens the table at a place of the document's blocks."""
    table = document.blocks[place]
    if place not in document.long or not isinstance(table, Table):
        return False
    return len(table.rows) > MOST_ROWS and most_lines(table) > MOST_LINES


def most_lines(table: Table) -> int:
    """Return the most lines a table takes: equal columns, wide characters count twice."""

    def of_cell(cell: str) -> int:
        return 1 + width(cell) * len(table.columns) // _WIDE

    return sum(max(map(of_cell, row), default=1) for row in table.rows)


def halves(table: Table) -> list[list[str]]:
    """Return the rows of a long table of two columns with its halves side by side; else, none.

    A form to fill in stays as it is.
    """
    count = len(table.rows)
    widest = max((width(cell) for row in table.rows for cell in row), default=0)
    named = [column for column in table.columns if column.label]
    if (len(table.columns), len(named)) != (2, 2) or count < HALVED_ROWS or widest > HALVED_WIDTH:
        return []
    half = (count + 1) // 2
    right = [*table.rows[half:], ["", ""]]
    return [[*row, *other] for row, other in zip(table.rows[:half], right, strict=False)]


def table_shortened(table: Table, document: Document) -> Table:
    """Return a table with the rows whose values the document's prose gives, then the first ones.

    They stay in the table's order, fewer of a table that the prose does not refer to. A note says
    where all of them are.
    """
    prose = " ".join(map(text_of, document.prose)).replace("\u00a0", " ")
    places = range(len(table.rows))
    given = [place for place in places if _is_given(table, place, prose)][:ROWS]
    first = [place for place in places if place not in given]
    most = ROWS if _is_cited(table, document) else UNCITED_ROWS
    kept = sorted([*given, *first[: max(0, most - len(given))]])
    note = document.translate(WORDS["numbered"]["shortened"])
    for name, value in (
        ("shown", len(kept)),
        ("rows", len(table.rows)),
        ("file", rows_file(table, document)),
    ):
        note = note.replace(f"{{{name}}}", str(value))
    rows = [table.rows[place] for place in kept]
    return replace(table, rows=rows, values=(), notes=[note, *table.notes])


def attached(document: Document) -> dict[str, str]:
    """Return all rows of each shortened table as CSV, by file name."""
    files = {}
    for place, table in enumerate(document.blocks):
        if isinstance(table, Table) and is_too_long(place, document):
            files[rows_file(table, document)] = csv(as_frame(document.settled(table)))
    return files


def rows_file(table: Table, document: Document) -> str:
    """Return the name of the file that holds all rows of a table."""
    places = [place for place, block in enumerate(document.blocks) if block is table]
    return f"table-{table.name or places[0]}.csv"


def _is_cited(table: Table, document: Document) -> bool:
    """Return whether the prose refers to a table."""
    links = [node["c"] for node in tree_nodes(document.prose) if node["t"] == "Link"]
    return any(url == f"#{table.name}" for _, _, (url, _) in links)


def _is_given(table: Table, place: int, prose: str) -> bool:
    """Return whether the prose gives one of the quantities of a row."""
    values = table.values[place] if place < len(table.values) else ()
    for cell, value in zip(table.rows[place], values, strict=False):
        text = match[0].strip() if (match := _VALUE.match(cell)) and value else ""
        told = text.replace("\u00a0", " ")
        # most are not there at all, which takes no pattern to see
        if len(told) < LEAST or told not in prose:
            continue
        if re.search(rf"(?<![\d.,]){re.escape(told)}(?!\d)", prose):
            return True
    return False
