"""The first page of a language: what every report found, with its first figure and a link to it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import filterfalse
from pathlib import Path
from typing import Any

from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from ipclab.lab.canvas import Figure
from ipclab.lab.catalogue import Catalogue
from ipclab.lab.nb import nbformat
from ipclab.render.document import WORDS, Block, Document, read
from ipclab.render.exporters import ReportHTMLExporter
from ipclab.store.files import write_whole

NAME = "index.html"


def write(executed: Mapping[str, Path], folder: Path, about: Mapping[str, Any]) -> Path:
    """Write the page of the `executed` notebooks, by their pages' names, into `folder`.

    `about` is what they are told.
    """
    translate = Catalogue.load(about["lang"]).translate
    title = translate(WORDS["page"]["index"])
    page = Document(about["lang"], title, about["date"], about["run"], {}, translate)
    tongues = {}
    for name, target in about["links"][0].items():
        tongues[name] = target and f"{target.rpartition('/')[0]}/{NAME}"
    page.links = [tongues, {title: ""}]
    for name, file in executed.items():
        notebook = nbformat.read(file, as_version=4)  # type: ignore[no-untyped-call]
        document = read(notebook, folder)
        target = f"{name}.html"
        if not page.blocks:
            page.blocks += [block for block in document.prose[:1] if _is_origin(block)]
        page.headings.append((1, f"s-{target}", document.title))
        page.blocks += [_heading(document.title, target), *_first(document, target)]
    made = folder / NAME
    write_whole(made, ReportHTMLExporter().convert(page).encode())  # type: ignore[no-untyped-call]
    return made


def _heading(title: str, target: str) -> list[Token]:
    link = [
        Token("link_open", "a", 1, attrs={"href": target}),
        Token("text", "", 0, content=title),
        Token("link_close", "a", -1),
    ]
    opening = Token("heading_open", "h1", 1, attrs={"id": f"s-{target}"})
    return [
        opening,
        Token("inline", "", 0, content=title, children=link),
        Token("heading_close", "h1", -1),
    ]


def _first(document: Document, target: str) -> list[Block]:
    """Return a report's findings (its front's list, else a paragraph) and first figure."""
    front = [block for block in document.blocks[: document.front] if isinstance(block, list)]
    said = _one(front, "ordered_list") or _one(document.prose, "paragraph")
    figure = next((block for block in document.blocks if isinstance(block, Figure)), None)
    for token in [child for block in said for child in block.children or []]:
        href = str(token.attrGet("href") or "")
        if token.type == "link_open" and href.startswith("#"):
            token.attrSet("href", f"{target}{href}")
    return [said, *([replace(figure, name="")] if figure else [])]


def _one(prose: Sequence[list[Token]], kind: str) -> list[Token]:
    """Return the tokens of the first block of a `kind` in prose, the run's name apart."""
    for tokens in filterfalse(_is_origin, prose):
        for node in SyntaxTreeNode(tokens).walk():
            if node.type == kind:
                return node.to_tokens()
    return []


def _is_origin(tokens: Sequence[Token]) -> bool:
    """Tell whether prose is one bold paragraph, as what says that a run was not measured here."""
    texts = [token.content for token in tokens if token.type == "inline"]
    return len(texts) == 1 and texts[0].startswith("**") and texts[0].endswith("**")
