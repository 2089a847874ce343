"""A report's first page: where the run comes from, what was found, what cells tagged `front` show."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeVar

from ipclab.report.pages.outputs import LEAD, Shown, Unread
from ipclab.report.pages.pandoc import Tree

FRONT = "front"  # the tag of such cells
Origin = TypeVar("Origin")
Found = Sequence[tuple[Origin, list[str], Shown]]


def stands(tags: Collection[str], shown: Shown) -> bool:
    """Tell whether what a cell of these tags shows is on the first page."""
    return FRONT in tags or leads(shown)


def leads(shown: Shown) -> bool:
    """Tell whether that is one of the findings that a report begins with."""
    return isinstance(shown, Unread) and shown.found == LEAD


def one_list(found: Found[Origin]) -> list[tuple[Origin, list[str], Shown]]:
    """Return what cells show with all findings, which are Markdown, as one text of the first.

    A finding stands in the notebook below its figure; a report counts them through.
    """
    told = [each for each in found if leads(each[2])]
    if not told:
        return [*found]
    origin, tags, first = told[0]
    assert isinstance(first, Unread)  # noqa: S101  for the type checker
    text = "\n\n".join(each.source.strip() for _, _, each in told if isinstance(each, Unread))
    whole = origin, tags, replace(first, source=text)
    gone = {id(each) for each in told[1:]}
    kept = [each for each in found if id(each) not in gone]
    return [whole if each is told[0] else each for each in kept]


def report_order(
    found: Found[Origin], trees: dict[int, Tree]
) -> list[tuple[Origin, list[str], Shown]]:
    """Return what cells show in the order of a report: where a run comes from, what is in front."""

    def place(each: tuple[Origin, list[str], Shown]) -> int:
        _, tags, shown = each
        if each is found[0] and is_origin(trees.get(id(shown), [])):
            return 0
        return 1 if leads(shown) else 2 if FRONT in tags else 3

    return sorted(found, key=place)


def is_origin(prose: Tree) -> bool:
    """Tell whether prose is one bold paragraph, as what says that a run was not measured here."""
    match prose:
        case [{"t": "Para", "c": [{"t": "Strong"}]}]:
            return True
    return False
