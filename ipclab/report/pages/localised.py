"""An executed notebook for readers of one language, as Jupyter shows it to them."""

from base64 import b64encode
from copy import deepcopy
from html import escape
from typing import Any

from ipclab.lab.figure import PNG, Figure
from ipclab.lab.shell import jupyters
from ipclab.tables.table import Table
from ipclab.words import output as ours
from ipclab.words.blocks import translated
from ipclab.words.markdown import output_markdown
from ipclab.words.words import Words


def localised(notebook: Any, lang: str) -> Any:
    """Return an executed notebook whose narrative and outputs are those of one language."""
    words = Words.load(lang)
    made = deepcopy(notebook)
    for cell in made.cells:
        if cell.cell_type == "markdown":
            cell.source = jupyters(translated(cell.source, words.translate))
        for output in cell.get("outputs", []):
            if ours.MIME in output.get("data", {}):
                output.data = {**output.data, **_shown(output.data[ours.MIME], lang)}
    return made


def _shown(data: dict[str, Any], lang: str) -> dict[str, Any]:
    """Return the forms of an output of ours in one language."""
    alone = {**data}
    if ours.SAID in data:
        alone[ours.SAID] = {lang: ours.said(data, lang)}
    shown: dict[str, Any] = {ours.MIME: alone}
    match ours.kind_of(data):
        case ours.TITLE:
            caption = escape(ours.said(data, lang))
            shown["text/html"] = f'<strong id="{escape(data["name"])}">{caption}</strong>'
        case ours.FIGURE:
            from ipclab.marks.pictures import png

            figure = Figure.of(data, lang)
            shown |= {PNG: b64encode(png(figure.svg)).decode(), "text/plain": figure.caption}
        case ours.TABLE:
            table = Table.of(data, lang)
            shown |= {"text/html": table.to_html(), "text/plain": table.caption}
        case _:
            shown["text/markdown"] = jupyters(output_markdown(data, lang))
    return shown
