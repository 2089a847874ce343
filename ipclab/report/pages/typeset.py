"""A document as Typst sets it: its template, the markup that pandoc makes, the data beside it."""

import re
from dataclasses import asdict, replace
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from ipclab.errors import LabError
from ipclab.lab.figure import Figure
from ipclab.marks.pictures import print_fonts
from ipclab.report.pages import markup, pandoc, svg, widths
from ipclab.report.pages.document import WORDS, Block, Document
from ipclab.report.pages.markup import typst_string
from ipclab.report.pages.outputs import Lost, Picture, Printed
from ipclab.report.pages.pandoc import Tree
from ipclab.tables.table import Table

STANDARDS = ["ua-1", "a-3a"], ["a-3b"]  # the first that a document can fulfil, or none


class Sheet:
    """What Typst compiles for a document: `main`, its data, and files in a folder beside it."""

    def __init__(self, document: Document, folder: Path) -> None:
        self.document = document
        self.folder = folder
        self.files = 0
        template = Path(__file__).with_name("templates").joinpath("report.typ").read_text("utf-8")
        trees = [*markup.trees(document, self._inline)]
        (front, rest, _), math = pandoc.to_typst(
            [_joined(trees[: document.front]), _joined(trees[document.front :])]
        )
        document.lose_math(math)
        body = f"#show: report.with(front: [{front}\n])\n{rest}"
        # in our tables the first column begins at the left
        self.main = f"{template}\n{body.replace('align(center)[#table(', 'align(left)[#table(')}"
        self.data = self._data()

    def compiled(self, standards: Any, timestamp: int) -> bytes:
        """Return the PDF file that Typst makes of it; `LabError` when it cannot be set.

        A letter that no font has is its number, and noted as lost.
        """
        import typst

        told = msgspec.json.encode(self.data).decode()
        while True:
            compiler = typst.Compiler(
                self.main.encode(),
                root=self.folder,
                sys_inputs={"document": told},
                font_paths=print_fonts(),
                ignore_system_fonts=True,
            )
            try:
                made: Any = compiler.compile(
                    format="pdf", pdf_standards=standards, timestamp=timestamp
                )
                return bytes(made)
            except typst.TypstError as error:
                missing = sorted(_missing(error.diagnostic))
                names = {letter: f"[U+{ord(letter):04X}]" for letter in missing}
                table = str.maketrans(names)
                before = self.main, told
                self.main, told = self.main.translate(table), told.translate(table)
                if before == (self.main, told):
                    why = f"no font has {' '.join(missing)}" if missing else error.message
                    fix = " ".join(() if missing else error.hints[:1])
                    raise LabError("the PDF compiler refuses", why, fix) from error
                self.document.lose(Lost("glyphs", " ".join(names.values())))

    def _inline(self, picture: Picture) -> str:
        made = self._pictured(picture)
        path, alt = typst_string(made["path"]), typst_string(made["alt"])
        return f"#box(picture(path: {path}, alt: {alt}, wide: {made['wide']}))"

    def _pictured(self, picture: Picture) -> dict[str, Any]:
        """Return what the template's `picture` takes, whose content is a file in the folder."""
        self.files += 1
        suffix = picture.kind.partition("/")[2].partition("+")[0]
        name = f"{self.files}.{suffix}"
        (self.folder / name).write_bytes(picture.content)
        return {"path": f"/{name}", "alt": picture.alt, "wide": min(picture.width, widths.ROOM)}

    def _data(self) -> dict[str, Any]:
        """Return what `report.typ` reads: its parameters, attached files, a dict for each block.

        It is handed over as data, so that nothing of it can become markup.
        """
        document = self.document
        page = {key: document.translate(WORDS["page"][key]) for key in ("number", "contents")}
        about = {
            "title": document.title,
            "lang": document.lang,
            "date": [int(part) for part in document.date[:10].split("-")],
            "head": list(document.head.parts),
            "mark": document.head.mark,
            "run": document.run,
            "brackets": document.brackets,
            "contents": page["contents"] if document.headings else "",
            "fronted": document.front > 0,
            "marks": document.marks and {"named": page["number"], **asdict(document.marks)},
        }
        attached = {**document.attached}
        for name, address in document.addresses.items():
            path = document.folder / address
            try:
                attached[name] = path.read_text("utf-8")
            except OSError as error:
                raise LabError(f"cannot attach {path}", error.strerror or str(error)) from error
        return {
            "about": about,
            "attached": dict(sorted(attached.items())),
            "blocks": [self._block(block) for block in document.blocks],
            "labels": document.labels,
            "pages": document.translate(WORDS["numbered"]["page"]),
        }

    def _block(self, block: Block) -> dict[str, Any]:
        match block:
            case Table():
                return {"type": "sheet", "name": "", **_sheet(block)}
            case Figure():
                whole = svg.width_pt(block.svg) > widths.ROOM
                words = {"alt": block.alt, "caption": block.caption, "name": block.name}
                return {"type": "drawing", "svg": block.svg, "whole": whole, **words}
            case Picture():
                return {"type": "picture", **self._pictured(block)}
            case Printed():
                return {"type": "printed", "lines": _lines(block.text)}
            case _:
                return {"type": "prose"}


def _sheet(table: Table) -> dict[str, Any]:
    """Return a table as the template's `sheet` takes it: in parts that fit the page."""
    heads = [column.label for column in table.columns]
    words = takewhile(lambda column: column.align == "left", table.columns)  # what a row is of
    size, fitting, longest = widths.fitted([heads, *table.rows], len([*words]))
    parts = []
    for places, shares in fitting:
        rows = [[widths.broken(row[place], longest) for place in places] for row in table.rows]
        columns = [asdict(table.columns[place]) for place in places]
        parts.append({"columns": columns, "rows": rows, "shares": shares})
    return {**replace(table, values=()).to_json(), "size": size, "parts": parts}


def pdf_of(document: Document) -> bytes:
    """Return a document as PDF/UA-1 and PDF/A-3a, stamped with its date (UTC by default).

    What cannot be that, because of what somebody else made, is less, and says so. Raises LabError
    when it cannot be set at all.
    """
    moment = datetime.fromisoformat(document.date)
    stamp = int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())
    with TemporaryDirectory() as folder:
        sheet = Sheet(document, Path(folder))
        for standards in STANDARDS:
            try:
                return sheet.compiled(standards, stamp)
            except LabError as error:
                document.lose(Lost("standard", error.why))
        return sheet.compiled([], stamp)


def _joined(trees: list[Tree]) -> Tree:
    """Return the blocks of all trees, each of which begins anew."""
    blocks: Tree = []
    for block in (block for tree in trees for block in tree):
        blocks.append({**block, "t": "Para"} if block["t"] == "Plain" else block)
    return blocks


def _missing(diagnostic: str) -> set[str]:
    """Return the letters that the compiler found in no font."""
    found = re.findall(
        r'error: .*?(?:the text|contains the codepoint) `"(.+?)"`(?: could not be displayed|$)',
        diagnostic,
        re.MULTILINE,
    )
    return {*re.sub(r"\\u\{([0-9a-f]+)\}", lambda code: chr(int(code[1], 16)), "".join(found))}


def _lines(text: str) -> list[str]:
    """Return printed lines without their colours, and without blank ones at the end."""
    from nbconvert.filters import strip_ansi

    plain = str(strip_ansi(text))  # type: ignore[no-untyped-call]
    return plain.replace("\x1b", "").expandtabs().rstrip().split("\n")
