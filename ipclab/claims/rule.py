"""The small language of a person's own rules: facts, numbers with units, arithmetic, and one comparison.

    rule   = sum ("at_least" amount | "at_most" amount | "between" amount "and" amount)
    sum    = product (("+" | "-") product)*
    product = factor (("*" | "/") factor)*
    factor = amount | fact | "(" sum ")"
    amount = number [unit]

A name may hold `-` and `.`: a minus sign has a space before and after it. Nothing is executed; the rule is parsed here.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ipclab.claims.claim import Facts, Quantity, at_least, at_most, exact, take
from ipclab.facts.fact import Fact
from ipclab.words import nearest

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
_TOKEN = re.compile(
    rf"\s*(?:(?P<number>{_NUMBER})(?:\s*(?P<unit>{_UNIT})(?![\w/]))?"
    r"|(?P<name>[A-Za-z_]\w*(?:[.\-]\w+)*)|(?P<sign>[-+*/()]))"
)
COMPARISONS = ("at_least", "at_most", "between", "and")
LONGEST, DEEPEST = 500, 20


class RuleError(ValueError):
    """A rule that cannot be read: why, and the mend."""

    def __init__(self, why: str, mend: str = "") -> None:
        """Keep both parts."""
        super().__init__(why, mend)
        self.why, self.mend = why, mend


@dataclass(frozen=True)
class Term:
    """A part of a rule: what it gives of facts, in seconds and bytes, and its dimension."""

    of: Callable[[Facts], Quantity]
    dimension: Dimension


@dataclass(frozen=True)
class Comparison:
    """A rule that was read: its quantity, bounds and unit as `Claim` has them."""

    quantity: Callable[[Facts], Quantity]
    bounds: tuple[float, float]
    unit: str


def amount(text: str) -> Fact:
    """Return a number with a unit, such as `125 MB/s` or `18`, as a fact in SI units; raises `RuleError`."""
    match = _TOKEN.fullmatch(text.strip())
    if not match or not match["number"]:
        raise RuleError(f"{text!r} is no number with a unit", f"units are {', '.join(_WRITTEN)}")
    factor, dimension = UNITS[match["unit"] or "1"]
    unit = "share" if match["unit"] == "%" else SHOWN[dimension]
    return Fact("amount", float(match["number"]) * factor / _step(unit), unit, kind="published")


def read_rule(text: str, known: Mapping[str, Fact]) -> Comparison:
    """Return the comparison that `text` says over the facts `known` by name; raises `RuleError`."""
    reader = _Reader(text, known)
    term = reader.sum()
    word, ends, unit = reader.comparison(term.dimension)
    low, high = min(ends), max(ends)
    bounds = at_least(low) if word == "at_least" else at_most(high) if word == "at_most" else (low, high)
    return Comparison(_shown(term, unit), bounds, unit)


def read_sum(text: str, known: Mapping[str, Fact], unit: str) -> Callable[[Facts], Quantity]:
    """Return what the sum `text` gives of facts in `unit`; raises `RuleError`, also when its dimension is another."""
    reader = _Reader(text, known)
    term = reader.sum()
    reader.end()
    if term.dimension != UNITS[unit][1]:
        raise RuleError(f"it gives {_named(term.dimension)}, the rule compares {_named(UNITS[unit][1])}")
    return _shown(term, unit)


def same_dimension(given: Fact, fact: Fact) -> None:
    """Raise `RuleError` when two facts are not of one dimension, such as a time and a number of bytes."""
    one, other = (UNITS.get(each.unit, (1.0, PLAIN))[1] for each in (given, fact))
    if one != other:
        raise RuleError(f"{fact.name!r} is {_named(other)}, not {_named(one)}", "give it that unit")


def _shown(term: Term, unit: str) -> Callable[[Facts], Quantity]:
    step = _step(unit)
    return lambda facts: term.of(facts) * (1 / step)


def _step(unit: str) -> float:
    return UNITS[unit][0]


def _named(dimension: Dimension) -> str:
    return DIMENSION_NAMES.get(dimension, "none of time, bytes, bytes/s, number")


class _Reader:
    """Reads one rule from left to right."""

    def __init__(self, text: str, known: Mapping[str, Fact]) -> None:
        if len(text) > LONGEST:
            raise RuleError(f"it has {len(text)} characters", f"at most {LONGEST}")
        self.known, self.tokens, self.place, self.depth = known, _tokens(text), 0, 0

    def sum(self) -> Term:
        found = self._product()
        while (sign := self._sign("+", "-")) is not None:
            other = self._product()
            if found.dimension != other.dimension:
                raise RuleError(f"{_named(found.dimension)} {sign} {_named(other.dimension)} has no meaning")
            found = _joined(sign, found, other, found.dimension)
        return found

    def comparison(self, dimension: Dimension) -> tuple[str, list[float], str]:
        token = self._next("at_least, at_most or between")
        word = token["name"]
        if word not in COMPARISONS[:3]:
            raise RuleError(f"{token[0].strip()!r} is no comparison", "use at_least, at_most or between ... and ...")
        bounds = [self._bound()]
        if word == "between":
            if self._next("and")["name"] != "and":
                raise RuleError("between has one bound", "write between 2 and 3")
            bounds.append(self._bound())
        self.end()
        for bound in bounds:
            if UNITS[bound.unit][1] != dimension:
                raise RuleError(
                    f"it compares {_named(dimension)} with {_named(UNITS[bound.unit][1])}", "give the bound its unit"
                )
        return word, [float(bound.value or 0) for bound in bounds], bounds[0].unit

    def end(self) -> None:
        if self.place < len(self.tokens):
            raise RuleError(f"{self.tokens[self.place][0].strip()!r} is left over")

    def _bound(self) -> Fact:
        token = self._next("a number")
        return amount(token[0])

    def _product(self) -> Term:
        found = self._factor()
        while (sign := self._sign("*", "/")) is not None:
            other = self._factor()
            (s, b), (t, c) = found.dimension, other.dimension
            found = _joined(sign, found, other, (s + t, b + c) if sign == "*" else (s - t, b - c))
        return found

    def _factor(self) -> Term:
        token = self._next("a fact or a number")
        if token["number"]:
            factor, dimension = UNITS[token["unit"] or "1"]
            value = exact(float(token["number"]) * factor)
            return Term(lambda facts: value, dimension)
        if token["name"]:
            return self._fact(token["name"])
        if token["sign"] != "(":
            raise RuleError(f"{token['sign']!r} stands where a fact or a number should")
        self.depth += 1
        if self.depth > DEEPEST:
            raise RuleError(f"more than {DEEPEST} brackets are open")
        found = self.sum()
        if self._sign(")") is None:
            raise RuleError("a bracket is not closed")
        self.depth -= 1
        return found

    def _fact(self, name: str) -> Term:
        if name in COMPARISONS:
            raise RuleError(f"{name!r} stands where a fact or a number should")
        if name not in self.known:
            raise RuleError(f"no fact is named {name!r}", f"the nearest is {nearest(name, self.known)!r}")
        fact = self.known[name]
        if isinstance(fact.value, str) or fact.unit == "date":
            raise RuleError(f"the fact {name!r} is no number")
        factor, dimension = UNITS.get(fact.unit, (1.0, PLAIN))
        return Term(lambda facts: take(facts, name) * factor, dimension)

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


def _joined(sign: str, first: Term, second: Term, dimension: Dimension) -> Term:
    make: Callable[[Quantity, Quantity], Quantity] = {
        "+": lambda a, b: a + b,
        "-": lambda a, b: a - b,
        "*": lambda a, b: a * b,
        "/": lambda a, b: a / b,
    }[sign]
    return Term(lambda facts: make(first.of(facts), second.of(facts)), dimension)


def _tokens(text: str) -> list[re.Match[str]]:
    found = []
    place = 0
    while place < len(text.rstrip()):
        match = _TOKEN.match(text, place)
        if not match:
            raise RuleError(f"{text[place:].strip()[:10]!r} cannot be read", "use facts, numbers, + - * / and brackets")
        found.append(match)
        place = match.end()
    return found
