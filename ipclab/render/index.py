"""The first page of a language: what every report found, with its first figure and a link to it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import nbformat
from markdown_it.token import Token

from ipclab.lab.canvas import Figure
from ipclab.lab.catalogue import Catalogue
from ipclab.render.document import SAID, Block, Document, read
from ipclab.render.exporters import ReportHTMLExporter
from ipclab.store.files import write_whole

NAME = "index.html"


def write(executed: Sequence[Path], folder: Path, about: Mapping[str, Any]) -> Path:
    """Write the page of the `executed` notebooks, in their order, into `folder`; `about` is what
    they are told.
    """
    translate = Catalogue.load(about["lang"]).translate
    title = translate(SAID["page"]["index"])
    page = Document(about["lang"], title, about["date"], about["run"], {}, translate)
    page.links = [
        {
            name: target and f"{target.rpartition('/')[0]}/{NAME}"
            for name, target in about["links"][0].items()
        },
        {title: ""},
    ]
    for file in executed:
        notebook = nbformat.read(file, as_version=4)  # type: ignore[no-untyped-call]
        document = read(notebook, folder)
        stem = f"{_stem(file, folder)}.html"
        origins = [block for block in document.prose[:1] if _is_origin(block)]
        page.blocks += [] if page.blocks else origins
        page.headings.append((1, f"s-{stem}", document.title))
        page.blocks += [_heading(document.title, stem), *_first(document, stem)]
    made = folder / NAME
    write_whole(made, ReportHTMLExporter().convert(page).encode())  # type: ignore[no-untyped-call]
    return made


def _stem(file: Path, folder: Path) -> str:
    """Return the name of the page in `folder` that an executed notebook became: its own name begins
    with it.
    """
    pages = [page.stem for page in folder.glob("*.html") if file.stem.startswith(page.stem)]
    return max(pages, key=len)


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
    """Return the findings of a report (the list of its front, else its first paragraph) and its
    first figure.
    """
    front = [block for block in document.blocks[: document.front] if isinstance(block, list)]
    said = _one(front, "ordered_list") or _one(document.prose, "paragraph")
    figure = next((block for block in document.blocks if isinstance(block, Figure)), None)
    for token in [child for block in said for child in block.children or []]:
        href = str(token.attrGet("href") or "")
        if token.type == "link_open" and href.startswith("#"):
            token.attrSet("href", f"{target}{href}")
    return [said, *([replace(figure, name="")] if figure else [])]


def _one(prose: Sequence[list[Token]], kind: str) -> list[Token]:
    """Return the tokens of the first block of a `kind` in prose, other than whose run it is; none
    without one.
    """
    for tokens in filter(lambda block: not _is_origin(block), prose):
        for place, token in enumerate(tokens):
            if token.type == f"{kind}_open":
                inner = takewhile(lambda each: each.type != f"{kind}_close", tokens[place:])
                return [*inner, Token(f"{kind}_close", token.tag, -1, block=True)]
    return []


def _is_origin(tokens: Sequence[Token]) -> bool:
    """Tell whether prose is one bold paragraph, as what says that a run was not measured here."""
    inline = [token for token in tokens if token.type == "inline"]
    return (
        len(inline) == 1 and inline[0].content.startswith("**") and inline[0].content.endswith("**")
    )
