"""An executed notebook as a document: prose, tables and figures in order, ready for any format."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count
from pathlib import Path
from typing import Any, TypeVar

from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from ipclab.errors import LabError, hint
from ipclab.lab import canvas, prose, quotes, signing, table
from ipclab.lab.canvas import Figure
from ipclab.lab.catalogue import Catalogue
from ipclab.lab.parameters import KEEP_IN_LAB
from ipclab.lab.table import Table
from ipclab.paths import table_beside

FRONT = "front"
# by the tag of its cell: of a printed table; others stand in the HTML alone
MOST_ROWS = {"long": 12, "html": 0}
MARKDOWN = "text/markdown"
_CAPTION = re.compile(r": (.+?) \{#([\w-]+)\}", re.DOTALL)
WORDS = table_beside(__file__, "labels.toml")
# Prose is Markdown tokens without footnote definitions: a reference has `meta["number"]` and
# `meta["note"]`. Captions
# of tables and figures begin with their label, such as "Table 1.". Text is what was printed.
Block = list[Token] | Table | Figure | str
Shown = TypeVar("Shown", Table, Figure)


@dataclass
class Document:
    """What a report shows: `date` is ISO 8601, `notes[n - 1]` the inline token of footnote n.

    The first `front` blocks (of cells tagged `front`) stand before the contents; `labels` are those
    of figures and tables by name, `links` rows of addresses by text (empty: this document) beside
    it, `headings` have level (from 1), id and text. `marks` stand on every page of a document to
    sign: its `number` and a `mark`, both may be empty. Tables at the places `unprinted` of the
    blocks are too long for print, which only names them.
    """

    lang: str
    title: str
    date: str
    run: str
    attachments: dict[str, Path]
    translate: Callable[[str], str]
    blocks: list[Block] = field(default_factory=list)
    notes: list[Token] = field(default_factory=list)
    front: int = 0
    labels: dict[str, str] = field(default_factory=dict)
    links: Sequence[Mapping[str, str]] = ()
    headings: list[tuple[int, str, str]] = field(default_factory=list)
    marks: Mapping[str, str] | None = None
    unprinted: set[int] = field(default_factory=set)

    def label(self, name: str) -> str:
        """Return what figure or table `name` is called ("Table 3"); `LabError` if there is none."""
        if name not in self.labels:
            raise LabError(
                "a reference leads nowhere", f"no {name!r} is shown", hint(name, self.labels)
            )
        return self.labels[name]

    def settled(self, shown: Table) -> Table:
        """Return a table with the labels of figures and tables that its cells name (`#name`)."""
        targets = {f"#{name}": label for name, label in self.labels.items()}
        rows = []
        for row in shown.rows:
            rows.append([targets.get(cell, cell) for cell in row])
        return replace(shown, rows=rows)

    @property
    def prose(self) -> list[list[Token]]:
        """The blocks that are prose."""
        return [block for block in self.blocks if isinstance(block, list)]


def read(notebook: Any, folder: Path, locale: Path | None = None) -> Document:
    """Return the document of an executed notebook.

    `notebook.metadata.ipclab` may hold lang, title, date, run, attachments (name to path, relative
    to `folder`). The first level-1 heading is the title when it comes first, or after one block.
    Code inputs, streams, widgets and cells tagged `lab` are left out. Raises LabError for what a
    report cannot show.
    """
    metadata = notebook["metadata"]
    facts = metadata.get("ipclab") or _by_papermill(metadata.get("papermill", {}))
    lang = facts.get("lang", "en")
    files = {name: folder / path for name, path in facts.get("attachments", {}).items()}
    title, date, run = (facts.get(name, "") for name in ("title", "date", "run"))
    document = Document(lang, title, date, run, files, Catalogue.load(lang, locale).translate)
    document.links = facts.get("links", ())
    for cell in notebook["cells"]:
        tags = cell["metadata"].get("tags", [])
        if KEEP_IN_LAB in tags:
            continue
        most = min((MOST_ROWS[tag] for tag in tags if tag in MOST_ROWS), default=math.inf)
        for block in _blocks(cell, document):  # one by one: labels count the blocks before them
            if isinstance(block, Table) and len(block.rows) > most:
                document.unprinted.add(len(document.blocks))
            document.blocks.append(block)
        if FRONT in tags:
            document.front = len(document.blocks)
    _take_title(document)
    _refer(document)
    _settle_headings(document)
    return document


def _by_papermill(tagged: Mapping[str, Any]) -> dict[str, Any]:
    """Return what papermill's own command noted in a notebook that no report has executed."""
    parameters = tagged.get("parameters", {})
    run = str(parameters.get("run", "")).rstrip("/").rpartition("/")[2]
    return {
        "lang": parameters.get("lang", "en"),
        "date": str(tagged.get("start_time", ""))[:10],
        "run": run,
    }


def plain(inline: Token) -> str:
    """Return the text of an inline token without markup."""
    parts = []
    for token in inline.children or []:
        if token.type in ("softbreak", "hardbreak"):
            parts.append("\n")
        elif token.type != "footnote_reference":
            parts.append(token.content)
    return prose.join_lines("".join(parts))


def _blocks(cell: Any, document: Document) -> Iterator[Block]:
    if cell["cell_type"] == "markdown":
        yield from _captioned(prose.translated(cell["source"], document.translate), document)
    for output in cell.get("outputs", []):
        if output["output_type"] == "error":
            raise LabError(
                "a cell of the notebook failed",
                f"{output['ename']}: {output['evalue']}",
                "run it again",
            )
        if output["output_type"] != "stream":
            yield from _shown(output["data"], output["metadata"], document)


