"""A report's first page: where the run comes from, what was found, what cells tagged `front` show."""

from collections.abc import Sequence
from dataclasses import replace

from ipclab.report.pages.outputs import LEAD, Seen, Unread
from ipclab.report.pages.pandoc import Tree

FRONT = "front"  # the tag of such cells


def stands(seen: Seen) -> bool:
    """Tell whether what a cell shows is on the first page."""
    return FRONT in seen.tags or leads(seen)


def leads(seen: Seen) -> bool:
    """Tell whether that is one of the findings that a report begins with."""
    return isinstance(seen.shown, Unread) and seen.shown.found == LEAD


def one_list(found: Sequence[Seen]) -> list[Seen]:
    """Return what cells show with all findings, which are Markdown, as one text of the first.

    A finding stands in the notebook below its figure; a report counts them through.
    """
    texts = [seen.shown for seen in found if isinstance(seen.shown, Unread) and leads(seen)]
    whole = "\n\n".join(text.source.strip() for text in texts)
    kept = []
    for seen in found:
        if texts and seen.shown is texts[0]:
            kept.append(seen._replace(shown=replace(texts[0], source=whole)))
        elif not leads(seen):
            kept.append(seen)
    return kept


def report_order(found: Sequence[Seen], trees: dict[int, Tree]) -> list[Seen]:
    """Return what cells show in the order of a report: where a run comes from, what is in front."""

    def place(seen: Seen) -> int:
        if seen is found[0] and is_origin(trees.get(id(seen.shown), [])):
            return 0
        return 1 if leads(seen) else 2 if FRONT in seen.tags else 3

    return sorted(found, key=place)


def is_origin(prose: Tree) -> bool:
    """Tell whether prose is one bold paragraph, as what says that a run was not measured here."""
    match prose:
        case [{"t": "Para", "c": [{"t": "Strong"}]}]:
            return True
    return False
