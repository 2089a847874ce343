"""The order of a report: findings on its first page and as captions, no section without a value."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from ipclab.lab.figure import Figure
from ipclab.report.pages.outputs import LEAD, Absent, Prose, Seen, Unread
from ipclab.report.pages.pandoc import Tree, text_of, tree_nodes

FRONT = "front"  # the tag of cells that stand on the first page
# Marks of emphasis, quotes and references stay with the sentence that they end.
_STOP = re.compile(r"[.!?][*_”’\"』」）)\]]*(?=\s|$)|[。！？][*_”’\"』」）)\]]*")
_PAIRS = (("“", "”"), ("「", "」"), ("『", "』"), ("（", "）"), ("(", ")"))


def lead(seen: Seen) -> Unread | None:
    """Return what a cell shows when it is one of the findings that a report begins with."""
    shown = seen.shown
    return shown if isinstance(shown, Unread) and shown.found == LEAD else None


def stands(seen: Seen) -> bool:
    """Tell whether what a cell shows is on the first page."""
    return FRONT in seen.tags or lead(seen) is not None


def is_origin(prose: Tree) -> bool:
    """Tell whether prose is one bold paragraph, as what says that a run was not measured here."""
    match prose:
        case [{"t": "Para", "c": [{"t": "Strong"}]}]:
            return True
    return False


def one_list(found: Sequence[Seen]) -> list[Seen]:
    """Return what cells show with all findings of the front, not yet read, as one text.

    A finding stands in the notebook below its figure; a report counts them through.
    """
    texts = [*filter(None, map(lead, found))]
    whole = "\n\n".join(text.source.strip() for text in texts)
    kept = []
    for seen in found:
        if (text := lead(seen)) is None:
            kept.append(seen)
        elif text is texts[0]:
            kept.append(seen._replace(shown=replace(text, source=whole)))
    return kept


def front_first(found: Sequence[Seen]) -> tuple[list[Seen], list[Seen]]:
    """Return what is on the first page, where a run comes from before all, and what is behind it."""
    if not any(map(stands, found)):
        return [], [*found]
    origin = [*found[:1]] if is_origin(found[0].tree) else []
    others = found[len(origin) :]
    ahead = sorted(filter(stands, others), key=lambda seen: lead(seen) is None)
    return [*origin, *ahead], [seen for seen in others if not stands(seen)]


def caption_findings(found: Sequence[Seen]) -> list[Seen]:
    """Return what cells show, with figures whose captions begin with what was found.

    That is a finding below a figure in its cell, which stands nowhere else then; or what the front
    says of it, where the figure itself does not stand there.
    """
    said: dict[str, str] = {}
    told: list[Seen] = []
    for above, seen in zip([None, *found], found, strict=False):
        finding = isinstance(seen.shown, Unread) and seen.shown.found == "finding"
        if finding and above and isinstance(above.shown, Figure) and above.cell == seen.cell:
            said[above.shown.name] = text_of(seen.tree).strip()
        else:
            told.append(seen)
    beside = {seen.shown.name for seen in told if isinstance(seen.shown, Figure) and stands(seen)}
    for name, sentence in cited(
        node for seen in found if stands(seen) for node in seen.tree
    ).items():
        if name not in beside:
            said.setdefault(name, sentence)
    for place, seen in enumerate(told):
        figure = seen.shown
        if isinstance(figure, Figure) and (text := said.get(figure.name)):
            space = "" if text.endswith("。") or not figure.caption else " "
            figure = replace(figure, caption=f"{text}{space}{figure.caption}")
            told[place] = seen._replace(shown=figure)
    return told


def cited(nodes: Iterable[Any]) -> dict[str, str]:
    """Return by name of a figure or table the first sentence of the first list item that cites it."""
    said: dict[str, str] = {}
    for node in nodes:
        for item in node["c"][1] if node["t"] == "OrderedList" else ():
            for each in tree_nodes(item):
                match each:
                    case {"t": "Link", "c": [_, _, [str(url), _]]} if url.startswith("#"):
                        said.setdefault(url[1:], first_sentence(item))
    return said


def first_sentence(item: Tree) -> str:
    """Return the first sentence of an item; what is quoted or in brackets is within one."""
    text = text_of(item)
    for stop in _STOP.finditer(text):
        piece = text[: stop.end()]
        if all(piece.count(first) == piece.count(last) for first, last in _PAIRS):
            return piece.strip()
    return text.strip()


def without_absent(blocks: Sequence[Seen]) -> list[Seen]:
    """Return the blocks of sections that show something, or that hold text alone."""
    parts = [part for seen in blocks for part in _at_headings(seen)]
    levels = [_level(part) for part in parts]
    kept: list[Seen] = []
    end = 0
    for place, (part, level) in enumerate(zip(parts, levels, strict=True)):
        if place < end:  # in a section that is left out
            continue
        if level:
            after = (at for at in range(place + 1, len(parts)) if 0 < levels[at] <= level)
            until = next(after, len(parts))
            shown = [each for each in parts[place:until] if not each.written]
            absent = [each for each in shown if isinstance(each.shown, Absent)]
            if absent and len(absent) == len(shown):
                end = until
                continue
        if not isinstance(part.shown, Absent):
            kept.append(part)
    return kept


def _at_headings(seen: Seen) -> Iterator[Seen]:
    """Yield text in pieces, each of which begins with a heading or has none."""
    if not (seen.written and isinstance(seen.shown, Prose)):
        yield seen
        return
    begins = [
        place for place, node in enumerate(seen.shown.tree) if node["t"] == "Header" and place
    ]
    for begin, end in pairwise([0, *begins, len(seen.shown.tree)]):
        yield seen._replace(shown=Prose(seen.shown.tree[begin:end]))


def _level(seen: Seen) -> int:
    """Return the level of the heading that a block begins with; 0 without one."""
    match seen:
        case Seen(shown=Prose([{"t": "Header", "c": [level, *_]}, *_]), written=True):
            return int(level)
    return 0
