"""A document as nbconvert shows it: a notebook of outputs, and the page around them."""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from ipclab.lab.figure import Figure
from ipclab.report.notebooks.nb import nbformat
from ipclab.report.pages import fonts, outputs, pandoc, svg
from ipclab.report.pages.document import WORDS, Block, Cell, Document
from ipclab.report.pages.outputs import Markup, Picture, Printed, Prose
from ipclab.report.pages.pandoc import Tree
from ipclab.tables.table import Table

TEMPLATES = Path(__file__).with_name("templates")
TEMPLATE = "ipclab"
_PIECE = re.compile(r"<!--ipclab (\d+)-->")
_SCROLL = '<div class="table"><div class="scroll" tabindex="0">'


class Page:
    """The `notebook` that nbconvert shows, and what the template says `about` it.

    What is HTML already stands in it as a mark, so that nobody parses it once more.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.pieces: list[str] = []
        trees = [block.tree if isinstance(block, Prose) else [] for block in document.blocks]
        said, math = pandoc.to_html([pandoc.changed(tree, _page_nodes) for tree in trees])
        document.lose_math(math)
        self.said = said
        script = TEMPLATES.joinpath("report.js").read_text("utf-8")
        self.about = {
            "document": document,
            "head": [*document.head.parts, document.run],
            "words": {key: document.translate(word) for key, word in WORDS["page"].items()},
            "style": TEMPLATES.joinpath("report.css").read_text("utf-8").rstrip(),
            "script": script,
            "digest": f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}",
            "notes": re.sub(r"^\s*<section[^>]*>\s*<hr />|</section>\s*$", "", said[-1]),
        }

    @property
    def notebook(self) -> Any:
        """One cell for each block, whose output is what it shows."""
        new: Any = nbformat.v4
        cells = []
        for place, (block, origin) in enumerate(
            zip(self.document.blocks, self.document.cells, strict=True)
        ):
            output = new.new_output(**self._output(place, block, origin))
            cells.append(new.new_code_cell(outputs=[output], id=f"block-{place}"))
        return new.new_notebook(cells=cells, metadata={"title": self.document.title})

    def finished(self, shown: str) -> str:
        """Return the page of nbconvert with the pieces in place of their marks."""
        pieces = dict(enumerate(self.pieces))
        page = _PIECE.sub(lambda mark: pieces.get(int(mark[1]), ""), shown)
        return fonts.with_letters(page, self.document.lang)

    def _output(self, place: int, block: Block, origin: Cell | None) -> dict[str, Any]:
        match block:
            case Printed():
                return {"output_type": "stream", "name": "stdout", "text": block.text}
            case Picture():
                return _of_picture(block)
            case Markup():
                return _html(f'<div class="scroll" tabindex="0">{block.html}</div>')
            case Table():
                piece = self.document.settled(block).to_html()
            case Figure():
                piece = self._figure(place, block, origin)
            case _:
                piece = self.said[place]
        self.pieces.append(piece)
        return _html(f"<!--ipclab {len(self.pieces) - 1}-->")

    def _figure(self, place: int, figure: Figure, origin: Cell | None) -> str:
        """Return a figure with where it was made: notebook, cell, its code, and tables."""
        notebook = self.document.notebook if origin else ""
        beside = self.document.addresses
        tables = {f"{name}.csv" for name in figure.drawn} & beside.keys()
        if not figure.drawn and len(beside) == 1:
            tables = set(beside)
        return str(
            _template("figure.html.j2").render(
                figure=figure,
                drawing=svg.inline(figure.svg, f"f{place}-", figure.alt),
                words=self.about["words"],
                notebook=notebook and f"{notebook}#cell-id={origin.id if origin else ''}",
                place=f"{Path(notebook).name} [{origin.number if origin else ''}]",
                source=origin.source if origin else "",
                tables={name: beside[name] for name in sorted(tables)},
            )
        )


def _page_nodes(nodes: Tree) -> Tree:
    """Return nodes as a page has them: below its title, and tables that scroll."""
    made: Tree = []
    for node in nodes:
        match node:
            case {"t": "Header", "c": [level, *more]}:
                made.append({"t": "Header", "c": [min(6, level + 1), *more]})
            case {"t": "Table"}:
                scrolls = pandoc.raw("html", _SCROLL), node, pandoc.raw("html", "</div></div>")
                made += scrolls
            case _:
                made.append(node)
    return made


def _of_picture(picture: Picture) -> dict[str, Any]:
    source = f"data:{picture.kind};base64,{b64encode(picture.content).decode()}"
    wide = round(picture.width / outputs.PT_A_PIXEL)
    return _html(f'<img src="{source}" alt="{escape(picture.alt)}" width="{wide}">')


def _html(html: str) -> dict[str, Any]:
    return {"output_type": "display_data", "data": {outputs.HTML: html}, "metadata": {}}


@cache
def _template(name: str) -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
    )
    return environment.get_template(name)
