"""How a report fits its pages: figures give way, and contents stand where they are needed."""

from collections.abc import Callable
from typing import TypedDict

from ipclab.lab.figure import Figure
from ipclab.tables.table import Table
from ipclab_report.pages import svg
from ipclab_report.pages.document import Document

WIDTH_PT = 470  # of a page in print
TOP_PT, HIGH_PT = 65, 720  # where its text begins, and how high that is
CAPTIONS_PT = 70  # what stands between the first figure and the advice, with captions and air
FIRST, SECOND = 1, 2
MANY_PAGES = 8  # above which a document has contents
LEAST_SCALE = 0.68  # of a figure on the first page, so that what to do stands there, too
BODY_SCALE = 0.8  # of other figures
OTHERS = 0.72, 0.88  # so that the last page is not almost empty


class Fit(TypedDict):
    """Whether there are contents, and the share of their width that figures keep, by place.

    And whether long tables of two columns stand in two halves.
    """

    contents: bool
    halved: bool
    front: float
    body: float


class PagePlace(TypedDict):
    """A place of the document, its page, and how far below the page's top it is (pt)."""

    name: str
    page: int
    y: float


PLAIN = Fit(contents=False, halved=True, front=1.0, body=BODY_SCALE)
Places = dict[str, PagePlace]


def fitted(places: Callable[[Fit], Places], document: Document) -> Fit:
    """Return how `document` is set; `places` sets it to find out, a few times.

    Findings, figure and advice stand on the first page where the figure can give way so far, and
    the last page is a third full where other figures can, smaller or larger, or with whole tables.
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
    others: list[Fit] = [{**fit, "body": scale} for scale in OTHERS]
    others.append({**fit, "halved": False})
    for other in others if _is_almost_empty(found) else ():
        if not _is_almost_empty(places(other)):
            return other
    return fit


def _is_almost_empty(found: Places) -> bool:
    """Tell whether the last page, which is not the only one, is less than a third full."""
    end = found["end"]
    return end["page"] > FIRST and end["y"] < TOP_PT + HIGH_PT / 3


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
    if found[str(place)]["page"] != FIRST or begins["page"] != SECOND or ends["page"] != SECOND:
        return 1.0, advice
    high = WIDTH_PT * svg.height_pt(figure.svg) / svg.width_pt(figure.svg)
    needed = found[str(place)]["y"] + CAPTIONS_PT + ends["y"] - begins["y"]
    scale = 1 - (needed - TOP_PT - HIGH_PT) / high
    return (scale if LEAST_SCALE <= scale < 1 else 1.0), advice
