"""How a report fits its pages: figures give way, and contents stand where they are needed."""

from collections.abc import Callable
from typing import TypedDict

from ipclab.lab.figure import Figure
from ipclab.report.pages import svg
from ipclab.report.pages.document import Document
from ipclab.tables.table import Table

WIDTH_PT = 470  # of a page in print
TOP_PT, HIGH_PT = 65, 720  # where its text begins, and how high that is
CAPTIONS_PT = 70  # what stands between the first figure and the advice, with captions and air
FIRST, SECOND = 1, 2
MANY_PAGES = 8  # above which a document has contents
LEAST_SCALE = 0.68  # of a figure on the first page, so that what to do stands there, too
BODY_SCALE = 0.8  # of other figures
# That a study should need at most, and up to which more are set tighter.
STUDY_PAGES, TIGHTER_PAGES = 6, 8
# What else is tried so that the last page is full enough: air between lines, other figures, tables.
LESS_AIR, MORE_AIR, SMALLER, LARGER = (0.92, 0.84), (1.12, 1.24), 0.7, 0.88
LEAST_FILL = 0.36  # of the last page: a third, and what stands below the last line


class Fit(TypedDict):
    """Whether there are contents, and the share of their width that figures keep, by place.

    And whether long tables of two columns stand in two halves, and the share of the air between
    lines that is left.
    """

    contents: bool
    halved: bool
    air: float
    front: float
    body: float


class PagePlace(TypedDict):
    """A place of the document, its page, and how far below the page's top it is (pt)."""

    name: str
    page: int
    y: float


PLAIN = Fit(contents=False, halved=True, air=1.0, front=1.0, body=BODY_SCALE)
Places = dict[str, PagePlace]


def fitted(places: Callable[[Fit], Places], document: Document) -> Fit:
    """Return how `document` is set; `places` sets it to find out, a few times.

    Findings, figure and advice stand on the first page where the figure can give way so far; the
    last page is a third full, and a study has its few pages, where other air, larger figures or
    whole tables can do that.
    """
    found = places(PLAIN)
    fit = PLAIN.copy()
    scale, advice = _front(found, document)
    if scale < 1:
        tried = places({**fit, "front": scale})
        if tried[advice]["page"] == FIRST:
            fit["front"], found = scale, tried
    if found["end"]["page"] > MANY_PAGES:
        fit["contents"] = True
        found = places(fit)
    others: list[Fit] = [{**fit, "air": air} for air in LESS_AIR]
    others += [{**others[-1], "body": SMALLER}]
    others += [{**fit, "body": LARGER}, {**fit, "halved": False}]
    others += [{**fit, "air": air} for air in MORE_AIR]
    least = _last(found)
    for other in others:
        almost_empty, pages = least
        if not almost_empty and not STUDY_PAGES < pages <= TIGHTER_PAGES:
            break
        if (last := _last(places(other))) < least:
            fit, least = other, last
    return fit


def _last(found: Places) -> tuple[bool, int]:
    """Return whether the last page is almost empty, and not the only one; and its number."""
    end = found["end"]
    empty = end["page"] > FIRST and end["y"] < TOP_PT + HIGH_PT * LEAST_FILL
    return empty, end["page"]


def _front(found: Places, document: Document) -> tuple[float, str]:
    """Return the share of its width that the front's figure keeps, and the advice's place.

    That is one where advice stands on the first page already, or cannot.
    """
    front = [*enumerate(document.blocks[: document.front])]
    drawn = [(place, block) for place, block in front if isinstance(block, Figure)]
    tables = [place for place, block in front if isinstance(block, Table) and block.caption]
    if not (drawn and tables and drawn[-1][0] < tables[-1]):
        return 1.0, ""
    (place, figure), advice = drawn[-1], str(tables[-1])
    begins, ends = found[f"{advice} begins"], found[advice]
    if found[str(place)]["page"] != FIRST or ends["page"] != SECOND:
        return 1.0, advice
    high = WIDTH_PT * svg.height_pt(figure.svg) / svg.width_pt(figure.svg)
    if begins["page"] == FIRST:  # it breaks: its rows on the second page, less a head, are over
        over = ends["y"] - TOP_PT
    else:
        needed = found[str(place)]["y"] + CAPTIONS_PT + ends["y"] - begins["y"]
        over = needed - TOP_PT - HIGH_PT
    scale = 1 - over / high
    return (scale if LEAST_SCALE <= scale < 1 else 1.0), advice
