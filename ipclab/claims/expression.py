"""Expressions that were read: terms, and the functions of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise
from math import floor, inf, isfinite, log, sqrt
from operator import add, mul, sub, truediv
from typing import Any

import pandas as pd

from ipclab.claims.values import Operator, Values, ValueSource
from ipclab.frames.address import Address, Axes, MissingError
from ipclab.prose.language import RuleError
from ipclab.prose.units import PLAIN, UNITS
from ipclab.stats.quantity import Quantity, of

DEEPEST = 100  # parts inside each other
Compute = Callable[[ValueSource], Values]


class Term:
    """An expression that was read: how to compute it, the addresses it names, its depth.

    The addresses are in order; the depth is how many parts stand inside each other, names included.
    Raises `RuleError` when these are too many.
    """

    def __init__(
        self, compute: Compute, parts: Sequence["Term"] = (), addresses: Iterable[Address] = ()
    ) -> None:
        self.compute = compute
        every = chain(addresses, *(part.addresses for part in parts))
        self.addresses: tuple[Address, ...] = tuple(dict.fromkeys(every))
        self.depth: int = 1 + max((part.depth for part in parts), default=-1)
        if self.depth > DEEPEST:
            why = f"more than {DEEPEST} parts stand inside each other"
            raise RuleError(why, "say it with fewer")

    def _with(self, combine: Operator, other: "Term | float", turned: bool = False) -> "Term":
        """Return arithmetic of both, of which a number is exact."""
        two = other if isinstance(other, Term) else constant(of(other))
        first, last = (two, self) if turned else (self, two)
        return Term(partial(joined, combine, first, last), [first, last])

    def __add__(self, other: "Term | float") -> "Term":
        return self._with(add, other)

    def __sub__(self, other: "Term | float") -> "Term":
        return self._with(sub, other)

    def __mul__(self, other: "Term | float") -> "Term":
        return self._with(mul, other)

    def __truediv__(self, other: "Term | float") -> "Term":
        return self._with(truediv, other)

    def __radd__(self, other: float) -> "Term":
        return self._with(add, other, turned=True)

    def __rsub__(self, other: float) -> "Term":
        return self._with(sub, other, turned=True)

    def __rmul__(self, other: float) -> "Term":
        return self._with(mul, other, turned=True)

    def __rtruediv__(self, other: float) -> "Term":
        return self._with(truediv, other, turned=True)

    @property
    def is_address(self) -> bool:
        """Whether it is an address and nothing else."""
        return self.depth == 0 and len(self.addresses) == 1

    def __call__(self, source: ValueSource) -> Values:
        """Return its values; raises `MissingError`, and `RuleError` for unlike dimensions."""
        return self.compute(source)


NONE: Axes = frozenset()


def looked_up(address: Address) -> Term:
    """Return the values at an address."""
    return Term(lambda source: source.values(address), addresses=[address])


def constant(amount: Quantity) -> Term:
    """Return an exact amount."""
    step, dimension = UNITS[amount.unit]
    value = Quantity(amount.value * step, kind="computed")
    return Term(lambda _: Values({NONE: value}, dimension))


def applied(name: str, *parts: Term | float, along: Sequence[str] = ()) -> Term:
    """Return one of `FUNCTIONS` of terms; `along` is the factor of those that take steps."""
    terms = [part if isinstance(part, Term) else constant(of(part)) for part in parts]
    term = Term(partial(call, name, terms, along), terms)
    if name in DEFINED and not term.addresses:
        try:
            term(ValueSource(lambda study: pd.DataFrame()))
        except MissingError as error:
            raise RuleError(str(error), "take what is above 0") from error
    return term


def _each(*parts: Values) -> Values:
    """Return every value of all parts."""
    if len(parts) == 1:
        return parts[0]
    cells = {
        _in_part(place, axes): cell
        for place, part in enumerate(parts)
        for axes, cell in part.cells.items()
    }
    return Values(cells, parts[0].dimension)


def _in_part(place: int, axes: Axes) -> Axes:
    """Return the axes with their place among the parts before the places within that part."""
    within = dict(axes).get("part", ())
    return frozenset(pair for pair in axes if pair[0] != "part") | {("part", (place, *within))}


def _end(pick: Callable[..., Quantity], *parts: Values) -> Values:
    """Return the least or the greatest value of all parts."""
    every = _each(*parts)
    return Values({NONE: pick(every.cells.values(), key=lambda cell: cell.value)}, every.dimension)


def _steps(combine: Operator, values: Values, along: str) -> Values:
    """Return each value compared with the one before, in the order of the factor `along`."""
    rows: dict[Axes, list[tuple[Any, Quantity]]] = {}
    for axes, value in values.cells.items():
        others = frozenset(pair for pair in axes if pair[0] != along)
        rows.setdefault(others, []).append((dict(axes).get(along), value))
    cells = {
        axes | {(along, level)}: combine(after, before)
        for axes, row in rows.items()
        for (_, before), (level, after) in pairwise(sorted(row, key=lambda pair: pair[0]))
    }
    if not cells:
        raise MissingError(along)
    return Values(cells, values.dimension if combine is sub else PLAIN)


def _floor(x: float) -> float:
    return floor(x) if isfinite(x) else x


def _log(x: float) -> float:
    if x <= 0:
        return -inf
    return log(x) if isfinite(x) else x


# where a function has a value; an end of an interval may lie beyond
DEFINED: Mapping[str, Callable[[float], bool]] = {
    "log": lambda x: x > 0,
    "sqrt": lambda x: x >= 0,
}


def _mapped(name: str, change: Callable[[float], float], values: Values) -> Values:
    """Return plain numbers and the ends of their intervals by a rising function of them.

    Raises `MissingError` where a value has none.
    """
    if values.dimension != PLAIN:
        raise RuleError(f"it takes a plain number, not {values.named}")
    cells = {}
    for axes, value in values.cells.items():
        if name in DEFINED and not DEFINED[name](value.value):
            raise MissingError(f"{name} has no value at {value.value:g}")
        changed = replace(value, value=change(value.value), low=None, high=None)
        if value.low is not None:
            low, high = map(change, value.ends)
            changed = replace(changed, low=low, high=high)
        cells[axes] = changed
    return Values(cells)


def _about(middle_of: Values, margin: Values) -> Values:
    """Return the first value with an interval as far on both sides as the second says."""
    middle = next(iter(middle_of.cells.values())).value
    far = next(iter(margin.cells.values())).value
    return Values({NONE: Quantity(middle, "1", middle - far, middle + far)}, middle_of.dimension)


FUNCTIONS: dict[str, Callable[..., Values]] = {
    "each": _each,
    "min": partial(_end, min),
    "max": partial(_end, max),
    "growth": partial(_steps, truediv),
    "change": partial(_steps, sub),
    "count": lambda *parts: Values({NONE: of(len(_each(*parts).cells))}),
    "about": _about,
    "log": partial(_mapped, "log", _log),
    "floor": partial(_mapped, "floor", _floor),
    "sqrt": partial(_mapped, "sqrt", lambda x: sqrt(max(x, 0.0))),
}
ALONG = ("growth", "change")  # the functions whose last word is a factor


def joined(combine: Operator, first: Compute, second: Compute, source: ValueSource) -> Values:
    """Return what arithmetic gives of two expressions; `RuleError` where it gives nothing."""
    one = first(source)
    other = second(source)
    source.work.take(1 + len(one.cells) * len(other.cells))
    return one.joined(combine, other)


def call(name: str, parts: Sequence[Compute], along: Sequence[str], source: ValueSource) -> Values:
    """Return what a function gives; raises `RuleError` for parts that it does not take."""
    try:
        computed = [part(source) for part in parts]
        source.work.take(1 + sum(len(values.cells) for values in computed))
        return FUNCTIONS[name](*computed, *along)
    except MissingError:
        if name != "count" or not any(map(len, source.frames.values())):
            raise
        return Values({NONE: of(0)})
    except TypeError as error:
        raise RuleError(f"{name} does not take {len(parts)} parts") from error
