"""What is wrong with the pages of a PDF, by its structure: what stands alone, or too little."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from pypdf import PdfReader

FOOT, HEAD = 62.0, 777.0  # where the text of a page ends and begins, pt from below
THIRD = 2 / 3 * (HEAD - FOOT) + FOOT
ROWS = 2  # of a table that stand on a page at least


@dataclass
class Element:
    """What a reader's software is told of: a heading, a row, ..., and the pages that it is on."""

    kind: str
    pages: list[int] = field(default_factory=list)
    parts: list["Element"] = field(default_factory=list)

    def every(self, *kinds: str) -> Iterator["Element"]:
        """Yield what is in it, of these kinds."""
        for part in self.parts:
            if part.kind in kinds:
                yield part
            yield from part.every(*kinds)


def faults(pdf: Path, most: int) -> list[str]:
    """Return what a reader would stumble over in a document of at most `most` pages, if anything."""
    reader = PdfReader(pdf)
    document = _read(reader)
    long = [f"{len(reader.pages)} pages"] if len(reader.pages) > most else []
    return [*long, *_alone(document), *_torn(document), *_empty(reader)]


def _alone(document: Element) -> Iterator[str]:
    """Yield headings and captions without what follows, and what stands out of its order."""
    (whole,) = document.parts
    for one, other in pairwise(part for part in whole.parts if part.pages):
        if one.kind in ("/H1", "/H2", "/H3") and one.pages[-1] != other.pages[0]:
            yield f"page {one.pages[-1]} ends with a heading"
        if other.pages[0] < one.pages[-1]:
            yield f"page {other.pages[0]} shows what belongs behind page {one.pages[-1]}"
    for holder in whole.every("/Div", "/Table"):
        captions = [part for part in holder.parts if part.kind == "/Caption"]
        for caption in captions:
            shown = [page for part in holder.parts if part is not caption for page in part.pages]
            if shown and caption.pages and caption.pages[0] != min(shown):
                yield f"page {caption.pages[0]} has a caption of what is elsewhere"


def _torn(document: Element) -> Iterator[str]:
    """Yield pages with a single row of a table that stands on several, its notes being a row."""
    for table in document.every("/Table"):
        rows = [row.pages[0] for part in table.every("/TBody") for row in part.every("/TR")]
        for page in {*rows} if len({*rows}) > 1 else ():
            if rows.count(page) < ROWS:
                yield f"page {page} has one row of a table"


def _empty(reader: PdfReader) -> Iterator[str]:
    """Yield the last page where its text ends above a third, and it is not the only one."""
    heights: list[float] = []

    def visited(text: str, page: list[float], place: list[float], *_font: Any) -> None:
        height = page[1] * place[4] + page[3] * place[5] + page[5]
        if text.strip() and height > FOOT:
            heights.append(height)

    number = len(reader.pages)
    if number > 1:
        reader.pages[-1].extract_text(visitor_text=visited)
        if min(heights, default=HEAD) > THIRD:
            yield f"page {number}, the last one, is almost empty"


def _read(reader: PdfReader) -> Element:
    references = [page.indirect_reference for page in reader.pages]
    pages = {of.idnum: number for number, of in enumerate(references, 1) if of}
    catalogue: Any = reader.trailer["/Root"]
    root = Element("")
    _fill(root, catalogue["/StructTreeRoot"]["/K"], pages, 0)
    return root


def _fill(element: Element, told: Any, pages: dict[int, int], page: int) -> None:
    told = told.get_object()
    if isinstance(told, list):
        for each in told:
            _fill(element, each, pages, page)
        return
    if isinstance(told, int):
        element.pages.append(page)
        return
    if "/Pg" in told:
        page = pages[told.raw_get("/Pg").idnum]
    if "/S" not in told:  # content of a page
        element.pages.append(page)
        return
    part = Element(str(told["/S"]))
    element.parts.append(part)
    if "/K" in told:
        _fill(part, told["/K"], pages, page)
    element.pages += part.pages
