"""A document printed by Typst, handed to the template `report.typ` as data, so that nothing of it can become markup."""

from importlib import resources
from typing import Any
from unicodedata import east_asian_width

import msgspec
from markdown_it.tree import SyntaxTreeNode

from ipclab.errors import LabError
from ipclab.lab.canvas import Figure
from ipclab.lab.numbers import Formatter
from ipclab.lab.prose import join_lines
from ipclab.lab.style import print_fonts
from ipclab.lab.table import Table
from ipclab.render import svg
from ipclab.render.document import SAID, Block, Document

_TEXT_WIDTH_PT = 470
_WHOLE_LINES = 36  # of a table that stays on one page
_LINE = 100  # narrow characters in a line of a table as wide as the page
_CLOSED = ("strong", "em", "link", "code_inline")
_WORD_JOINER = "\u2060"


def compiled(document: Document, **options: Any) -> Any:
    """Return what Typst makes of the document: bytes, or a list of them for each page.

    Raises LabError when a glyph, an alt text or a title is missing.
    """
    from typst import TypstError
    from typst import compile as made

    template = resources.files("ipclab.render").joinpath("templates/report.typ").read_bytes()
    told = {"document": msgspec.json.encode(data(document)).decode()}
    fonts: dict[str, Any] = {"font_paths": print_fonts(), "ignore_system_fonts": True}
    try:
        return made(template, sys_inputs=told, **fonts, **options)
    except TypstError as error:
        raise LabError("the PDF compiler refuses", error.message, " ".join(error.hints[:1])) from error


def data(document: Document) -> dict[str, Any]:
    """Return what `report.typ` reads: the parameters of its `report`, the attached files, and a dict for each block."""
    about = {
        "title": document.title,
        "lang": document.lang,
        "date": [int(part) for part in document.date[:10].split("-")] if document.date else None,
        "date-text": Formatter(document.lang).date(document.date) if document.date else "",
        "run": document.run,
        "contents": document.translate(SAID["page"]["contents"]) if document.headings else "",
        "front": document.front,
    }
    pages = document.translate(SAID["numbered"]["page"])
    attached = {name: path.read_text("utf-8") for name, path in document.attachments.items()}
    blocks = [_block(block, document.lang) for block in document.blocks]
    return {"about": about, "attached": attached, "blocks": blocks, "labels": document.labels, "pages": pages}


def _block(block: Block, lang: str) -> dict[str, Any]:
    match block:
        case list():
            return {"type": "prose", "children": _nodes(SyntaxTreeNode(block), lang)}
        case Table():
            return {"type": "sheet", "name": "", **block.to_json(), "whole": _lines(block) <= _WHOLE_LINES}
        case Figure():
            whole = svg.width_pt(block.svg) > _TEXT_WIDTH_PT
            words = {"alt": block.alt, "caption": block.caption, "name": block.name}
            return {"type": "drawing", "svg": block.svg, "whole": whole, **words}
        case _:
            return {"type": "code_block", "content": block}


def _lines(table: Table) -> int:
    """Return at most how many lines the table takes: its columns as if equally wide, wide characters as two."""

    def lines(cell: str) -> int:
        width = sum(1 + (east_asian_width(letter) in "WF") for letter in cell)
        return 1 + width * len(table.columns) // _LINE

    return sum(max(map(lines, row), default=1) for row in table.rows)


def _nodes(parent: SyntaxTreeNode, lang: str) -> list[dict[str, Any]]:
    """Return the children of a Markdown node as dicts, with their own; that of a footnote is its text."""
    found = []
    for node in parent.children:
        content, before = node.content, node.previous_sibling
        if node.type == "softbreak":
            around = [each.content if each else "" for each in (before, node.next_sibling)]
            content = " " if join_lines("\n".join(around)) != "".join(around).strip() else ""
        elif node.type == "text" and lang == "ko" and content[:1].strip() and before and before.type in _CLOSED:
            content = _WORD_JOINER + content  # a Korean particle stays on the line of what it follows
        inner = SyntaxTreeNode([node.meta["note"]]) if node.type == "footnote_reference" else node
        told = {"type": node.type, "tag": node.tag, "ref": node.meta.get("ref", "")}
        found.append({**node.attrs, **told, "content": content, "children": _nodes(inner, lang)})
    return found
