"""The functions of the language of rules. `parts` are what stands in the brackets, `along` the factor they go along."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import pairwise
from math import floor, inf, log, sqrt
from typing import Any

from ipclab.frames.address import Axes, MissingError
from ipclab.frames.expression import MAKE, PLAIN, Compute, RuleError, Source, Values
from ipclab.stats.quantity import Quantity, of

Function = Callable[[Source, list[Compute], str], Values]
NONE: Axes = frozenset()


def _all(source: Source, parts: Iterable[Compute], _: str) -> Values:
    """Return every value of all parts."""
    found = [part(source) for part in parts]
    cells = {axes | {("part", place)}: each for place, part in enumerate(found) for axes, each in part.cells.items()}
    return Values(cells if len(found) > 1 else found[0].cells, found[0].dimension)


def _end(pick: Callable[..., Quantity]) -> Function:
    def make(source: Source, parts: list[Compute], along: str) -> Values:
        found = _all(source, parts, along)
        return Values({NONE: pick(found.cells.values(), key=lambda each: each.value)}, found.dimension)

    return make


def _count(source: Source, parts: list[Compute], along: str) -> Values:
    try:
        return Values({NONE: of(len(_all(source, parts, along).cells))})
    except MissingError:
        if not any(map(len, source.frames.values())):
            raise
        return Values({NONE: of(0)})


def _steps(sign: str) -> Function:
    """Return what compares each value with the one before, in the order of the factor `along`."""

    def make(source: Source, parts: list[Compute], along: str) -> Values:
        found = parts[0](source)
        rows: dict[Axes, list[tuple[Any, Quantity]]] = {}
        for axes, each in found.cells.items():
            others = frozenset(pair for pair in axes if pair[0] != along)
            rows.setdefault(others, []).append((dict(axes).get(along), each))
        cells = {
            axes | {(along, level)}: MAKE[sign](after, before)
            for axes, row in rows.items()
            for (_, before), (level, after) in pairwise(sorted(row, key=lambda pair: pair[0]))
        }
        if not cells:
            raise MissingError(along)
        return Values(cells, found.dimension if sign == "-" else PLAIN)

    return make


def _mapped(change: Callable[[float], float]) -> Function:
    """Return what applies a rising function to plain numbers and to the ends of their intervals."""

    def changed(each: Quantity) -> Quantity:
        low, high = (None, None) if each.low is None else map(change, each.ends)
        return replace(each, value=change(each.value), low=low, high=high)

    def make(source: Source, parts: list[Compute], _: str) -> Values:
        found = parts[0](source)
        if found.dimension != PLAIN:
            raise RuleError(f"it takes a plain number, not {found.named}")
        return Values({axes: changed(each) for axes, each in found.cells.items()})

    return make


def _about(source: Source, parts: list[Compute], _: str) -> Values:
    """Return the first part with an interval as far on both sides as the second says."""
    middle, margin = (next(iter(part(source).cells.values())).value for part in parts)
    return Values({NONE: Quantity(middle, "1", middle - margin, middle + margin)}, parts[0](source).dimension)


FUNCTIONS: dict[str, Function] = {
    **{"each": _all, "min": _end(min), "max": _end(max), "count": _count},
    **{"growth": _steps("/"), "change": _steps("-"), "about": _about},
    "log": _mapped(lambda x: log(x) if 0 < x < inf else x if x > 0 else -inf),
    **{"floor": _mapped(floor), "sqrt": _mapped(lambda x: sqrt(max(x, 0.0)))},
}
ALONG = ("growth", "change")  # the functions whose last word is a factor
