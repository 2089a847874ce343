"""Prose, and HTML of others, as trees of which pandoc makes Typst's markup, and nothing else."""

import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import unquote_to_bytes

from ipclab.report.pages import outputs, pandoc, printed_tables
from ipclab.report.pages.document import Document
from ipclab.report.pages.outputs import Markup, Picture, Prose
from ipclab.report.pages.pandoc import Tree, raw_inline
from ipclab.words import blocks

_CLOSED = ("Strong", "Emph", "Link", "Code")
_WORD_JOINER = "\u2060"
_DATA_URL = re.compile(r"data:(image/[\w.+-]+)(;base64)?,(.*)", re.DOTALL)
_NOTE = "ipclab-note-"


class Typesetting:
    """The trees of a document; `pictured` returns what shows a picture in a line."""

    def __init__(self, document: Document, pictured: Callable[[Picture], str]) -> None:
        self.document = document
        self.pictured = pictured

    def trees(self) -> Iterator[Tree]:
        """Yield each block as a tree; what pandoc does not know is a call of the template."""
        blocks = self.document.blocks
        shown: list[Tree | str] = []
        for block in blocks:
            prose = block.tree if isinstance(block, Prose) else []
            shown.append(block.html if isinstance(block, Markup) else prose)
        printed = _without_html(shown)
        for place, block in enumerate(blocks):
            if isinstance(block, Prose | Markup):
                yield self._settled(printed[place])
            else:
                yield [pandoc.raw("typst", f"#placed({place})")]

    def _settled(self, tree: Tree) -> Tree:
        """Return prose whose texts cannot become markup, with pictures and references."""
        for node in pandoc.tree_nodes(tree):
            if node["t"] == "Image":  # what it shows, before it is Typst's
                node["c"][2][1] = pandoc.text_of(node["c"][1])
        made: Tree = pandoc.changed(pandoc.replaced(tree, printed_tables.fitted), self._run)
        return made

    def _run(self, nodes: Tree) -> Tree:
        """Return nodes side by side as Typst gets them."""
        made: Tree = []
        for place, node in enumerate(nodes):
            before, after = nodes[place - 1 : place] or [{"t": ""}], nodes[place + 1 : place + 2]
            match node:
                case {"t": "Str", "c": str(text)}:
                    # a Korean particle stays on the line of what it follows
                    joined = self.document.lang == "ko" and before[0]["t"] in _CLOSED
                    _say(made, _WORD_JOINER + text if joined else text)
                case {"t": "Space"}:
                    _say(made, " ")
                case {"t": "SoftBreak"}:
                    _say(made, _break(before[0], after))
                case {"t": "Math", "c": [_, str(tex)]}:
                    made += [
                        raw_inline("typst", f"#spoken({quoted(tex)})["),
                        node,
                        raw_inline("typst", "]"),
                    ]
                case {"t": "Image", "c": [_, _, [str(url), str(alt)]]}:
                    made.append(raw_inline("typst", self._picture(url, alt)))
                case {"t": "Link", "c": [_, words, [str(url), _]]} if (
                    url.startswith("#") or not url
                ):
                    known = url[1:] in self.document.labels
                    opening = f"#link(label({quoted(url[1:])}))[" if known else "#["
                    made += [raw_inline("typst", opening), *words, raw_inline("typst", "];")]
                case {"t": "Header", "c": [level, _, words]}:
                    made.append({"t": "Header", "c": [level, ["", [], []], words]})
                case {"t": "Div" | "Span" as kind, "c": [_, inner]}:  # ids and styles are HTML's
                    made.append({"t": kind, "c": [["", [], []], inner]})
                case _:
                    made.append(node)
        return made

    def _picture(self, url: str, alt: str) -> str:
        """Return the call that shows a picture of prose; nothing for one that is none."""
        if parts := _DATA_URL.fullmatch(url):
            kind, base64, content = parts.groups()
            plain = content.encode() if base64 else unquote_to_bytes(content)
            if kind == outputs.SVG:
                plain = b64decode(content) if base64 else plain
            found = outputs.picture(kind, plain, {"alt": alt} if alt else {})
            if isinstance(found, Picture):
                return self.pictured(found)
            self.document.lose(found, None)
        return _text(alt)


def _without_html(shown: list[Tree | str]) -> list[Tree]:
    """Return trees in which what was HTML has become prose, tables and pictures."""
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

    mixed = [tree for tree in shown if not isinstance(tree, str) and pandoc.has_html(tree)]
    pages, _ = pandoc.to_html([pandoc.replaced(tree, marked) for tree in mixed], math="--mathjax")
    with_math = f"{pandoc.HTML}+tex_math_single_backslash"
    read = pandoc.read_trees(with_math, pages[: len(mixed)])
    of_prose = iter([pandoc.replaced(tree, restored) for tree in read])
    of_html = iter(
        pandoc.read_trees(pandoc.HTML, [_mended(html) for html in shown if isinstance(html, str)])
    )
    trees = []
    for each in shown:
        if isinstance(each, str):
            trees.append(next(of_html))
        else:
            trees.append(next(of_prose) if pandoc.has_html(each) else each)
    return trees


def _mended(html: str) -> str:
    """Return HTML as a browser mends it, without what it does not show."""
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(html, "html.parser")
    for hidden in soup(["style", "script", "template"]):
        hidden.decompose()
    return str(soup)


def _say(made: Tree, text: str) -> None:
    """Add text, as a string, so that nothing of it is markup."""
    said = quoted(text)
    if made and made[-1]["t"] == "RawInline" and made[-1]["c"][1].startswith('#"'):
        said = made.pop()["c"][1][1:-2] + said[1:]
    made.append(raw_inline("typst", f"#{said};"))


def _text(text: str) -> str:
    return f"#{quoted(text)};"


def _break(before: dict[str, Any], after: Tree) -> str:
    """Return what a line break in Markdown is: nothing between two Chinese characters."""
    one, other = pandoc.text_of(before)[-1:], pandoc.text_of(after)[:1]
    joined = blocks.join_lines(f"{one}\n{other}")
    return "" if one and other and joined == one + other else " "


def quoted(text: str) -> str:
    """Return text as a string of Typst's."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
