"""The language of rules: addresses of values, numbers with units, arithmetic, a few functions, and one comparison.

    rule    = sum ("at_least" | "at_most" | "above" | "below" | "exactly") amount | sum "between" amount "and" amount
    sum     = product (("+" | "-") product)*
    product = factor (("*" | "/") factor)*
    factor  = amount | address | name | function "(" sum ("," sum | "," factor's name)* ")" | "(" sum ")"
    amount  = ["-"] number [unit]

An address that names several values gives all of them: arithmetic pairs those of equal levels. `min(...)`, `max(...)` take
one of them, `each(...)` says that every one is meant. Nothing is executed; the rule is parsed here.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import floor, inf, isfinite, log, sqrt
from typing import Any

from ipclab.errors import nearest
from ipclab.frames.address import PATTERN, Address, Axes, MissingError, Points, Rows, quantity
from ipclab.stats.quantity import Quantity, of

Dimension = tuple[int, int]  # powers of seconds and bytes
PLAIN: Dimension = (0, 0)
# Unit: its factor to seconds and bytes, and its dimension.
UNITS: dict[str, tuple[float, Dimension]] = {
    **{"ns": (1e-9, (1, 0)), "us": (1e-6, (1, 0)), "ms": (1e-3, (1, 0)), "s": (1.0, (1, 0))},
    **{"B": (1.0, (0, 1)), "kB": (1e3, (0, 1)), "MB": (1e6, (0, 1)), "GB": (1e9, (0, 1))},
    **{"KiB": (2.0**10, (0, 1)), "MiB": (2.0**20, (0, 1)), "GiB": (2.0**30, (0, 1))},
    **{"B/s": (1.0, (-1, 1)), "kB/s": (1e3, (-1, 1)), "MB/s": (1e6, (-1, 1)), "GB/s": (1e9, (-1, 1))},
    **{"1/s": (1.0, (-1, 0)), "%": (0.01, PLAIN), "share": (1.0, PLAIN), "1": (1.0, PLAIN), "count": (1.0, PLAIN)},
}
# What a result of each dimension is shown in.
SHOWN: dict[Dimension, str] = {(1, 0): "ns", (0, 1): "B", (-1, 1): "B/s", (-1, 0): "1/s", PLAIN: "1"}
DIMENSION_NAMES = {(1, 0): "a time", (0, 1): "bytes", (-1, 1): "bytes/s", (-1, 0): "a rate", PLAIN: "a plain number"}
_WRITTEN = [unit for unit in UNITS if unit not in ("1", "share", "count")]
_UNIT = "|".join(re.escape(unit) for unit in sorted(_WRITTEN, key=len, reverse=True))
_NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_AMOUNT = re.compile(rf"(?P<minus>-)?\s*(?P<number>{_NUMBER})(?:\s*(?P<unit>{_UNIT}))?")
_TOKEN = re.compile(
    rf"\s*(?:(?P<address>{PATTERN})|(?P<number>{_NUMBER})(?:\s*(?P<unit>{_UNIT})(?![\w/]))?"
    r"|(?P<name>[A-Za-z_]\w*(?:[.\-]\w+)*)|(?P<sign>[-+*/(),]))"
)
COMPARISONS = ("at_least", "at_most", "above", "below", "exactly", "between")
LONGEST, DEEPEST = 1500, 20


class RuleError(ValueError):
    """A rule that cannot be read: why, and the fix."""

    def __init__(self, why: str, fix: str = "") -> None:
        """Keep both parts."""
        super().__init__(why, fix)
        self.why, self.fix = why, fix


@dataclass(frozen=True)
class Source:
    """Where addresses are looked up: the frames of a run by study, the texts' tables, or amounts given by address.

    `known` are numbers about the run that levels may be multiples of, such as `cpus`. `value` makes a quantity of a row.
    """

    points: Points
    texts: Points | None = None
    known: Mapping[str, float] = field(default_factory=dict)
    given: Mapping[str, Quantity] | None = None
    loose: bool = False
    value: Callable[[Any], Quantity] = quantity
    rows: dict[str, Rows] = field(default_factory=dict, compare=False)
    known_values: dict[Address, "Values"] = field(default_factory=dict, compare=False)

    def find(self, address: Address) -> list[tuple[Axes, Any]]:
        """Return what `Address.find` returns of this source's frames."""
        text = address.text and self.texts is not None
        key = f"text.{address.study}" if text else address.study
        if key not in self.rows:
            self.rows[key] = Rows((self.texts if text and self.texts else self.points)(address.study))
        return address.find(self.rows[key], self.known, self.loose or text)

    def values(self, address: Address) -> "Values":
        """Return the values at an address, in seconds and bytes, found once; raises `MissingError`."""
        if address not in self.known_values:
            self.known_values[address] = self._values(address)
        return self.known_values[address]

    def _values(self, address: Address) -> "Values":
        if self.given is not None:
            if str(address) not in self.given:
                raise MissingError(str(address))
            found = {frozenset[tuple[str, Any]](): self.given[str(address)]}
        else:
            found = {axes: self.value(row) for axes, row in self.find(address)}
        unit = next(iter(found.values())).unit
        step, dimension = UNITS.get(unit, (1.0, PLAIN))
        return Values({axes: each.as_unit("1") * step for axes, each in found.items()}, dimension)


