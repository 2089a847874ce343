"""The language of rules: what a claim says must be so, read from its text.

    rule = sum ("at_least" | "at_most" | "above" | "below" | "exactly") amount ["rounded"]
         | sum "between" amount "and" amount ["rounded"]

A sum is written as in Python, of amounts, addresses, names, `+ - * /`, brackets and functions. An
address that names several values gives all of them: arithmetic pairs those of equal levels.
`min(...)` and `max(...)` take one of them, `each(...)` says that every one is meant. Python only
parses the rule: nothing is executed. Values come through a `Source`.
"""

import ast
import re
from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from graphlib import CycleError, TopologicalSorter
from math import inf, isfinite
from operator import add, mul, sub, truediv

from ipclab.claims.expression import (
    ALONG,
    FUNCTIONS,
    RuleError,
    Source,
    Term,
    Values,
    call,
    joined,
)
from ipclab.claims.units import KINDS, UNITS
from ipclab.errors import nearest
from ipclab.frames.address import PATTERN, Address
from ipclab.stats.quantity import Quantity

_WRITTEN = [unit for unit in UNITS if unit not in ("1", "share", "points", "count")]
_PLAIN = {"%": "share", "%p": "points"}  # a share, and the difference of two
_UNIT = "|".join(re.escape(unit) for unit in sorted(_WRITTEN, key=len, reverse=True))
_NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_AMOUNT = re.compile(rf"(?P<minus>-)?\s*(?P<number>{_NUMBER})(?:\s*(?P<unit>{_UNIT}))?")
_LEAF = re.compile(
    rf"(?P<address>{PATTERN})|(?<![\w.])(?P<amount>{_NUMBER}(?:\s*(?:{_UNIT})(?![\w/]))?)"
    r"|(?P<name>[A-Za-z_]\w*(?:[.\-]\w+)*)"
)
ROUNDED = "rounded"  # after the bounds: each stands for all that round to it as it is written
COMPARISONS = ("at_least", "at_most", "above", "below", "exactly", "between")
_RULE = re.compile(rf"(.*)\b({'|'.join(COMPARISONS)})\b(.*)", re.DOTALL)
_OPERATORS = {ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.Div: truediv}
LONGEST = 1500
Ends = tuple[float, float]


class Rule:
    """A rule that was read: what it compares, its bounds, their unit, and how it is written.

    A bound that is `open` is not included.

    `low` and `high` decide. `written` are the bounds as they are written, which may stand for all
    that round to them.
    """

    def __init__(
        self, text: str, term: Term, ends: Ends, unit: str, open_: bool, written: Ends
    ) -> None:
        self.text = text
        self.term = term
        self.unit = unit
        self.open = open_
        self.low, self.high = ends
        self.written = written

    @property
    def rounded(self) -> bool:
        """Whether the bounds stand for all that round to them."""
        return self.written != (self.low, self.high)


def amount(text: str) -> Quantity:
    """Return a number with a unit, such as `125 MB/s` or `18`, in SI units; raises `RuleError`."""
    return _bound(text)[0]


def _bound(text: str) -> tuple[Quantity, float]:
    """Return an amount, and half a unit of its last digit."""
    match = _AMOUNT.fullmatch(text.strip())
    if not match:
        raise RuleError(
            f"{text.strip()!r} is no number with a unit", f"units are {', '.join(_WRITTEN)}"
        )
    factor, dimension = UNITS[match["unit"] or "1"]
    unit = _PLAIN.get(match["unit"] or "1", KINDS[dimension].shown)
    value = float(f"{match['minus'] or ''}{match['number']}") * factor / UNITS[unit][0]
    if not isfinite(value):
        raise RuleError(f"{text!r} is too large a number")
    half = half_a_digit(match["number"]) * factor / UNITS[unit][0]
    return Quantity(value, unit, kind="published"), half


def half_a_digit(number: str) -> float:
    """Return half a unit of the last printed digit of a number: what rounds to it is so near."""
    return 10.0 ** int(Decimal(number).as_tuple().exponent) / 2


