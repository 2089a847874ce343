"""The language of rules: what a claim says must be so, read from its text.

    rule = sum ("at_least" | "at_most" | "above" | "below" | "exactly") amount ["rounded"]
         | sum "between" amount "and" amount ["rounded"]

A sum is written as in Python, of amounts, addresses, names, `+ - * /`, brackets and functions. An
address that names several values gives all of them: arithmetic pairs those of equal levels.
`min(...)` and `max(...)` take one of them, `each(...)` says that every one is meant. Python only
parses the rule: nothing is executed. Values come through a `ValueSource`.
"""

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from graphlib import CycleError, TopologicalSorter
from math import inf

from ipclab.claims.expression import ALONG, FUNCTIONS, Term, applied, constant, joined, looked_up
from ipclab.claims.values import ValueSource
from ipclab.errors import hint
from ipclab.frames.address import Address
from ipclab.prose import language
from ipclab.prose.language import Operator, Reader, RuleError, amount_and_half, names_in

ROUNDED = "rounded"  # after the bounds: each stands for all that round to it as it is written
COMPARISONS = ("at_least", "at_most", "above", "below", "exactly", "between")
_RULE = re.compile(rf"(.*)\b({'|'.join(COMPARISONS)})\b(.*)", re.DOTALL)
Ends = tuple[float, float]


class Rule:
    """A rule that was read: what it compares, its bounds, their unit, and how these are written.

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


def read_rule(text: str, names: Mapping[str, Term] | None = None) -> Rule:
    """Return the rule that `text` says, which may use `names`; raises `RuleError`."""
    parts = _RULE.fullmatch(text)
    if not parts:
        raise RuleError("it has no comparison", f"use {', '.join(COMPARISONS)} ... and ...")
    bounds = parts[3].strip().removesuffix(ROUNDED)
    rounded = parts[3].strip() != bounds
    term = read_sum(parts[1], names)
    return bounded(term, parts[2], re.split(r"\band\b", bounds), rounded)


def bounded(term: Term, word: str, ends: Sequence[str], rounded: bool) -> Rule:
    """Return the rule that compares a term, by one of `COMPARISONS`, with one bound or with two.

    Raises `RuleError` for other bounds.
    """
    if len(ends) != (2 if word == "between" else 1):
        raise RuleError(f"{word} has {len(ends)} bounds", "write at_least 2, or between 2 and 3")
    if not all(end.strip() for end in ends):
        raise RuleError("it ends where a number should stand")
    if rounded and word in ("above", "below"):
        raise RuleError(
            f"{word} excludes its bound, which then stands for no others",
            "write at_least or at_most",
        )
    bounds = []
    for end in ends:
        bound, half = amount_and_half(end)
        bounds.append((bound.value, half * rounded))
    bounds.sort()
    low, below = (-inf, 0.0) if word in ("at_most", "below") else bounds[0]
    high, above = (inf, 0.0) if word in ("at_least", "above") else bounds[-1]
    near = (low - below, high + above)
    unit = amount_and_half(ends[0])[0].unit
    text = " ".join([word, " and ".join(map(str.strip, ends)), ROUNDED if rounded else ""]).strip()
    return Rule(text, term, near, unit, word in ("above", "below"), (low, high))


def read_names(names: Mapping[str, str]) -> dict[str, Term]:
    """Return the expressions that may be used by name, by others too; `RuleError` has the name."""
    uses = {}
    for name, text in names.items():
        uses[name] = names_in(text) & names.keys()
    terms = dict[str, Term]()
    try:
        for name in TopologicalSorter(uses).static_order():
            term = read_sum(names[name], terms)
            once = Term(partial(ValueSource.once, named=term), [term])
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
    known = names or {}
    called = partial(_called, known)
    reader = Reader(_address, constant, partial(_named, known), _joined, called)
    return language.read_expression(text, reader)


def _address(text: str) -> Term:
    address = Address.read(text)
    if address is None:
        raise RuleError(f"{text!r} is no address", "write study.op[factor=level].metric")
    return looked_up(address)


def _named(names: Mapping[str, Term], name: str) -> Term:
    if name not in names:
        fix = f"{hint(name, [*FUNCTIONS, *names])}; an address is study.op[...]"
        raise RuleError(f"no function or name {name!r}", fix)
    return names[name]


def _joined(combine: Operator, one: Term, other: Term) -> Term:
    return Term(partial(joined, combine, one, other), [one, other])


def _called(
    names: Mapping[str, Term],
    name: str,
    parts: Sequence[ast.expr],
    read: Callable[[ast.expr], Term],
) -> Term:
    if name not in FUNCTIONS:
        return _named(names, name)
    last = [part.id for part in parts[-1:] if isinstance(part, ast.Name)]
    along = last if name in ALONG else []
    terms = [read(part) for part in parts[: len(parts) - len(along)]]
    return applied(name, *terms, along=along)
