"""A document as Typst sets it: the data that its template reads, and what it compiles to."""

from dataclasses import replace
from importlib.resources import files
from typing import Any
from unicodedata import east_asian_width

import msgspec
from markdown_it.tree import SyntaxTreeNode

from ipclab.errors import LabError
from ipclab.lab import prose
from ipclab.lab.canvas import Figure
from ipclab.lab.formats import print_fonts
from ipclab.lab.numbers import Formatter
from ipclab.lab.table import Table
from ipclab.render import svg
from ipclab.render.document import WORDS, Block, Document

_TEXT_WIDTH_PT = 470  # of a page in print
_WHOLE_LINES = 36  # of a table that stays on one page
_LINE = 100  # narrow characters in a line of a table as wide as the page
_CLOSED = ("strong", "em", "link", "code_inline")
_WORD_JOINER = "\u2060"


def printed_date(document: Document) -> str:
    """Return the document's date in its language; nothing where it has none."""
    return Formatter(document.lang).date(document.date) if document.date else ""


def compiled(document: Document, **options: Any) -> Any:
    """Return what Typst makes of the document: bytes, or a list of them for each page.

    Raises LabError when a glyph, an alt text or a title is missing.
    """
    import typst

    template = files("ipclab.render").joinpath("templates/report.typ").read_bytes()
    inputs = {"document": msgspec.json.encode(data(document)).decode()}
    fonts: dict[str, Any] = {"font_paths": print_fonts(), "ignore_system_fonts": True}
    try:
        return typst.compile(template, sys_inputs=inputs, **fonts, **options)
    except typst.TypstError as error:
        raise LabError(
            "the PDF compiler refuses", error.message, " ".join(error.hints[:1])
        ) from error


def data(document: Document) -> dict[str, Any]:
    """Return what `report.typ` reads: its parameters, attached files, and a dict a block.

    It is handed over as data, so that nothing of it can become markup.
    """
    about = {
        "title": document.title,
        "lang": document.lang,
        "date": [int(part) for part in document.date[:10].split("-")] if document.date else None,
        "date-text": printed_date(document),
        "run": document.run,
        "contents": document.translate(WORDS["page"]["contents"]) if document.headings else "",
        "front": document.front,
        "marks": document.marks
        and {"named": document.translate(WORDS["page"]["number"]), **document.marks},
    }
    pages = document.translate(WORDS["numbered"]["page"])
    attached = {name: path.read_text("utf-8") for name, path in document.attachments.items()}
    blocks = []
    for place, block in enumerate(document.blocks):
        printed = _named(block, document) if place in document.unprinted else block
        blocks.append(_block(printed, document.lang))
    return {
        "about": about,
        "attached": attached,
        "blocks": blocks,
        "labels": document.labels,
        "pages": pages,
    }


def _named(block: Block, document: Document) -> Block:
    """Return a table too long for print as its caption and a note on where it stands."""
    assert isinstance(block, Table)  # noqa: S101  for the type checker
    note = document.translate(WORDS["numbered"]["elsewhere"]).replace(
        "{rows}", str(len(block.rows))
    )
    return replace(block, columns=[], rows=[], notes=[note])


def _block(block: Block, lang: str) -> dict[str, Any]:
    match block:
        case list():
            return {"type": "prose", "children": _nodes(SyntaxTreeNode(block), lang)}
        case Table():
            return {
                "type": "sheet",
                "name": "",
                **replace(block, values=()).to_json(),
                "whole": _lines(block) <= _WHOLE_LINES,
            }
        case Figure():
            whole = svg.width_pt(block.svg) > _TEXT_WIDTH_PT
            words = {"alt": block.alt, "caption": block.caption, "name": block.name}
            return {"type": "drawing", "svg": block.svg, "whole": whole, **words}
        case _:
            return {"type": "code_block", "content": block}


def _lines(table: Table) -> int:
    """Return the most lines a table takes: equal columns, wide characters count twice."""

    def lines(cell: str) -> int:
        width = sum(1 + (east_asian_width(letter) in "WF") for letter in cell)
        return 1 + width * len(table.columns) // _LINE

    return sum(max(map(lines, row), default=1) for row in table.rows)


def _nodes(parent: SyntaxTreeNode, lang: str) -> list[dict[str, Any]]:
    """Return a Markdown node's children as dicts, with their own; a footnote's is its text."""
    nodes = []
    for node in parent.children:
        content = node.content
        before = node.previous_sibling
        if node.type == "softbreak":
            after = node.next_sibling
            text_before = before.content if before else ""
            text_after = after.content if after else ""
            joined = prose.join_lines(f"{text_before}\n{text_after}")
            content = " " if joined != f"{text_before}{text_after}".strip() else ""
        elif (
            node.type == "text"
            and lang == "ko"
            and content[:1].strip()
            and before
            and before.type in _CLOSED
        ):
            # a Korean particle stays on the line of what it follows
            content = _WORD_JOINER + content
        inner = SyntaxTreeNode([node.meta["note"]]) if node.type == "footnote_reference" else node
        about = {"type": node.type, "tag": node.tag, "ref": node.meta.get("ref", "")}
        nodes.append({**node.attrs, **about, "content": content, "children": _nodes(inner, lang)})
    return nodes
