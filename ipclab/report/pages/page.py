"""A document as a page of HTML, which loads nothing."""

import io
import re
from base64 import b64encode
from dataclasses import replace
from functools import cache
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import Any

from ipclab.lab.figure import Figure
from ipclab.report.pages import outputs, pandoc, svg
from ipclab.report.pages.document import WORDS, Document
from ipclab.report.pages.outputs import Markup, Picture, Printed, Prose
from ipclab.report.pages.pandoc import Tree
from ipclab.tables.table import Table
from ipclab.words.catalogue import LANGUAGES

TEMPLATES = Path(__file__).with_name("templates")
FAMILY = "ipclab CJK"  # after those of the machine in `report.css`
MARK = "/*fonts*/"  # where the style of a page takes it
_LETTERS = re.compile("[\u1100-\u11ff\u2e80-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef]")
_TAGS = re.compile(r"<style>.*?</style>|<script>.*?</script>|<[^>]+>", re.DOTALL)
_SCROLL = '<div class="table"><div class="scroll" tabindex="0">'
_AROUND_NOTES = re.compile(r"^\s*<section[^>]*>\s*<hr />|</section>\s*$")


def page_of(document: Document) -> str:
    """Return the page of a document; formulas that cannot be set are noted in it as lost."""
    trees = [block.tree if isinstance(block, Prose) else [] for block in document.blocks]
    (*said, notes), math = pandoc.to_html([pandoc.replaced(tree, _on_page) for tree in trees])
    document.lose_math(math)
    words = {key: document.translate(word) for key, word in WORDS["page"].items()}
    blocks = [_block(document, place, prose, words) for place, prose in enumerate(said)]
    script = TEMPLATES.joinpath("report.js").read_text("utf-8")
    page = _template("page.html.j2").render(
        document=document,
        head=[*document.head.parts, document.run],
        blocks=blocks,
        words=words,
        style=TEMPLATES.joinpath("report.css").read_text("utf-8").rstrip(),
        script=script,
        digest=f"sha256-{b64encode(sha256(script.encode()).digest()).decode()}",
        notes=_AROUND_NOTES.sub("", notes),
    )
    return _with_letters(page, document.lang)


def _block(document: Document, place: int, prose: str, words: dict[str, str]) -> str:
    """Return the HTML of the block at a place, which is `prose` where it is no other."""
    match document.blocks[place]:
        case Printed(text):
            from nbconvert.filters import ansi2html  # which takes long to load, and few need

            return f'<pre class="printed">{ansi2html(text)}</pre>'  # type: ignore[no-untyped-call]
        case Picture(kind, content, width, alt):
            source = f"data:{kind};base64,{b64encode(content).decode()}"
            wide = round(width / outputs.PT_A_PIXEL)
            return f'<img src="{source}" alt="{escape(alt)}" width="{wide}">'
        case Markup(html):
            return f'<div class="scroll" tabindex="0">{html}</div>'
        case Table() as table:
            labels = {f"#{name}": label for name, label in document.labels.items()}
            rows = [[labels.get(cell, cell) for cell in row] for row in table.rows]
            return replace(table, rows=rows).to_html()
        case Figure() as figure:
            return _figure(document, figure, place, words)
        case _:
            return prose


def _figure(document: Document, figure: Figure, place: int, words: dict[str, str]) -> str:
    """Return a figure with where it was made: notebook, cell, its code, and tables."""
    beside = document.addresses
    tables = {f"{name}.csv" for name in figure.drawn} & beside.keys()
    if not figure.drawn and len(beside) == 1:
        tables = set(beside)
    shown = _template("figure.html.j2").render(
        figure=figure,
        drawing=svg.inline(figure.svg, f"f{place}-", figure.alt),
        words=words,
        origin=document.notebook and document.cells[place],
        notebook=document.notebook,
        name=Path(document.notebook).name,
        tables={name: beside[name] for name in sorted(tables)},
    )
    return str(shown)


def _on_page(node: dict[str, Any]) -> Tree:
    """Return a node as a page has it: a heading below its title, and a table that scrolls."""
    match node:
        case {"t": "Header", "c": [level, *more]}:
            return [{"t": "Header", "c": [min(6, level + 1), *more]}]
        case {"t": "Table"}:
            return [pandoc.raw("html", _SCROLL), node, pandoc.raw("html", "</div></div>")]
    return [node]


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


def _with_letters(page: str, lang: str) -> str:
    """Return a page whose style has a font with the Korean and Chinese letters that it shows.

    It is for machines that have none.
    """
    letters = "".join(sorted({*_LETTERS.findall(_TAGS.sub("", page))}))
    face = _face(letters, LANGUAGES[lang]["font"]) if letters else ""
    return page.replace(MARK, face, 1)


@cache
def _face(letters: str, family: str) -> str:
    """Return the style sheet's rule for a font with `letters` of a `family` of Noto's alone."""
    import uharfbuzz
    from fontTools.ttLib import TTFont

    asked = uharfbuzz.SubsetInput()
    asked.unicode_set.update(map(ord, letters))
    asked.layout_feature_tag_set.clear()
    asked.name_id_set.clear()
    asked.flags = uharfbuzz.SubsetFlags.NO_HINTING | uharfbuzz.SubsetFlags.NOTDEF_OUTLINE
    part = uharfbuzz.subset(_families()[family], asked)
    font = TTFont(io.BytesIO(part.blob.data), lazy=True, recalcBBoxes=False, recalcTimestamp=False)
    font.flavor = "woff"
    made = io.BytesIO()
    font.save(made)
    source = f"url(data:font/woff;base64,{b64encode(made.getvalue()).decode()})"
    return f'@font-face {{ font-family: "{FAMILY}"; src: {source} format("woff"); }}'


@cache
def _families() -> dict[str, Any]:
    """Return the fonts of Noto's collection by the name of their family."""
    import noto_cjk_sans_otc
    import uharfbuzz
    from fontTools.ttLib import TTCollection

    file = next(Path(noto_cjk_sans_otc.__file__).parent.rglob("*.ttc"))
    blob = uharfbuzz.Blob.from_file_path(str(file))
    with TTCollection(file, lazy=True) as every:
        names = [font["name"].getDebugName(4) for font in every.fonts]
    return {name: uharfbuzz.Face(blob, number) for number, name in enumerate(names)}
