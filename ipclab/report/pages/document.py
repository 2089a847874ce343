"""An executed notebook as a document: prose, tables and figures in order, ready for any format."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

from ipclab.errors import LabError
from ipclab.lab.figure import Figure
from ipclab.lab.head import BETWEEN_LAUNCHES, BETWEEN_SESSIONS, Head
from ipclab.lab.parameters import KEEP_IN_LAB
from ipclab.lab.runs import HINT
from ipclab.lab.shell import as_written
from ipclab.paths import table_beside
from ipclab.report.appendix.signed import Attached
from ipclab.report.appendix.signing import Marks
from ipclab.report.notebooks.execute import INJECTED
from ipclab.report.pages import captions, front, macros, narrative, outputs, pandoc, sections
from ipclab.report.pages.extraction import title
from ipclab.report.pages.outputs import Cell, Lost, Markup, Picture, Printed, Prose, Seen, Unread
from ipclab.tables.table import Table
from ipclab.words import blocks
from ipclab.words.catalogue import LANGUAGES, SOURCE, Catalogue

ADVICE = "-advice"  # ends the names of tables that say what to do: no preliminary report has any
WORDS = table_beside(__file__, "labels.toml")
# Captions of tables and figures begin with their label, such as "Table 1.".
Block = Prose | Table | Figure | Markup | Picture | Printed
Labelled = TypeVar("Labelled", Table, Figure)


@dataclass
class Document:
    """What a report shows: `date` is ISO 8601, `cells` has for each block where it comes from.

    The first `front` blocks (findings, and of cells tagged `front`) stand before the contents; `labels` are those
    of figures and tables by name, `links` rows of texts and addresses (empty: this document) beside
    it, `headings` have level (from 1), id and text. `marks` stand on every page of a document to
    sign, `head` on that of any; `brackets` says what intervals lie between. `lost` says what no
    report can show, and in which cell; `notebook` leads to the notebook. `asides`
    are what cells wrote to stderr, which no page shows.
    """

    lang: str
    title: str
    date: str
    run: str
    translate: Callable[[str], str]
    attachments: dict[str, Path] = field(default_factory=dict)
    addresses: Mapping[str, str] = field(default_factory=dict)
    attached: dict[str, str] = field(default_factory=dict)
    notebook: str = ""
    blocks: list[Block] = field(default_factory=list)
    cells: list[Cell | None] = field(default_factory=list)
    front: int = 0
    labels: dict[str, str] = field(default_factory=dict)
    links: Sequence[Sequence[tuple[str, str]]] = ()
    headings: list[tuple[int, str, str]] = field(default_factory=list)
    marks: Marks | None = None
    head: Head = field(default_factory=Head)
    brackets: str = ""
    lost: list[str] = field(default_factory=list)
    asides: list[str] = field(default_factory=list)

    def add(self, block: Block, cell: Cell | None = None) -> None:
        """Add a block that comes from a cell."""
        self.blocks.append(block)
        self.cells.append(cell)

    def lose(self, lost: Lost, cell: Cell | None) -> str:
        """Note what cannot be shown; return the sentence that says so."""
        what = self.translate(WORDS["lost"][lost.what]).replace("{detail}", lost.detail)
        said = what
        if cell:
            where = self.translate(WORDS["lost"]["where"])
            said = where.replace("{cell}", str(cell.number)).replace("{what}", what)
        self.lost.append(said)
        return said

    def lose_math(self, untold: Sequence[str]) -> None:
        """Note formulas that pandoc does not read, each with its cell."""
        for tex in dict.fromkeys(untold):
            found = [
                cell
                for block, cell in zip(self.blocks, self.cells, strict=True)
                if isinstance(block, Prose) and tex in pandoc.formulas(block.tree)
            ]
            self.lose(Lost("math", tex), *(found[:1] or [None]))

    def settled(self, shown: Table) -> Table:
        """Return a table with the labels of figures and tables that its cells name (`#name`)."""
        targets = {f"#{name}": label for name, label in self.labels.items()}
        return replace(
            shown, rows=[[targets.get(cell, cell) for cell in row] for row in shown.rows]
        )

    @property
    def prose(self) -> list[pandoc.Tree]:
        """The trees of the blocks that are prose."""
        return [block.tree for block in self.blocks if isinstance(block, Prose)]


def read_document(
    notebook: Any,
    folder: Path,
    locale: Path | None = None,
    name: str = "",
    beside: Path | None = None,
) -> Document:
    """Return the document of an executed notebook.

    `notebook.metadata.ipclab` may hold lang, title, date, run, notebook (where it can be opened),
    attachments (name to path, relative to `folder`). Pictures are found in `beside`, where the
    notebook lies, or else in `folder`. The first heading is the title when it is of level 1, else
    that of a cell tagged `lab`, else `name`. Code inputs and cells tagged `lab` are left out
    otherwise. Raises LabError for attachments that are not there.
    """
    metadata = notebook["metadata"]
    facts = metadata.get("ipclab") or _by_papermill(notebook)
    lang = str(facts.get("lang"))
    lang = lang if lang in LANGUAGES else SOURCE
    translate = Catalogue.load(lang, locale).translate
    called, date, run = (str(facts.get(key) or "") for key in ("title", "date", "run"))
    document = Document(lang, called, date or _today(), run, translate)
    document.head = Head.of(facts, lang, translate)
    if run:
        between_sessions = facts.get("intervals") == BETWEEN_SESSIONS
        word = BETWEEN_SESSIONS if between_sessions else BETWEEN_LAUNCHES
        document.brackets = translate(WORDS["page"][word])
    document.addresses = facts.get("attachments", {})
    document.attachments = {key: folder / path for key, path in document.addresses.items()}
    document.links = [[(text, url) for text, url in row] for row in facts.get("links", ())]
    document.notebook = facts.get("notebook", "")
    name = _named(notebook["cells"], translate) or Path(document.notebook).stem or name
    document.front = _fill(document, notebook["cells"], beside or folder)
    narrative.take_title(document, name or "notebook")
    narrative.refer(document)
    narrative.settle_headings(document)
    return document


def _named(cells: Sequence[Any], translate: Callable[[str], str]) -> str:
    """Return the heading of level 1 that a cell for JupyterLab begins with, or nothing."""
    for cell in cells:
        if KEEP_IN_LAB in (cell["metadata"].get("tags") or []) and (said := title(cell["source"])):
            return translate(said.removeprefix("# "))
    return ""


def _fill(document: Document, cells: Sequence[Any], folder: Path) -> int:
    """Add what the cells show, what is on the first page first; return how many blocks that is."""
    found: list[Seen] = []
    number = 0
    for cell in cells:
        tags = cell["metadata"].get("tags") or []
        number += INJECTED not in tags
        if KEEP_IN_LAB not in tags:
            origin = Cell(number, str(cell.get("id", "")), cell["source"])
            for output in cell.get("outputs", []):
                if output.get("name") == outputs.STDERR:
                    document.asides.append(f"cell {number}: {''.join(output['text']).strip()}")
            found += [
                Seen(origin, tags, shown) for shown in _shown_or_named(cell, number, document)
            ]
    found = front.one_list(found)
    prose_of = _trees([seen.shown for seen in found])
    found = front.report_order(captions.caption_findings(found, prose_of), prose_of)
    stand = [front.stands(seen) for seen in found]
    ahead = len(stand) - stand[::-1].index(True) if any(stand) else 0
    placed: list[list[sections.Placed]] = []
    for origin, _, shown in found:
        written = isinstance(shown, outputs.Unread) and not shown.found
        made = _blocks(shown, origin, document, prose_of, folder)
        placed.append([sections.Placed(block, origin, written) for block in made])
    _add(document, chain.from_iterable(placed[:ahead]))
    count = len(document.blocks)
    _add(document, sections.measured([*chain.from_iterable(placed[ahead:])]))
    return count


def _add(document: Document, placed: Iterable[sections.Placed]) -> None:
    """Add blocks, figures and tables with their numbers, but what is absent."""
    for block, origin, _ in placed:
        if not isinstance(block, outputs.Absent):
            is_numbered = isinstance(block, Table | Figure)
            document.add(labelled(block, document) if is_numbered else block, origin)


def _shown_or_named(cell: Any, number: int, document: Document) -> list[outputs.Shown]:
    """Return what a cell shows; `LabError` that names the cell of what cannot be read."""
    try:
        return list(_shown(cell, document))
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise LabError(f"cell {number} holds what cannot be read", why) from error


def _shown(cell: Any, document: Document) -> Iterator[outputs.Shown]:
    source = cell["source"]
    if cell["cell_type"] == "markdown":
        in_language = blocks.translated(as_written(source), document.translate)
        yield Unread(outputs.MARKDOWN, in_language, cell.get("attachments") or {})
    elif cell["cell_type"] == "raw" and source:
        about = cell["metadata"]
        kind = str(about.get("raw_mimetype") or about.get("format") or "").lower()
        if kind == outputs.HTML:
            yield Markup(source)
        elif kind in pandoc.READERS:
            yield Unread(kind, source, cell.get("attachments") or {})
        else:
            yield Printed(source)
    for output in _merged(cell.get("outputs", [])):
        yield from outputs.shown(output, document.lang)


def _merged(shown: Sequence[Any]) -> list[dict[str, Any]]:
    """Return outputs with what was printed one after the other in one piece."""
    merged: list[dict[str, Any]] = []
    for output in shown:
        stream = output["output_type"] == "stream"
        if stream and merged and merged[-1].get("name") == output.get("name"):
            merged[-1] = {**merged[-1], "text": merged[-1]["text"] + "".join(output["text"])}
        else:
            merged.append({**output, "text": "".join(output["text"])} if stream else {**output})
    return merged


def _trees(every: Sequence[outputs.Shown]) -> dict[int, pandoc.Tree]:
    """Return what pandoc reads in texts: all of a kind at once."""
    trees: dict[int, pandoc.Tree] = {}
    unread = [shown for shown in every if isinstance(shown, Unread)]
    for kind in dict.fromkeys(each.kind for each in unread):
        mine = [each for each in unread if each.kind == kind]
        read_ones = pandoc.read_trees(pandoc.READERS[kind], [each.source for each in mine])
        trees |= zip(map(id, mine), read_ones, strict=True)
    macros.settle(trees[id(each)] for each in unread)
    return trees


def _blocks(
    shown: outputs.Shown,
    cell: Cell,
    document: Document,
    trees: Mapping[int, pandoc.Tree],
    folder: Path,
) -> Iterator[Block | outputs.Absent]:
    """Yield what is shown as blocks."""
    attached = shown.attached if isinstance(shown, Unread) else {}
    pictures = narrative.Pictures(attached, folder)
    match shown:
        case Marks():
            document.marks = shown
        case Attached():
            document.attached[shown.name] = shown.text
        case Lost():
            yield Prose(narrative.remark(document.lose(shown, cell)))
        case Unread():
            for block in narrative.captioned(pictures.embedded(trees[id(shown)])):
                advice = isinstance(block, Table) and block.name.endswith(ADVICE)
                if not (advice and document.head.mark):
                    yield block
        case Markup():
            yield Markup(pictures.embedded_html(shown.html))
        case _:
            yield shown
    for lost in pictures.lost:
        yield Prose(narrative.remark(document.lose(lost, cell)))


def labelled(shown: Labelled, document: Document) -> Labelled:
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


def _today() -> str:
    """Return the day, or that of `SOURCE_DATE_EPOCH`."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    moment = datetime.fromtimestamp(int(epoch), UTC) if epoch.isdecimal() else datetime.now(UTC)
    return moment.date().isoformat()


def _by_papermill(notebook: Any) -> dict[str, Any]:
    """Return what a notebook that no report has executed says: what it opened, or papermill."""
    tagged = notebook["metadata"].get("papermill", {})
    parameters = tagged.get("parameters", {})
    run = str(parameters.get("run", "")).rstrip("/").rpartition("/")[2]
    date = re.match(r"\d{4}-\d\d-\d\d", str(tagged.get("start_time", "")))
    facts = {"lang": parameters.get("lang", SOURCE), "date": date and date[0], "run": run}
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            told = output.get("metadata", {}).get(HINT)
            facts |= told if isinstance(told, dict) else {}
    return facts
