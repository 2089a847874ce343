"""The nbconvert exporters: `jupyter nbconvert --to ipclabhtml | typstpdf`; `make report` goes
through them too.
"""

from base64 import b64encode
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width

import msgspec
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode
from nbconvert.exporters import Exporter
from nbconvert.exporters.exporter import FilenameExtension
from traitlets import Unicode

from ipclab.errors import LabError
from ipclab.lab import prose
from ipclab.lab.canvas import Figure
from ipclab.lab.numbers import Formatter
from ipclab.lab.style import print_fonts
from ipclab.lab.table import Table
from ipclab.render import svg
from ipclab.render.document import WORDS, Block, Document, read

_TEXT_WIDTH_PT = 470  # of a page in print
_WHOLE_LINES = 36  # of a table that stays on one page
_LINE = 100  # narrow characters in a line of a table as wide as the page
_CLOSED = ("strong", "em", "link", "code_inline")
_WORD_JOINER = "\u2060"
EPOCH = "1970-01-01"  # of what no report has dated


class DocumentExporter(Exporter):
    """An exporter of an executed notebook, read as a `Document` first; subclasses say what becomes
    of it.
    """

    locale = Unicode("", help="folder of the catalogues; the package's own when empty").tag(
        config=True
    )

    def convert(self, document: Document) -> str | bytes:
        """Return the document in the exporter's format."""
        raise NotImplementedError

    def from_notebook_node(  # type: ignore[override]  # nbconvert names another type
        self, nb: Any, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str | bytes, dict[str, Any]]:
        """Return (content, resources); what a report cannot show ends nbconvert with one line.

        Raises LabError instead when `resources` say that a report asks (`ipclab`).
        """
        nb, resources_made = super().from_notebook_node(nb, resources, **kw)
        folder = Path(resources_made.get("metadata", {}).get("path", ".") or ".")
        try:
            return self.convert(
                read(nb, folder, Path(self.locale) if self.locale else None)
            ), resources_made
        except LabError as error:
            if resources_made.get("ipclab"):
                raise
            raise SystemExit(f"ipclab: {error}") from error


class ReportHTMLExporter(DocumentExporter):
    """A standalone page: contents, tables that scroll by themselves, inline drawings, light, dark
    and print.
    """

    output_mimetype, export_from_notebook = "text/html", "HTML report"
    file_extension = FilenameExtension(".html").tag(config=True)

    def convert(self, document: Document) -> str:
        """Return the page, which loads nothing. The template escapes whatever it does not mark as
        made here.
        """
        from jinja2 import Environment, PackageLoader, StrictUndefined

        loader = PackageLoader("ipclab.render")
        undefined = StrictUndefined
        environment = Environment(
            loader=loader, autoescape=True, undefined=undefined, trim_blocks=True
        )
        script = files("ipclab.render").joinpath("templates/report.js").read_text("utf-8")
        return environment.get_template("report.html").render(
            document=document,
            date=_date(document),
            words={key: document.translate(word) for key, word in WORDS["page"].items()},
            html=lambda tokens: prose.to_html([_lowered(token) for token in tokens]),
            inline=svg.inline,
            script=script,
            digest=f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}",
        )


def _date(document: Document) -> str:
    return Formatter(document.lang).date(document.date) if document.date else ""


def _lowered(token: Token) -> Token:
    """Return a heading one level lower, anything else as it is: the page's title is its h1."""
    return (
        token.copy(tag=f"h{min(6, int(token.tag[1]) + 1)}")
        if token.type.startswith("heading_")
        else token
    )


class TypstPDFExporter(DocumentExporter):
    """An accessible, archivable PDF, by Typst."""

    output_mimetype, export_from_notebook = "application/pdf", "PDF via Typst"
    file_extension = FilenameExtension(".pdf").tag(config=True)

    def convert(self, document: Document) -> bytes:
        """Return the document as PDF/UA-1 and PDF/A-3a, stamped with its date (UTC when that names
        no zone).
        """
        moment = datetime.fromisoformat(document.date or EPOCH)
        stamp = int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
        return bytes(
            compiled(document, format="pdf", pdf_standards=["ua-1", "a-3a"], timestamp=stamp)
        )


def compiled(document: Document, **options: Any) -> Any:
    """Return what Typst makes of the document: bytes, or a list of them for each page.

    Raises LabError when a glyph, an alt text or a title is missing.
    """
    from typst import TypstError
    from typst import compile as made

    template = files("ipclab.render").joinpath("templates/report.typ").read_bytes()
    inputs = {"document": msgspec.json.encode(data(document)).decode()}
    fonts: dict[str, Any] = {"font_paths": print_fonts(), "ignore_system_fonts": True}
    try:
        return made(template, sys_inputs=inputs, **fonts, **options)
    except TypstError as error:
        raise LabError(
            "the PDF compiler refuses", error.message, " ".join(error.hints[:1])
        ) from error


def data(document: Document) -> dict[str, Any]:
    """Return what `report.typ` reads: the parameters of its `report`, the attached files, and a
    dict for each block.

    It is handed over as data, so that nothing of it can become markup.
    """
    about = {
        "title": document.title,
        "lang": document.lang,
        "date": [int(part) for part in document.date[:10].split("-")] if document.date else None,
        "date-text": _date(document),
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
    """Return a table that is too long for print as its caption and a note that says where it
    stands.
    """
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
    """Return at most how many lines the table takes: its columns as if equally wide, wide
    characters as two.
    """

    def lines(cell: str) -> int:
        width = sum(1 + (east_asian_width(letter) in "WF") for letter in cell)
        return 1 + width * len(table.columns) // _LINE

    return sum(max(map(lines, row), default=1) for row in table.rows)


def _nodes(parent: SyntaxTreeNode, lang: str) -> list[dict[str, Any]]:
    """Return the children of a Markdown node as dicts, with their own; that of a footnote is its
    text.
    """
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
