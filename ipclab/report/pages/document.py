"""An executed notebook as a document: prose, tables and figures in order, ready for any format."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

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
from ipclab.report.pages import narrative, order, outputs, pandoc
from ipclab.report.pages.extraction import title
from ipclab.report.pages.outputs import Cell, Lost, Markup, Picture, Printed, Prose, Seen, Unread
from ipclab.stats.intervals import LEVEL
from ipclab.stats.quantity import Quantity
from ipclab.tables.table import Table
from ipclab.words import blocks
from ipclab.words.catalogue import LANGUAGES, SOURCE
from ipclab.words.numbers import Formatter
from ipclab.words.words import Words

ADVICE = "-advice"  # ends the names of tables that say what to do: no preliminary report has any
WORDS = table_beside(__file__, "labels.toml")
# Captions of tables and figures begin with their label, such as "Table 1.".
Block = Prose | Table | Figure | Markup | Picture | Printed


@dataclass
class Document:
    """What a report shows: `date` is ISO 8601, `cells` has for each block where it comes from.

    The first `front` blocks (findings, and of cells tagged `front`) stand before the contents;
    `labels` are those of figures and tables by name, `addresses` of attached files from `folder`,
    `links` rows of texts and addresses (empty: this document) beside it, `headings` have level
    (from 1), id and text. `marks` stand on every page of a document to sign, `head` on that of any;
    `brackets` says what intervals lie between. `lost` says what no report can show, and in which
    cell; `notebook` leads to the notebook.
    """

    lang: str
    title: str
    date: str
    run: str
    translate: Callable[[str], str]
    folder: Path = field(default_factory=Path)
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

    def add(self, seen: Seen) -> None:
        """Add a block that comes from a cell, but what is absent; count figures and tables."""
        block: Any = seen.shown
        if isinstance(block, outputs.Absent):
            return
        if isinstance(block, Table | Figure) and block.caption:
            kind = type(block)
            before = [each for each in self.blocks if isinstance(each, kind) and each.caption]
            numbered = self.translate(WORDS["numbered"][kind.__name__])
            label = numbered.replace("{number}", str(len(before) + 1))
            if block.name:
                self.labels[block.name] = label.rstrip(".：")
            space = "" if label.endswith("：") else " "  # a full-width colon brings its own
            block = replace(block, caption=f"{label}{space}{block.caption}")
        self.blocks.append(block)
        self.cells.append(seen.cell)

    def lose(self, lost: Lost, cell: Cell | None = None) -> str:
        """Note what cannot be shown; return the sentence that says so."""
        said = self.translate(WORDS["lost"][lost.what]).replace("{detail}", lost.detail)
        if cell:
            where = self.translate(WORDS["lost"]["where"])
            said = where.replace("{cell}", str(cell.number)).replace("{what}", said)
        self.lost.append(said)
        return said

    def lose_math(self, untold: Sequence[str]) -> None:
        """Note formulas that pandoc does not read, each with its cell."""
        first: dict[str, Cell | None] = {}
        for block, cell in zip(self.blocks, self.cells, strict=True):
            for node in pandoc.tree_nodes(block.tree) if isinstance(block, Prose) else ():
                if node["t"] == "Math":
                    first.setdefault(node["c"][1], cell)
        for tex in dict.fromkeys(untold):
            self.lose(Lost("math", tex), first.get(tex))

    @property
    def prose(self) -> list[pandoc.Tree]:
        """The trees of the blocks that are prose."""
        return [block.tree for block in self.blocks if isinstance(block, Prose)]


def read_document(
    notebook: Any,
    folder: Path,
    name: str = "",
    beside: Path | None = None,
) -> Document:
    """Return the document of an executed notebook.

    `notebook.metadata.ipclab` may hold lang, date, run, notebook (where it can be opened),
    attachments (name to path, relative to `folder`). Pictures are found in `beside`, where the
    notebook lies, or else in `folder`. The first heading is the title when it is of level 1, else
    that of a cell tagged `lab`, else `name`. Code inputs and cells tagged `lab` are left out
    otherwise. Raises LabError for attachments that are not there.
    """
    facts = notebook["metadata"].get("ipclab") or _by_papermill(notebook)
    lang = str(facts.get("lang"))
    lang = lang if lang in LANGUAGES else SOURCE
    translate = Words.load(lang).translate
    date, run = (str(facts.get(key) or "") for key in ("date", "run"))
    document = Document(lang, "", date or _today(), run, translate)
    document.head = Head.of(facts, lang, translate)
    if run:
        sessions = facts.get("intervals") == BETWEEN_SESSIONS
        between = BETWEEN_SESSIONS if sessions else BETWEEN_LAUNCHES
        level = Formatter(lang).format(Quantity(LEVEL, "share"), "pct,int")
        document.brackets = translate(WORDS["page"][between]).replace("{level}", level)
    document.addresses = facts.get("attachments", {})
    document.folder = folder
    document.links = facts.get("links", ())
    document.notebook = facts.get("notebook", "")
    kept = [cell.get("source", "") for cell in notebook["cells"] if KEEP_IN_LAB in _tags(cell)]
    named = next(filter(None, map(title, kept)), "").removeprefix("# ")
    _fill(document, notebook["cells"], beside or folder)
    otherwise = translate(named) if named else Path(document.notebook).stem or name or "notebook"
    narrative.take_title(document, otherwise)
    narrative.refer(document)
    narrative.settle_headings(document)
    return document


def _tags(cell: Any) -> Sequence[str]:
    return cell["metadata"].get("tags") or ()


def _fill(document: Document, cells: Sequence[Any], folder: Path) -> None:
    """Add what the cells show, what is on the first page first."""
    found: list[Seen] = []
    number = 0
    for cell in cells:
        tags = _tags(cell)
        number += INJECTED not in tags
        if KEEP_IN_LAB in tags:
            continue
        origin = Cell(number, str(cell.get("id", "")), cell.get("source", ""))
        try:
            found += [Seen(origin, tags, shown) for shown in _shown(cell, document)]
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            raise LabError(f"cell {number} holds what cannot be read", why) from error
    found = order.caption_findings(_with_trees(order.one_list(found)))
    ahead, behind = [
        [block for seen in part for block in _blocks(seen, document, folder)]
        for part in order.front_first(found)
    ]
    for seen in ahead:
        document.add(seen)
    document.front = len(document.blocks)
    for seen in order.without_absent(behind):
        document.add(seen)


def _shown(cell: Any, document: Document) -> Iterator[outputs.Shown]:
    source = cell.get("source", "")
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


def _with_trees(found: Sequence[Seen]) -> list[Seen]:
    """Return what is shown with what pandoc reads in texts: all of a kind at once."""
    read = [*found]
    for kind, reader in pandoc.READERS.items():
        texts = {
            place: seen.shown.source
            for place, seen in enumerate(found)
            if isinstance(seen.shown, Unread) and seen.shown.kind == kind
        }
        for place, tree in zip(texts, pandoc.read_trees(reader, [*texts.values()]), strict=True):
            read[place] = found[place]._replace(tree=tree)
    narrative.settle_formulas(seen.tree for seen in read)
    return read


def _blocks(seen: Seen, document: Document, folder: Path) -> Iterator[Seen]:
    """Yield what is shown as blocks."""
    shown = seen.shown
    pictures = narrative.Pictures(shown.attached if isinstance(shown, Unread) else {}, folder)
    blocks: list[Any] = []
    written = False
    match shown:
        case Marks():
            document.marks = shown
        case Attached():
            document.attached[shown.name] = shown.text
        case Lost():
            blocks = [Prose(narrative.remark(document.lose(shown, seen.cell)))]
        case Unread():
            written = not shown.found
            for block in narrative.captioned(pictures.embedded(seen.tree)):
                advice = isinstance(block, Table) and block.name.endswith(ADVICE)
                if not (advice and document.head.mark):
                    blocks.append(block)
        case Markup():
            blocks = [Markup(pictures.embedded_html(shown.html))]
        case _:
            blocks = [shown]
    for lost in pictures.lost:
        blocks.append(Prose(narrative.remark(document.lose(lost, seen.cell))))
    for block in blocks:
        yield Seen(seen.cell, seen.tags, block, written=written)


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
