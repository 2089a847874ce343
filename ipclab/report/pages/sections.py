"""Sections of a report: one whose figures, tables and findings are all absent is left out."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ipclab.report.pages.outputs import Absent, Prose
from ipclab.report.pages.pandoc import Tree


class Placed(NamedTuple):
    """A block, the cell that it comes from, and whether it is text that a person wrote."""

    block: Any
    origin: Any
    written: bool


def measured(blocks: Sequence[Placed]) -> list[Placed]:
    """Return the blocks of sections that show something, or that hold text alone."""
    parts = [part for placed in blocks for part in _at_headings(placed)]
    kept: list[Placed] = []
    place = 0
    while place < len(parts):
        end = _end(parts, place)
        inside = parts[place:end]
        lacks = any(isinstance(part.block, Absent) for part in inside)
        shows = any(not part.written and not isinstance(part.block, Absent) for part in inside)
        if _level(parts[place]) and lacks and not shows:
            place = end
            continue
        if not isinstance(parts[place].block, Absent):
            kept.append(parts[place])
        place += 1
    return kept


def _at_headings(placed: Placed) -> Iterator[Placed]:
    """Yield text in pieces, each of which begins with a heading or has none."""
    if not (placed.written and isinstance(placed.block, Prose)):
        yield placed
        return
    piece: Tree = []
    for node in placed.block.tree:
        if node["t"] == "Header" and piece:
            yield placed._replace(block=Prose(piece))
            piece = []
        piece.append(node)
    yield placed._replace(block=Prose(piece))


def _level(placed: Placed) -> int:
    """Return the level of the heading that a block begins with; 0 without one."""
    block = placed.block
    if placed.written and isinstance(block, Prose) and block.tree:
        first = block.tree[0]
        return int(first["c"][0]) if first["t"] == "Header" else 0
    return 0


def _end(parts: Sequence[Placed], begin: int) -> int:
    """Return where the section that begins at a place ends."""
    level = _level(parts[begin])
    for place in range(begin + 1, len(parts)):
        if 0 < _level(parts[place]) <= level:
            return place
    return len(parts)