@dataclass(frozen=True)
class Values:
    """Quantities by the levels that tell them apart, in seconds and bytes, and their dimension."""

    cells: dict[Axes, Quantity]
    dimension: Dimension = PLAIN

    def joined(self, sign: str, other: "Values") -> "Values":
        """Return the sums, differences, products or ratios of the values of equal levels."""
        if sign in "+-" and self.dimension != other.dimension:
            raise RuleError(f"{_named(self.dimension)} {sign} {_named(other.dimension)} has no meaning")
        power = {"*": 1, "/": -1}.get(sign, 0)
        a, b = self.dimension, other.dimension
        cells = {
            one | two: _MAKE[sign](first, second)
            for one, first in self.cells.items()
            for two, second in other.cells.items()
            if len(dict(one | two)) == len(one | two)
        }
        return Values(cells, (a[0] + power * b[0], a[1] + power * b[1]))

    def only(self, axes: Axes) -> "Values":
        """Return the value of these levels, or the only one; raises `LookupError` when there is none."""
        return self if len(self.cells) == 1 else Values({axes: self.cells[axes]}, self.dimension)

    def shown(self, unit: str) -> list[Quantity]:
        """Return the quantities in `unit`; raises `RuleError` when their dimension is another."""
        step, dimension = UNITS[unit]
        if dimension != self.dimension:
            raise RuleError(f"it compares {_named(self.dimension)} with {_named(dimension)}", "give the bound its unit")
        return [(each * (1 / step)).as_unit(unit) if step != 1 else each.as_unit(unit) for each in self.cells.values()]


Term = Callable[[Source], Values]
_MAKE: dict[str, Callable[[Quantity, Quantity], Quantity]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
}


@dataclass(frozen=True)
class Rule:
    """A rule that was read: what it compares, its bounds (`open`: not included) and their unit, and how it is written."""

    term: Term
    low: float
    high: float
    unit: str
    open: bool
    text: str


def amount(text: str) -> Quantity:
    """Return a number with a unit, such as `125 MB/s` or `18`, in SI units; raises `RuleError`."""
    match = _AMOUNT.fullmatch(text.strip())
    if not match:
        raise RuleError(f"{text!r} is no number with a unit", f"units are {', '.join(_WRITTEN)}")
    factor, dimension = UNITS[match["unit"] or "1"]
    unit = "share" if match["unit"] == "%" else SHOWN[dimension]
    value = float(f"{match['minus'] or ''}{match['number']}") * factor / UNITS[unit][0]
    if not isfinite(value):
        raise RuleError(f"{text!r} is too large a number")
    return Quantity(value, unit, kind="published")


@lru_cache(maxsize=2000)
def _read(text: str, names: tuple[tuple[str, str], ...], compares: bool) -> "Rule | Term":
    reader = _Reader(text, dict(names))
    return reader.rule() if compares else reader.whole()


def read_rule(text: str, names: Mapping[str, str] | None = None) -> Rule:
    """Return the rule that `text` says; `names` are expressions that it may use by name. Raises `RuleError`."""
    found = _read(text, tuple((names or {}).items()), True)
    assert isinstance(found, Rule)  # noqa: S101
    return found


def read_sum(text: str, names: Mapping[str, str] | None = None) -> Term:
    """Return the expression that `text` says; raises `RuleError`."""
    found = _read(text, tuple((names or {}).items()), False)
    assert not isinstance(found, Rule)  # noqa: S101
    return found


