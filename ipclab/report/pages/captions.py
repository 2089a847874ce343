"""Captions that say what was found, before what is shown: in sentences that a notebook has."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, pairwise

from ipclab.lab.figure import Figure
from ipclab.report.pages import front
from ipclab.report.pages.outputs import Seen, Unread
from ipclab.report.pages.pandoc import Tree, text_of, tree_nodes

# Marks of emphasis, quotes and references stay with the sentence that they end.
_STOP = re.compile(r"[.!?][*_”’\"』」）)\]]*(?=\s|$)|[。！？][*_”’\"』」）)\]]*")
_PAIRS = (("“", "”"), ("「", "」"), ("『", "』"), ("（", "）"), ("(", ")"))


def caption_findings(found: Sequence[Seen], trees: dict[int, Tree]) -> list[Seen]:
    """Return what cells show, with figures whose captions begin with what was found.

    That is a finding below a figure in its cell, which stands nowhere else then; or the first
    sentence of the first finding of the front that refers to it.
    """
    said: dict[str, str] = {}
    taken: set[int] = set()
    for (here, _, above), (cell, _, shown) in pairwise(found):
        finding = isinstance(shown, Unread) and shown.found == "finding" and here == cell
        if finding and isinstance(above, Figure):
            said[above.name] = text_of(trees.get(id(shown), [])).strip()
            taken.add(id(shown))
    for seen in found:
        if front.stands(seen):
            tree = trees.get(id(seen.shown), [])
            lists = [node for node in tree if node["t"] == "OrderedList"]
            for item in chain.from_iterable(each["c"][1] for each in lists):
                for name in _named(item):
                    said.setdefault(name, _first_sentence(item))
    told = []
    for seen in found:
        if isinstance(seen.shown, Figure):
            figure = _with_finding(seen.shown, said.get(seen.shown.name, ""))
            told.append(seen._replace(shown=figure))
        elif id(seen.shown) not in taken:
            told.append(seen)
    return told


def _named(item: Tree) -> list[str]:
    """Return the names of what an item refers to (`[](#name)`)."""
    links = [node["c"] for node in tree_nodes(item) if node["t"] == "Link"]
    return [url[1:] for _, said, (url, _) in links if url.startswith("#") and not said]


def _first_sentence(item: Tree) -> str:
    """Return the first sentence of an item; what is quoted or in brackets is within one."""
    text = text_of(item)
    for stop in _STOP.finditer(text):
        piece = text[: stop.end()]
        if all(piece.count(first) == piece.count(last) for first, last in _PAIRS):
            return piece.strip()
    return text.strip()


def _with_finding(figure: Figure, said: str) -> Figure:
    space = "" if said.endswith("。") or not figure.caption else " "
    return replace(figure, caption=f"{said}{space}{figure.caption}") if said else figure
