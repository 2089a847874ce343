"""The language of rules: addresses of values, numbers with units, arithmetic, a few functions, and one comparison.

    rule    = sum ("at_least" | "at_most" | "above" | "below" | "exactly") amount | sum "between" amount "and" amount
    sum     = product (("+" | "-") product)*
    product = factor (("*" | "/") factor)*
    factor  = amount | address | name | function "(" sum ("," sum | "," factor's name)* ")" | "(" sum ")"
    amount  = ["-"] number [unit]

An address that names several values gives all of them: arithmetic pairs those of equal levels. `min(...)` and
`max(...)` take one of them, `each(...)` says that every one is meant. Nothing is executed; the rule is parsed here.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import inf, isfinite

from ipclab.errors import nearest
from ipclab.frames.address import PATTERN, Address
from ipclab.frames.expression import SHOWN, UNITS, RuleError, Term, Values
from ipclab.frames.functions import ALONG, FUNCTIONS
from ipclab.stats.quantity import Quantity

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


@dataclass(frozen=True)
class Rule:
    """A rule that was read: what it compares, its bounds (`open`: not included), their unit, and how it is written."""

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