def addresses(text: str, names: Mapping[str, str] | None = None) -> list[Address]:
    """Return the addresses in an expression and in the names that it uses, in order."""
    found: list[Address] = []
    for token in _tokens(text):
        if token["address"] and (address := Address.read(token["address"])):
            found.append(address)
        elif token["name"] in (names or {}):
            found += addresses((names or {})[token["name"]], names)
    return found


class _Reader:
    """Reads one rule from left to right."""

    def __init__(self, text: str, names: Mapping[str, str], depth: int = 0) -> None:
        if len(text) > LONGEST:
            raise RuleError(f"it has {len(text)} characters", f"at most {LONGEST}")
        self.text, self.names, self.tokens, self.place, self.depth = text, names, _tokens(text), 0, depth

    def rule(self) -> Rule:
        term = self.sum()
        word = self._next("at_least, at_most, between or another comparison")[0].strip()
        if word not in COMPARISONS:
            raise RuleError(f"{word!r} is no comparison", f"use {', '.join(COMPARISONS)} ... and ...")
        bounds = [self._bound()]
        if word == "between":
            if self._next("and")["name"] != "and":
                raise RuleError("between has one bound", "write between 2 and 3")
            bounds.append(self._bound())
        self._end()
        low, high = min(each.value for each in bounds), max(each.value for each in bounds)
        low, high = -inf if word in ("at_most", "below") else low, inf if word in ("at_least", "above") else high
        return Rule(term, low, high, bounds[0].unit, word in ("above", "below"), self.text)

    def whole(self) -> Term:
        term = self.sum()
        self._end()
        return term

    def sum(self) -> Term:
        found = self._product()
        while (sign := self._sign("+", "-")) is not None:
            found = _joined(sign, found, self._product())
        return found

    def _end(self) -> None:
        if self.place < len(self.tokens):
            raise RuleError(f"{self.tokens[self.place][0].strip()!r} is left over")

    def _bound(self) -> Quantity:
        minus = self._sign("-") or ""
        return amount(minus + self._next("a number")[0].strip())

    def _product(self) -> Term:
        found = self._factor()
        while (sign := self._sign("*", "/")) is not None:
            found = _joined(sign, found, self._factor())
        return found

    def _factor(self) -> Term:
        token = self._next("an address or a number")
        if token["number"]:
            given = amount(token[0])
            step, dimension = UNITS[given.unit]
            return lambda _: Values({frozenset(): Quantity(given.value * step, kind="computed")}, dimension)
        if token["address"]:
            address = Address.read(token["address"])
            assert address is not None  # noqa: S101  the same pattern
            return lambda source: source.values(address)
        if token["name"]:
            return self._named(token["name"])
        if token["sign"] != "(":
            raise RuleError(f"{token['sign']!r} stands where an address or a number should")
        return self._inside(self.sum)

    def _named(self, name: str) -> Term:
        if name in FUNCTIONS and self._sign("("):
            return self._inside(lambda: self._call(name))
        if name in self.names:
            if self.depth >= DEEPEST:
                raise RuleError(f"the name {name!r} stands for itself")
            return _Reader(self.names[name], self.names, self.depth + 1).whole()
        known = [*FUNCTIONS, *self.names]
        raise RuleError(
            f"no function or name {name!r}", f"the nearest is {nearest(name, known)!r}; an address is study.op[...]"
        )

    def _call(self, name: str) -> Term:
        parts, along = [self.sum()], ""
        while self._sign(",") is not None:
            if name in ALONG:
                along = self._next("a factor")[0].strip()
            else:
                parts.append(self.sum())
        make = FUNCTIONS[name]
        return lambda source: make(source, parts, along)

    def _inside(self, read: Callable[[], Term]) -> Term:
        self.depth += 1
        if self.depth > DEEPEST:
            raise RuleError(f"more than {DEEPEST} brackets are open")
        found = read()
        if self._sign(")") is None:
            raise RuleError("a bracket is not closed")
        self.depth -= 1
        return found

    def _next(self, wanted: str) -> re.Match[str]:
        if self.place == len(self.tokens):
            raise RuleError(f"it ends where {wanted} should stand")
        self.place += 1
        return self.tokens[self.place - 1]

    def _sign(self, *signs: str) -> str | None:
        if self.place == len(self.tokens) or self.tokens[self.place]["sign"] not in signs:
            return None
        self.place += 1
        return self.tokens[self.place - 1]["sign"]


