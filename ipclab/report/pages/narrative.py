"""Prose as pandoc reads it: its pictures, its captioned tables, references, headings, title, formulas."""

import mimetypes
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from html import unescape
from itertools import chain, count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from ipclab.report.pages import pandoc
from ipclab.report.pages.outputs import Lost, Markup, Prose
from ipclab.report.pages.pandoc import Tree, text_of
from ipclab.tables import table
from ipclab.tables.table import Table
from ipclab.words import blocks

if TYPE_CHECKING:
    from ipclab.report.pages.document import Document

_CAPTION = re.compile(r"\s*: (.+?) \{#([\w-]+)\}\s*", re.DOTALL)
_SOURCE = re.compile(r"""(<img\b[^>]*?\bsrc\s*=\s*)("[^"]*"|'[^']*'|[^\s>"']+)""", re.IGNORECASE)
_HEADING = re.compile(r"<h[1-6]\b", re.IGNORECASE)
_BRACED = r"\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}"  # three deep
_DEFINED = re.compile(
    rf"\\(?:(?:re)?newcommand|DeclareMathOperator)\*?\s*\{{?\s*\\(?P<new>[A-Za-z]+)\s*\}}?"
    rf"(?:\[[^\]]*\])*\s*{_BRACED}"
    rf"|\\def\s*\\(?P<old>[A-Za-z]+)(?P<taken>(?:#\d)*)\s*(?P<body>{_BRACED})"
)
_LABEL = re.compile(r"\\label\s*\{([^{}]*)\}")
_TAG = re.compile(r"\\tag\*?\s*\{([^{}]*)\}")
_REFERENCE = re.compile(r"\\(eq)?ref\s*\{([^{}]*)\}")
ALIGNED: dict[str, table.Align] = {"AlignRight": "right", "AlignCenter": "center"}


class Pictures:
    """The pictures that prose shows, put into it: attached to its cell, or files in a folder."""

    def __init__(self, attached: Mapping[str, Any], folder: Path) -> None:
        self.attached = attached
        self.folder = folder
        self.lost: list[Lost] = []

    def embedded(self, tree: Tree) -> Tree:
        """Return a tree whose pictures are in it; one that is not there is its text, and lost."""

        def inside(node: dict[str, Any]) -> Tree:
            match node:
                case {"t": "Image", "c": [about, words, [str(url), title]]}:
                    if data := self._data(url):
                        return [{"t": "Image", "c": [about, words, [data, title]]}]
                    return [{"t": "Span", "c": [about, words]}]
                case {"t": "RawBlock" | "RawInline" as kind, "c": ["html", str(text)]}:
                    return [{"t": kind, "c": ["html", self.embedded_html(text)]}]
            return [node]

        return pandoc.replaced(tree, inside)

    def embedded_html(self, html: str) -> str:
        """Return HTML whose pictures are in it."""

        def inside(match: re.Match[str]) -> str:
            url = unescape(match[2].strip("\"'"))
            data = self._data(url)
            return f'{match[1]}"{data}"' if data else re.sub(r"\bsrc\s*=\s*$", "", match[1])

        return _SOURCE.sub(inside, html)

    def _data(self, url: str) -> str:
        """Return a picture as a data URL; nothing, and a loss, when it is not here."""
        if url.startswith("data:image/"):
            return url
        if url.startswith("attachment:"):
            forms = self.attached.get(unquote(url.removeprefix("attachment:")), {})
            for kind, content in forms.items():
                return f"data:{kind};base64,{''.join(content.split())}"
        path = self.folder / unquote(url)
        kind = mimetypes.guess_type(path.name)[0] or ""
        beside = "://" not in url and not url.startswith(("//", "data:"))
        with suppress(OSError, ValueError):  # of a name that can be none, as one too long
            if beside and kind.startswith("image/") and path.is_file():
                return f"data:{kind};base64,{b64encode(path.read_bytes()).decode()}"
        self.lost.append(Lost("outside", url[:100]))
        return ""


def remark(text: str) -> Tree:
    """Return a paragraph of ours between those of the notebook."""
    return [{"t": "Para", "c": [{"t": "Emph", "c": [{"t": "Str", "c": text}]}]}]


def captioned(tree: Tree) -> Iterator[Prose | Table]:
    """Yield prose; a Markdown table before `: caption {#name}` becomes a `Table`."""
    begin = 0
    for place, (node, after) in enumerate(pairwise(tree)):
        said = text_of(after) if (node["t"], after["t"]) == ("Table", "Para") else ""
        if caption := _CAPTION.fullmatch(blocks.join_lines(said)):
            if place > begin:
                yield Prose(tree[begin:place])
            yield _table(node["c"], *caption.groups())
            begin = place + 2
    if tree[begin:]:
        yield Prose(tree[begin:])


def _table(content: Any, caption: str, name: str) -> Table:
    _, _, columns, (_, head), bodies, _ = content
    heads = [
        table.Column(label, ALIGNED.get(align["t"], "left"))
        for label, (align, _) in zip(_row(head[0]), columns, strict=True)
    ]
    rows = [_row(row) for _, _, _, body in bodies for row in body]
    return Table(caption, heads, rows, name=name)


