"""Prose, and HTML of others, as trees of which pandoc makes Typst's markup, and nothing else."""

import re
from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from urllib.parse import unquote_to_bytes

from ipclab.report.pages import outputs, pandoc, widths
from ipclab.report.pages.document import Block, Document
from ipclab.report.pages.outputs import Markup, Picture, Prose
from ipclab.report.pages.pandoc import Tree, typst
from ipclab.words.blocks import join_lines

_CLOSED = ("Strong", "Emph", "Link", "Code")
_WORD_JOINER = "\u2060"
_DATA_URL = re.compile(r"data:(image/[\w.+-]+)(;base64)?,(.*)", re.DOTALL)
_NOTE = "ipclab-note-"


Pictured = Callable[[Picture], str]


def trees(document: Document, pictured: Pictured) -> Iterator[Tree]:
    """Yield each block as a tree; what pandoc does not know is a call of the template.

    Its texts cannot become markup; `pictured` returns what shows a picture in a line.
    """
    for place, (block, tree) in enumerate(
        zip(document.blocks, _without_html(document.blocks), strict=True)
    ):
        if not isinstance(block, Prose | Markup):
            yield [pandoc.raw("typst", f"#placed({place})")]
            continue
        for node in pandoc.tree_nodes(tree):
            if node["t"] == "Image":  # what it shows, before it is Typst's
                node["c"][2][1] = pandoc.text_of(node["c"][1])
        fitted = pandoc.replaced(tree, widths.fitted_prose)
        yield pandoc.changed(fitted, lambda nodes: _run(nodes, document, pictured))


def _run(nodes: Tree, document: Document, pictured: Pictured) -> Tree:
    """Return nodes side by side as Typst gets them."""
    made: Tree = []
    for place, node in enumerate(nodes):
        before, after = nodes[place - 1 : place] or [{"t": ""}], nodes[place + 1 : place + 2]
        match node:
            case {"t": "Str", "c": str(text)}:
                # a Korean particle stays on the line of what it follows
                joined = document.lang == "ko" and before[0]["t"] in _CLOSED
                _say(made, _WORD_JOINER + text if joined else text)
            case {"t": "Space"}:
                _say(made, " ")
            case {"t": "SoftBreak"}:
                _say(made, _break(before[0], after))
            case {"t": "Math", "c": [_, str(tex)]}:
                spoken = typst(f"#spoken({typst_string(tex)})[")
                made += [spoken, node, typst("]")]
            case {"t": "Image", "c": [_, _, [str(url), str(alt)]]}:
                made.append(typst(_picture(url, alt, document, pictured)))
            case {"t": "Link", "c": [_, words, [str(url), _]]} if url.startswith("#") or not url:
                known = url[1:] in document.labels
                opening = f"#link(label({typst_string(url[1:])}))[" if known else "#["
                made += [typst(opening), *words, typst("];")]
            case {"t": "Header", "c": [level, _, words]}:
                made.append({"t": "Header", "c": [level, ["", [], []], words]})
            case {"t": "Div" | "Span" as kind, "c": [_, inner]}:  # ids and styles are HTML's
                made.append({"t": kind, "c": [["", [], []], inner]})
            case _:
                made.append(node)
    return made


def _picture(url: str, alt: str, document: Document, pictured: Pictured) -> str:
    """Return the call that shows a picture of prose; nothing for one that is none."""
    if parts := _DATA_URL.fullmatch(url):
        kind, base64, content = parts.groups()
        plain = content.encode() if base64 else unquote_to_bytes(content)
        if kind == outputs.SVG:
            plain = b64decode(content) if base64 else plain
        found = outputs.picture(kind, plain, {"alt": alt} if alt else {})
        if isinstance(found, Picture):
            return pictured(found)
        document.lose(found)
    return f"#{typst_string(alt)};"


def _without_html(blocks: Sequence[Block]) -> list[Tree]:
    """Return the tree of each block, in which what was HTML is prose, tables and pictures."""
    made = [block.tree if isinstance(block, Prose) else [] for block in blocks]
    notes: Tree = []

    def marked(node: dict[str, Any]) -> Tree:
        if node["t"] != "Note":
            return [node]
        notes.append(node)
        return [{"t": "Span", "c": [[f"{_NOTE}{len(notes) - 1}", [], []], []]}]

    def restored(node: dict[str, Any]) -> Tree:
        match node:
            case {"t": "Span", "c": [[str(name), _, _], _]} if name.startswith(_NOTE):
                return notes[int(name.removeprefix(_NOTE)) :][:1]
        return [node]

    mixed = [place for place, tree in enumerate(made) if pandoc.has_html(tree)]
    marks = [pandoc.replaced(made[place], marked) for place in mixed]
    pages, _ = pandoc.to_html(marks, math="--mathjax")
    with_math = f"{pandoc.HTML}+tex_math_single_backslash"
    for place, tree in zip(mixed, pandoc.read_trees(with_math, pages[:-1]), strict=True):
        made[place] = pandoc.replaced(tree, restored)
    html = {
        place: _mended(block.html)
        for place, block in enumerate(blocks)
        if isinstance(block, Markup)
    }
    for place, tree in zip(html, pandoc.read_trees(pandoc.HTML, [*html.values()]), strict=True):
        made[place] = tree
    return made


def _mended(html: str) -> str:
    """Return HTML as a browser mends it, without what it does not show."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(html, "html.parser")
    for hidden in soup(["style", "script", "template"]):
        hidden.decompose()
    return str(soup)


def _say(made: Tree, text: str) -> None:
    """Add text, as a string, so that nothing of it is markup."""
    said = typst_string(text)
    if made and made[-1]["t"] == "RawInline" and made[-1]["c"][1].startswith('#"'):
        said = made.pop()["c"][1][1:-2] + said[1:]
    made.append(typst(f"#{said};"))


def _break(before: dict[str, Any], after: Tree) -> str:
    """Return what a line break in Markdown is: nothing between two Chinese characters."""
    one, other = pandoc.text_of(before)[-1:], pandoc.text_of(after)[:1]
    joined = join_lines(f"{one}\n{other}")
    return "" if one and other and joined == one + other else " "


def typst_string(text: str) -> str:
    """Return text as a string of Typst's."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
