"""A report's first page: what was found, then what cells tagged `front` show."""

from collections.abc import Collection, Sequence
from typing import Any, TypeVar

from ipclab.report.pages.outputs import Shown, Unread
from ipclab.report.pages.pandoc import Tree

FRONT, FINDING = "front", "finding"
Origin = TypeVar("Origin")


def stands(tags: Collection[str]) -> bool:
    """Tell whether a cell of these tags is on the first page."""
    return FRONT in tags or FINDING in tags


def report_order(
    found: Sequence[tuple[Origin, list[str], Shown]], trees: dict[int, Tree]
) -> list[tuple[Origin, list[str], Shown]]:
    """Return what cells show in the order of a report: where a run comes from, what is in front.

    A finding stands in the notebook below its figure. Here all are one list, those decided first.
    """

    def place(each: tuple[Origin, list[str], Shown]) -> int:
        _, tags, shown = each
        if each is found[0] and is_origin(trees.get(id(shown), [])):
            return 0
        if FINDING in tags:
            return 2 if isinstance(shown, Unread) and shown.is_open else 1
        return 3 if FRONT in tags else 4

    in_order = sorted(found, key=place)
    lists: list[dict[str, Any]] = []
    for _, tags, shown in in_order:
        tree = trees.get(id(shown), [])
        if FINDING in tags and tree and tree[0]["t"] == "OrderedList":
            lists.append(tree.pop(0) if lists else tree[0])
    for more in lists[1:]:
        lists[0]["c"][1] += more["c"][1]
    return in_order


def decided(
    found: Sequence[tuple[Origin, list[str], Shown]],
    trees: dict[int, Tree],
    some: str,
    most: str,
) -> list[tuple[Origin, list[str], Shown]]:
    """Return what cells show without findings that are not decided, but with how many these are.

    `some` says so, with {open} and {count}, behind the last list of findings. Where more than half
    of them are open, none is told: what is left would stand for the study; `most` says that.
    """
    lists = list[tuple[int, list[Tree], int]]()
    for place, (_, tags, shown) in enumerate(found):
        tree = trees.get(id(shown), [])
        if stands(tags) and isinstance(shown, Unread) and tree and tree[0]["t"] == "OrderedList":
            lists.append((place, tree[0]["c"][1], shown.open_items))
    opened = sum(each for _, _, each in lists)
    count = sum(len(items) for _, items, _ in lists)
    if not opened:
        return [*found]
    mostly_open = 2 * opened > count
    for place, items, open_here in lists:
        del items[0 if mostly_open else len(items) - open_here :]
        if not items:
            trees[id(found[place][2])].pop(0)
    text = (most if mostly_open else some).replace("{open}", str(opened))
    line = Unread("", text.replace("{count}", str(count)), {})
    trees[id(line)] = [{"t": "Para", "c": [{"t": "Str", "c": line.source}]}]
    last = lists[-1][0]
    origin, tags, _ = found[last]
    return [*found[: last + 1], (origin, tags, line), *found[last + 1 :]]


def is_origin(prose: Tree) -> bool:
    """Tell whether prose is one bold paragraph, as what says that a run was not measured here."""
    match prose:
        case [{"t": "Para", "c": [{"t": "Strong"}]}]:
            return True
    return False