def _shown(data: Any, metadata: Any, document: Document) -> Iterator[Block]:
    """Yield the blocks of one display; widgets and empty displays have none."""
    if signing.MIME in data:
        document.marks = data[signing.MIME]
    elif table.MIME in data:
        yield _labelled(Table.from_json(data[table.MIME]), document)
    elif canvas.MIME in data:
        words = metadata.get(canvas.MIME, {})
        alt, caption, name = (words.get(kind, "") for kind in ("alt", "caption", "name"))
        yield _labelled(Figure(data[canvas.MIME], alt, caption, name), document)
    elif MARKDOWN in data:
        yield from _captioned(data[MARKDOWN], document)
    elif (
        "text/plain" in data
        and quotes.MIME not in data
        and not any("widget" in kind for kind in data)
    ):
        yield str(data["text/plain"])


def _labelled(shown: Shown, document: Document) -> Shown:
    """Return a figure or table with its number before its caption, if it has one."""
    if not shown.caption:
        return shown
    kind = type(shown)
    before = [block for block in document.blocks if isinstance(block, kind) and block.caption]
    numbered = document.translate(WORDS["numbered"][kind.__name__])
    label = numbered.replace("{number}", str(len(before) + 1))
    if shown.name:
        document.labels[shown.name] = label.rstrip(".：")
    space = "" if label.endswith("：") else " "  # a full-width colon brings its own
    return replace(shown, caption=f"{label}{space}{shown.caption}")


def _prose(source: str, document: Document) -> list[Token]:
    definitions = dict[str, Token]()
    kept = list[Token]()
    tokens = iter(prose.parse(source))
    for token in tokens:
        if token.type == "footnote_open":
            definitions[token.meta["label"]] = next(tokens)
        elif token.type != "footnote_close":
            kept.append(token)
    children = chain.from_iterable(token.children or [] for token in kept)
    for child in children:
        if child.type == "image":
            raise LabError(
                "a picture is linked in prose", str(child.attrGet("src")), "show a Figure"
            )
        if child.type == "footnote_reference":
            label = child.meta["label"]
            if label not in definitions:
                raise LabError(
                    f"footnote [^{label}] has no text", "", f"add [^{label}]: ... to the same cell"
                )
            document.notes.append(definitions[label])
            child.meta["number"] = len(document.notes)
            child.meta["note"] = definitions[label]
    return kept


def _captioned(source: str, document: Document) -> Iterator[Block]:
    """Yield prose; a Markdown table before `: caption {#name}` becomes a numbered `Table`."""
    tokens = _prose(source, document)
    begin = 0
    opened = 0
    for place, token in enumerate(tokens):
        if token.type == "table_open":
            opened = place
        after_table = token.type == "inline" and tokens[place - 2].type == "table_close"
        if after_table and (caption := _CAPTION.fullmatch(plain(token))):
            yield tokens[begin:opened]
            yield _labelled(_table(tokens[opened : place - 1], *caption.groups()), document)
            begin = place + 2
    yield tokens[begin:]


def _table(tokens: list[Token], caption: str, name: str) -> Table:
    (node,) = SyntaxTreeNode(tokens).children
    (head, *_), *bodies = [part.children for part in node.children]
    columns = []
    for cell in head.children:
        right = str(cell.attrs.get("style")).endswith(":right")
        columns.append(table.Column(_cell(cell), "right" if right else "left"))
    rows = [[*map(_cell, row.children)] for body in bodies for row in body]
    return Table(caption, columns, rows, name=name)


def _cell(cell: SyntaxTreeNode) -> str:
    return plain(cell.to_tokens()[1])


def _refer(document: Document) -> None:
    """Put labels into references in prose, `[](#name)`; `LabError` for a name of nothing."""
    for inline in (token for tokens in document.prose for token in tokens if token.children):
        children: list[Token] = []
        for token in inline.children or []:
            link = children[-1] if children else token
            target = str(link.attrGet("href"))
            if (link.type, token.type) == ("link_open", "link_close") and target.startswith("#"):
                link.meta = {"ref": target[1:]}
                # A label and its number stay on one line.
                label = document.label(target[1:]).replace(" ", "\u00a0")
                children.append(Token("text", "", 0, content=label))
            children.append(token)
        inline.children = children


def _take_title(document: Document) -> None:
    for place, first in enumerate(document.blocks[:2]):  # whose run it is may stand before it
        if isinstance(first, list) and first and first[0].tag == "h1":
            document.title = document.title or plain(first[1])
            document.blocks[place] = first[3:]
            break
    if not document.title:
        raise LabError(
            "the report has no title", "the notebook does not begin with one", "add '# Title'"
        )


def _settle_headings(document: Document) -> None:
    """Give headings ids, and levels that start at 1 and skip none."""
    headings = []
    for tokens in document.prose:
        for place, token in enumerate(tokens):
            if token.type == "heading_open":
                headings.append(tokens[place : place + 3])
    levels = [int(token.tag[1]) for token, _, _ in headings]
    shift = min(levels, default=1) - 1
    level = 0
    seen = set[str]()
    for token, inline, close in headings:
        level = min(int(token.tag[1]) - shift, level + 1)
        token.tag = close.tag = f"h{level}"
        text = plain(inline)
        slug = re.sub(r"[^\w]+", "-", text.lower()).strip("-") or "section"
        names = chain([f"s-{slug}"], (f"s-{slug}-{number}" for number in count(1)))
        name = next(name for name in names if name not in seen)
        seen.add(name)
        token.attrSet("id", name)
        document.headings.append((level, name, text))
