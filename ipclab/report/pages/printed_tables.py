"""Tables of prose, and those that others' code made as HTML: set so that they fit a printed page."""

from copy import deepcopy
from typing import Any

from ipclab.report.pages import pandoc, widths
from ipclab.report.pages.pandoc import Tree, text_of

DEFAULT = {"t": "ColWidthDefault"}


def fitted(table: dict[str, Any]) -> Tree:
    """Return a table that fits a page: smaller, with other columns, or in parts; or another node."""
    if table["t"] != "Table":
        return [table]
    _, _, columns, (_, head), bodies, (_, foot) = table["c"]
    rows = [*head, *(row for _, _, above, body in bodies for row in (*above, *body)), *foot]
    if not columns or not rows:
        return [table]
    spans = any(cell[2:4] != [1, 1] for _, cells in rows for cell in cells)
    texts = [_texts(cells, len(columns)) for _, cells in rows]
    fit = widths.fitted(texts)
    whole = widths.Part(list(range(len(columns))), [])
    parts = fit.parts
    if spans and len(parts) > 1:  # cells that span columns stay together, in the smallest letters
        fit, parts = widths.Fit(widths.SIZES[-1], [], fit.longest), [whole]
    made: Tree = [pandoc.raw("typst", f"#[#show table: set text(size: {fit.size}pt)")]
    for part in parts:
        made.append(_part(table, part, fit.longest))
    return [*made, pandoc.raw("typst", "]")]


def _texts(cells: list[Any], count: int) -> list[str]:
    """Return the text of a row's cells by column; those of cells over several ones are left out."""
    texts = [text_of(cell[4]) if cell[3] == 1 else "" for cell in cells for _ in range(cell[3])]
    return [*texts, *[""] * count][:count]


def _part(table: dict[str, Any], part: widths.Part, longest: int) -> dict[str, Any]:
    """Return a table with some of its columns, of their widths, whose long words may break."""
    made = deepcopy(table)
    _, _, columns, head, bodies, foot = made["c"]
    every = len(part.columns) == len(columns)
    made["c"][2] = [
        [columns[place][0], {"t": "ColWidth", "c": part.shares[at]} if part.shares else DEFAULT]
        for at, place in enumerate(part.columns)
    ]
    rows = [head[1], foot[1], *(each for body in bodies for each in (body[2], body[3]))]
    for row in (row for several in rows for row in several):
        if not every:
            row[1] = [row[1][place] for place in part.columns]
        for cell in row[1]:
            for node in pandoc.tree_nodes(cell[4]):
                if node["t"] == "Str":
                    node["c"] = widths.broken(node["c"], longest)
    return made
