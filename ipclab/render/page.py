"""The HTML page of a document: one file that loads nothing."""

from typing import Any

from ipclab.lab import markdown
from ipclab.lab.catalogue import N_
from ipclab.lab.numbers import Formatter
from ipclab.render import document, svg

_WORDS = {"contents": N_("Contents"), "skip": N_("Skip to the content"), "notes": N_("Notes")}


def page(read: document.Document) -> str:
    """Return the page of a document. The template escapes whatever is not marked as made here."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("ipclab.render"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template("report.html").render(
        document=read,
        date=Formatter(read.lang).date(read.date) if read.date else "",
        words={key: read.translate(word) for key, word in _WORDS.items()},
        headings=list(read.headings()),
        blocks=[Markup(_block(block, number)) for number, block in enumerate(read.blocks)],
        notes=[Markup(markdown.to_html([note])) for note in read.notes],
    )


def _block(block: document.Block, number: int) -> str:
    from markupsafe import escape

    match block:
        case document.Prose(tokens):
            return markdown.to_html(_lowered(tokens))
        case document.Sheet(table, label):
            return table.to_html(label)
        case document.Drawing():
            caption = escape(f"{block.label} {block.caption}" if block.caption else block.label)
            drawing = svg.inline(block.svg, f"f{number}-", block.alt)
            return f'<figure><div class="paper">{drawing}</div><figcaption>{caption}</figcaption></figure>'
        case _:
            return f'<pre tabindex="0">{escape(block.text)}</pre>'


def _lowered(tokens: list[Any]) -> list[Any]:
    """Return tokens whose headings are one level lower: the page's title is its h1."""
    return [t.copy(tag=f"h{min(6, int(t.tag[1]) + 1)}") if t.type.startswith("heading_") else t for t in tokens]
