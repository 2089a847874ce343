"""The first page of a language: what every report found, with its first figure and a link to it."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ipclab.lab.figure import Figure
from ipclab.lab.head import Head
from ipclab.report.pages import pandoc
from ipclab.report.pages.document import WORDS, Block, Document
from ipclab.report.pages.order import is_origin
from ipclab.report.pages.outputs import Prose
from ipclab.report.pages.page import page_of
from ipclab.report.pages.pandoc import Tree
from ipclab.store.files import write_whole
from ipclab.words.catalogue import Catalogue

NAME = "index.html"


@dataclass(frozen=True)
class ReportEntry:
    """What the first page says of a report: its title, findings, first figure, and its origin."""

    title: str
    target: str
    blocks: Sequence[Block]
    origin: Tree


def entry(document: Document, target: str) -> ReportEntry:
    """Return what the first page says of a document that is at the address `target`.

    That is its findings (its front's list, else a paragraph) and its first figure.
    """
    origin = next(filter(is_origin, document.prose[:1]), [])
    front = [block.tree for block in document.blocks[: document.front] if isinstance(block, Prose)]
    said = deepcopy((_nodes(front, "OrderedList") or _nodes(document.prose, "Para"))[:1])
    for node in pandoc.tree_nodes(said):
        if node["t"] == "Link" and node["c"][2][0].startswith("#"):
            node["c"][2][0] = f"{target}{node['c'][2][0]}"
    figures = [replace(block, name="") for block in document.blocks if isinstance(block, Figure)]
    return ReportEntry(document.title, target, [Prose(said), *figures[:1]], deepcopy(origin))


def write(entries: Sequence[ReportEntry], folder: Path, about: Mapping[str, Any]) -> Path:
    """Write the first page of `entries` into `folder`; `about` is what reports are told."""
    translate = Catalogue.load(about["lang"]).translate
    title = translate(WORDS["page"]["index"])
    page = Document(about["lang"], title, about["date"], about["run"], translate)
    page.head = Head.of(about, about["lang"], translate)
    tongues = []
    for name, target in about["links"][0]:
        tongues.append((name, target and f"{target.rpartition('/')[0]}/{NAME}"))
    page.links = [tongues, [(title, "")]]
    page.blocks = [Prose(each.origin) for each in entries[:1] if each.origin]
    for each in entries:
        anchor = f"s-{each.target}"
        page.headings.append((1, anchor, each.title))
        words = [{"t": "Str", "c": each.title}]
        link = {"t": "Link", "c": [["", [], []], words, [each.target, ""]]}
        head = {"t": "Header", "c": [1, [anchor, [], []], [link]]}
        page.blocks += [Prose([head]), *each.blocks]
    page.cells = [None] * len(page.blocks)
    made = folder / NAME
    write_whole(made, page_of(page).encode())
    return made


def _nodes(prose: Sequence[Tree], kind: str) -> Tree:
    """Return the blocks of a `kind` in prose, the run's name apart."""
    told = [tree for tree in prose if not is_origin(tree)]
    return [node for node in pandoc.tree_nodes(told) if node["t"] == kind]