def _row(row: Any) -> list[str]:
    return [blocks.join_lines(text_of(cell[4])) for cell in row[1]]


def take_title(document: "Document", otherwise: str) -> None:
    """Take the first heading for the title when it is of level 1."""
    for place, block in enumerate(document.blocks):
        if isinstance(block, Markup) and _HEADING.search(block.html):
            break
        if isinstance(block, Prose) and (headings := _headings(block.tree)):
            level, _, words = headings[0]["c"]
            if level == 1:
                document.title = text_of(words).strip()
                rest = [node for node in block.tree if node is not headings[0]]
                document.blocks[place] = Prose(rest)
            break
    document.title = document.title or otherwise


def refer(document: "Document") -> None:
    """Put labels into references, `[](#name)` in prose; one that leads nowhere is named.

    Narrative cells, which no cell of code shows, have a text there: `[name](#name)`.
    """
    for block, cell in zip(document.blocks, document.cells, strict=True):
        for node in pandoc.tree_nodes(block.tree) if isinstance(block, Prose) else ():
            match node:
                case {"t": "Link", "c": [_, said, [str(url), _]]} if url.startswith(
                    "#"
                ) and text_of(said) in ("", url[1:]):
                    label = document.labels.get(url[1:])
                    if label is None:
                        document.lose(Lost("reference", url), cell)
                    # a label and its number stay on one line
                    text = (label or url).replace(" ", "\u00a0")
                    node["c"][1] = [{"t": "Str", "c": text}]


def settle_headings(document: "Document") -> None:
    """Give headings ids, and levels that start at 1 and skip none; lead links to them there."""
    headings = _headings(document.prose)
    shift = min((node["c"][0] for node in headings), default=1) - 1
    level = 0
    names: list[str] = []
    moved: dict[str, str] = {}
    for node in headings:
        old, (known, *_), words = node["c"]
        level = min(old - shift, level + 1)
        text = blocks.join_lines(text_of(words))
        plain = re.sub(r"[^\w]+", "-", text.lower()).strip("-")
        slug = f"s-{plain or 'section'}"
        several = (f"{slug}-{number}" for number in count(1))
        name = next(name for name in chain([slug], several) if name not in names)
        names.append(name)
        # what pandoc, GitHub and Jupyter call it
        moved |= {known.lower(): name, text.replace(" ", "-").lower(): name}
        node["c"] = [level, [name, [], []], words]
        document.headings.append((level, name, text))
    for node in pandoc.tree_nodes(document.prose):
        match node:
            case {"t": "Link", "c": [_, _, [str(url), _] as target]} if url.startswith("#"):
                target[0] = f"#{moved.get(unquote(url[1:]).lower(), url[1:])}"


def _headings(tree: Any) -> list[dict[str, Any]]:
    return [node for node in pandoc.tree_nodes(tree) if node["t"] == "Header"]


def settle_formulas(trees: Iterable[Tree]) -> None:
    """Give each formula the definitions before it that it needs, and references their numbers.

    As MathJax sets them: what one cell defines or numbers holds in those after it.
    """
    formulas = [node for tree in trees for node in pandoc.tree_nodes(tree) if node["t"] == "Math"]
    numbers: dict[str, str] = {}
    known: dict[str, str] = {}
    for node in formulas:
        tag = _TAG.search(node["c"][1])
        numbers |= dict.fromkeys(_LABEL.findall(node["c"][1]), tag[1] if tag else "")
    for node in formulas:
        tex = node["c"][1]
        for match in _DEFINED.finditer(tex):
            said = match[0].replace(r"\renewcommand", r"\newcommand")
            if match["old"]:
                taken = f"[{count}]" if (count := match["taken"].count("#")) else ""
                said = rf"\newcommand{{\{match['old']}}}{taken}{match['body']}"
            known[match["new"] or match["old"]] = said
        rest = _numbered(_DEFINED.sub("", tex), numbers)
        node["c"][1] = "".join([*_needed(rest, known), rest])
        if not rest.strip():  # it only defined something
            node |= {"t": "Str", "c": ""}


def _needed(tex: str, known: dict[str, str]) -> list[str]:
    """Return the definitions of what stands in `tex`, and of what stands in these."""
    needed = set[str]()
    open_texts = [tex]
    while open_texts:
        for name in (known.keys() & re.findall(r"\\([A-Za-z]+)", open_texts.pop())) - needed:
            needed.add(name)
            open_texts.append(known[name])
    return [said for name, said in known.items() if name in needed]


def _numbered(tex: str, numbers: dict[str, str]) -> str:
    """Return a formula with its number behind it, and those that it refers to."""

    def referred(match: re.Match[str]) -> str:
        number = numbers.get(match[2]) or "???"
        return rf"\text{{({number})}}" if match[1] else rf"\text{{{number}}}"

    tex = _LABEL.sub("", _REFERENCE.sub(referred, tex))
    return _TAG.sub(r"\\qquad\\text{(\1)}", tex)
