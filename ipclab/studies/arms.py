"""The points of a study from a table of data beside its module: each arm is the product of its factors.

A row of `[[arm]]` gives each factor one level or a list; `$name` stands for levels that the study knows, and a table
in a list sets several factors at once, its own product. `[usual]` has the levels that a row leaves out, `[brief]` the
levels that a quick run leaves out. Beside the
levels stand `block` and `primary` (ops, apart by spaces), in which `{factor}` stands for its level.
"""

import tomllib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from ipclab.store.point import Point

FILE = "arms.toml"
Levels = dict[str, Any]
Known = Mapping[str, Sequence[Any]]


@cache
def table(file: Path) -> dict[str, Any]:
    """Return the tables in the TOML `file`."""
    return tomllib.loads(file.read_text("utf-8"))


def _expanded(row: Levels, known: Known) -> Iterator[Levels]:
    """Yield the product of the factors in `row`."""
    for chosen in product(*([*_choices(name, value, known)] for name, value in row.items())):
        yield {name: level for part in chosen for name, level in part.items()}


def _choices(name: str, value: Any, known: Known) -> Iterator[Levels]:
    for each in value if isinstance(value, list | tuple) else [value]:
        if isinstance(each, dict):
            yield from _expanded(each, known)
        elif isinstance(each, str) and each.startswith("$"):
            yield from _choices(name, [*known[each[1:]]], known)
        else:
            yield {name: each}


def points(
    study: str, file: Path, backends: Container[str], whole: Callable[[Levels], Levels], known: Known
) -> list[Point]:
    """Return the points of `backends` in the arms of `file`, each once, those of one block together.

    `$name` stands for the levels `known[name]`; `whole` completes the levels of a point with what follows from them.
    """
    usual, found = table(file).get("usual", {}), dict[str, Point]()
    every = (usual | each for row in table(file)["arm"] for each in _expanded(row, known))
    for levels in (whole(each) for each in every if each["backend"] in backends):
        block, primary = (str(levels.pop(name)).format(**levels) for name in ("block", "primary"))
        backend, size, placement = (levels.pop(name) for name in ("backend", "size", "placement"))
        point = Point(study, backend, size, placement, levels, block, tuple(primary.split()))
        found[point.id] = point
    blocks = list(dict.fromkeys(point.block for point in found.values()))
    return sorted(found.values(), key=lambda point: blocks.index(point.block))


def without(points: Sequence[Point], file: Path) -> list[Point]:
    """Return `points` without those that have the levels (or one of a list) of a row of `[brief]` in `file`."""
    rows = table(file).get("brief", {}).get("leave", []) if file.is_file() else []

    def has(point: Point, row: Levels) -> bool:
        levels = {**point.key(), "size": point.size_bytes}
        return all(levels.get(name) in (value if isinstance(value, list) else [value]) for name, value in row.items())

    return [point for point in points if not any(has(point, row) for row in rows)]
