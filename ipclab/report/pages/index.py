"""The first page of a language: in short what to take, then what every report found, and a figure."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ipclab.lab.figure import Figure
from ipclab.lab.head import Head
from ipclab.report.pages import pandoc
from ipclab.report.pages.document import ADVICE, WORDS, Block, Document
from ipclab.report.pages.order import first_sentence, is_origin
from ipclab.report.pages.outputs import Prose
from ipclab.report.pages.page import page_of
from ipclab.report.pages.pandoc import Tree
from ipclab.store.files import write_whole
from ipclab.tables.table import Table
from ipclab.words.sentences import SENTENCES
from ipclab.words.words import Words

NAME = "index.html"


@dataclass(frozen=True)
class ReportEntry:
    """What the first page says of a report: its title, findings, first figure, and its origin.

    `short` are lines on what to take: for what, and what.
    """

    title: str
    target: str
    short: Sequence[tuple[str, str]]
    blocks: Sequence[Block]
    origin: Tree


def entry(document: Document, target: str) -> ReportEntry:
    """Return what the first page says of a document that is at the address `target`.

    That is its findings (its front's list, else a paragraph) and its first figure; in short its
    advice, else its first finding.
    """
    origin = next(filter(is_origin, document.prose[:1]), [])
    fronted = document.blocks[: document.front]
    front = [block.tree for block in fronted if isinstance(block, Prose)]
    said = deepcopy((_nodes(front, "OrderedList") or _nodes(document.prose, "Para"))[:1])
    for node in pandoc.tree_nodes(said):
        if node["t"] == "Link" and node["c"][2][0].startswith("#"):
            node["c"][2][0] = f"{target}{node['c'][2][0]}"
    figures = [replace(block, name="") for block in document.blocks if isinstance(block, Figure)]
    tables = [each for each in fronted if isinstance(each, Table) and each.name.endswith(ADVICE)]
    told = [table for table in tables if len(table.columns) > 1]  # others name theirs as they like
    short = [(case, take) for table in told for case, take, *_ in table.rows]
    if not short:
        short = [
            (first_sentence(each["c"][1][0]), "") for each in said if each["t"] == "OrderedList"
        ]
    return ReportEntry(document.title, target, short, [Prose(said), *figures[:1]], deepcopy(origin))


def write(entries: Sequence[ReportEntry], folder: Path, about: Mapping[str, Any]) -> Path:
    """Write the first page of `entries` into `folder`; `about` is what reports are told."""
    translate = Words.load(about["lang"]).translate
    title = translate(WORDS["page"]["index"])
    page = Document(about["lang"], title, about["date"], about["run"], translate)
    page.head = Head.of(about, about["lang"], translate)
    tongues = []
    for name, target in about["links"][0]:
        tongues.append((name, target and f"{target.rpartition('/')[0]}/{NAME}"))
    page.links = [tongues, [(title, "")]]
    page.blocks = [Prose(each.origin) for each in entries[:1] if each.origin]
    in_short = translate(WORDS["page"]["short"])
    page.blocks.append(
        Prose([*_head(page, "short", in_short, _words(in_short)), _short(entries, page.lang)])
    )
    for each in entries:
        page.blocks.append(Prose(_head(page, each.target, each.title, _link(each))))
        page.blocks += each.blocks
    page.cells = [None] * len(page.blocks)
    made = folder / NAME
    write_whole(made, page_of(page).encode())
    return made


def _words(text: str, kind: str = "") -> Tree:
    words: Tree = [{"t": "Str", "c": text}]
    return [{"t": kind, "c": words}] if kind else words


def _link(entry: ReportEntry) -> Tree:
    return [{"t": "Link", "c": [["", [], []], _words(entry.title), [entry.target, ""]]}]


def _head(page: Document, name: str, title: str, words: Tree) -> Tree:
    """Return a heading, which is noted among those of the page."""
    page.headings.append((1, f"s-{name}", title))
    return [{"t": "Header", "c": [1, [f"s-{name}", [], []], words]}]


def _short(entries: Sequence[ReportEntry], lang: str) -> dict[str, Any]:
    """Return a list of reports, each with its lines."""
    colon = SENTENCES["page"][lang]["colon"]
    items = []
    for each in entries:
        lines = []
        for case, take in each.short:
            said = [*_words(f"{case}{colon}"), *_words(take, "Strong")] if take else _words(case)
            lines.append([{"t": "Plain", "c": said}])
        under = [{"t": "BulletList", "c": lines}] if lines else []
        items.append([{"t": "Plain", "c": _link(each)}, *under])
    return {"t": "BulletList", "c": items}


def _nodes(prose: Sequence[Tree], kind: str) -> Tree:
    """Return the blocks of a `kind` in prose, the run's name apart."""
    told = [tree for tree in prose if not is_origin(tree)]
    return [node for node in pandoc.tree_nodes(told) if node["t"] == kind]