def _tokens(text: str) -> list[re.Match[str]]:
    found, place = [], 0
    while place < len(text.rstrip()):
        match = _TOKEN.match(text, place)
        if not match:
            raise RuleError(
                f"{text[place:].strip()[:10]!r} cannot be read", "use addresses, numbers, + - * / and brackets"
            )
        found.append(match)
        place = match.end()
    return found


def _joined(sign: str, first: Term, second: Term) -> Term:
    return lambda source: first(source).joined(sign, second(source))


def _named(dimension: Dimension) -> str:
    return DIMENSION_NAMES.get(dimension, "none of time, bytes, bytes/s, number")


# Functions. `parts` are what stands in the brackets, `along` the factor that the last two go along.


def _all(source: Source, parts: Iterable[Term], _: str) -> Values:
    """Return every value of all parts."""
    found = [part(source) for part in parts]
    cells = {axes | {("part", place)}: each for place, part in enumerate(found) for axes, each in part.cells.items()}
    return Values(cells if len(found) > 1 else found[0].cells, found[0].dimension)


def _end(pick: Callable[..., Quantity]) -> Callable[[Source, list[Term], str], Values]:
    def make(source: Source, parts: list[Term], along: str) -> Values:
        found = _all(source, parts, along)
        return Values({frozenset(): pick(found.cells.values(), key=lambda each: each.value)}, found.dimension)

    return make


def _count(source: Source, parts: list[Term], along: str) -> Values:
    try:
        return Values({frozenset(): of(len(_all(source, parts, along).cells))})
    except MissingError:
        if not any(rows.by for rows in source.rows.values()):
            raise
        return Values({frozenset(): of(0)})


def _steps(sign: str) -> Callable[[Source, list[Term], str], Values]:
    """Return what compares each value with the one before, in the order of the factor `along`."""

    def make(source: Source, parts: list[Term], along: str) -> Values:
        found = parts[0](source)
        rows: dict[Axes, list[tuple[Any, Quantity]]] = {}
        for axes, each in found.cells.items():
            rows.setdefault(frozenset(pair for pair in axes if pair[0] != along), []).append(
                (dict(axes).get(along), each)
            )
        cells: dict[Axes, Quantity] = {}
        for axes, row in rows.items():
            ordered = sorted(row, key=lambda pair: pair[0])
            for (_, before), (level, after) in zip(ordered, ordered[1:], strict=False):
                cells[axes | {(along, level)}] = _MAKE[sign](after, before)
        if not cells:
            raise MissingError(along)
        return Values(cells, found.dimension if sign == "-" else PLAIN)

    return make


def _mapped(change: Callable[[float], float]) -> Callable[[Source, list[Term], str], Values]:
    """Return what applies a rising function to plain numbers and to the ends of their intervals."""

    def make(source: Source, parts: list[Term], _: str) -> Values:
        found = parts[0](source)
        if found.dimension != PLAIN:
            raise RuleError(f"it takes a plain number, not {_named(found.dimension)}")
        return Values({axes: _changed(each, change) for axes, each in found.cells.items()})

    return make


def _changed(each: Quantity, change: Callable[[float], float]) -> Quantity:
    low, high = (None, None) if each.low is None else map(change, each.ends)
    return replace(each, value=change(each.value), low=low, high=high)


def _about(source: Source, parts: list[Term], _: str) -> Values:
    """Return the first part with an interval as far on both sides as the second says."""
    middle, margin = (next(iter(part(source).cells.values())).value for part in parts)
    return Values({frozenset(): Quantity(middle, "1", middle - margin, middle + margin)}, parts[0](source).dimension)


FUNCTIONS: dict[str, Callable[[Source, list[Term], str], Values]] = {
    **{"each": _all, "min": _end(min), "max": _end(max), "count": _count},
    **{"growth": _steps("/"), "change": _steps("-"), "about": _about},
    "log": _mapped(lambda x: log(x) if 0 < x < inf else x if x > 0 else -inf),
    **{"floor": _mapped(floor), "sqrt": _mapped(lambda x: sqrt(max(x, 0.0)))},
}
ALONG = ("growth", "change")  # the functions whose last word is a factor