def read_rule(text: str, names: Mapping[str, Term] | None = None) -> Rule:
    """Return the rule that `text` says, which may use `names`; raises `RuleError`."""
    parts = _RULE.fullmatch(text)
    if not parts:
        raise RuleError("it has no comparison", f"use {', '.join(COMPARISONS)} ... and ...")
    bounds_text = parts[3].strip().removesuffix(ROUNDED)
    term = read_sum(parts[1], names)
    word = parts[2]
    ends = re.split(r"\band\b", bounds_text)
    rounded = parts[3].strip() != bounds_text
    if len(ends) != (2 if word == "between" else 1):
        raise RuleError(f"{word} has {len(ends)} bounds", "write at_least 2, or between 2 and 3")
    if not all(end.strip() for end in ends):
        raise RuleError("it ends where a number should stand")
    bounds = []
    for end in ends:
        bound, half = _bound(end)
        bounds.append((bound.value, half * rounded))
    bounds.sort()
    if rounded and word in ("above", "below"):
        raise RuleError(
            f"{word} excludes its bound, which then stands for no others",
            "write at_least or at_most",
        )
    low, below = (-inf, 0.0) if word in ("at_most", "below") else bounds[0]
    high, above = (inf, 0.0) if word in ("at_least", "above") else bounds[-1]
    near = (low - below, high + above)
    unit = amount(ends[0]).unit
    return Rule(text, term, near, unit, word in ("above", "below"), (low, high))


def read_names(names: Mapping[str, str]) -> dict[str, Term]:
    """Return the expressions that may be used by name, by others too; `RuleError` has the name."""
    uses = {}
    for name, text in names.items():
        uses[name] = {match["name"] for match in _LEAF.finditer(text)} & names.keys()
    terms = dict[str, Term]()
    try:
        for name in TopologicalSorter(uses).static_order():
            term = read_sum(names[name], terms)
            once = Term(partial(Source.once, named=term), [term])
            terms[name] = term if term.is_address else once
    except CycleError as error:
        circle = error.args[1]
        raise RuleError("it stands for itself", "", circle[0]) from error
    except RuleError as error:
        error.name = name
        raise
    return terms


def read_sum(text: str, names: Mapping[str, Term] | None = None) -> Term:
    """Return the expression that `text` says, which may use `names`; raises `RuleError`."""
    if len(text) > LONGEST:
        raise RuleError(f"it has {len(text)} characters", f"at most {LONGEST}")
    by_name = names or {}
    leaves = dict[str, Term]()

    def leaf(match: re.Match[str]) -> str:
        name = match["name"]
        if name and name not in by_name:
            return match[0]
        key = f"_{len(leaves)}"
        leaves[key] = by_name[name] if name else _leaf(match)
        return f" {key} "

    plain = " ".join(_LEAF.sub(leaf, text).split())
    try:
        return _term(ast.parse(plain, mode="eval").body, leaves, by_name)
    except RuleError:
        raise
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        why = error.msg if isinstance(error, SyntaxError) else "it nests too deeply"
        raise RuleError(
            f"it cannot be read: {why}", "use addresses, numbers, + - * / and brackets"
        ) from error


def _leaf(match: re.Match[str]) -> Term:
    if address := Address.read(match["address"] or ""):
        return Term(lambda source: source.values(address), addresses=[address])
    given = amount(match["amount"])
    step, dimension = UNITS[given.unit]
    return Term(
        lambda _: Values({frozenset(): Quantity(given.value * step, kind="computed")}, dimension)
    )


def _term(node: ast.expr, leaves: Mapping[str, Term], names: Mapping[str, Term]) -> Term:
    """Return what a node of the parsed expression says; `RuleError` if not of the language."""
    match node:
        case ast.Name(id=name) if name in leaves:
            return leaves[name]
        case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
            one = _term(left, leaves, names)
            other = _term(right, leaves, names)
            return Term(partial(joined, _OPERATORS[type(op)], one, other), [one, other])
        case ast.Call(ast.Name(id=name), [_, *_] as given, []) if name in FUNCTIONS:
            along = [part.id for part in given[-1:] if name in ALONG and isinstance(part, ast.Name)]
            parts = [_term(part, leaves, names) for part in given[: len(given) - len(along)]]
            return Term(partial(call, name, parts, along), parts)
        case ast.Name(id=name) | ast.Call(ast.Name(id=name)):
            near = nearest(name, [*FUNCTIONS, *names])
            fix = f"the nearest is {near!r}; an address is study.op[...]"
            raise RuleError(f"no function or name {name!r}", fix)
    raise RuleError("it holds more than sums can", "use addresses, numbers, + - * / and brackets")
