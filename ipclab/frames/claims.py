"""Claims, the language of their rules, and verdicts: holds, fails, undecided, or not testable here.

    rule = sum ("at_least" | "at_most" | "above" | "below" | "exactly") amount | sum "between" amount "and" amount

A sum is written as in Python, of amounts, addresses, names, `+ - * /`, brackets and functions. An address that names
several values gives all of them: arithmetic pairs those of equal levels. `min(...)` and `max(...)` take one of them,
`each(...)` says that every one is meant. Python only parses the rule: nothing is executed. Values come through a
`Source`.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from math import inf, isfinite, log
from typing import Annotated, NamedTuple

import msgspec

from ipclab.errors import nearest
from ipclab.frames.address import PATTERN, Address, MissingError
from ipclab.frames.expression import ALONG, FUNCTIONS, SHOWN, UNITS, Compute, RuleError, Source, Term, Values, call
from ipclab.stats import judge
from ipclab.stats.quantity import Quantity

HOLDS, FAILS, UNDECIDED, NOT_TESTABLE = "holds", "fails", "undecided", "not testable here"
SEVERITY = {FAILS: 0, UNDECIDED: 1, HOLDS: 2}
WORDS = {judge.INSIDE: HOLDS, judge.UNDECIDED: UNDECIDED, judge.NOT_TESTED: UNDECIDED}
OWN = "own"  # the seed of a person's own claims
Text = Annotated[str, msgspec.Meta(min_length=1)]
SLACK = 1e-9  # binary fractions of decimal digits; a bound that is not included is left by more than that
_WRITTEN = [unit for unit in UNITS if unit not in ("1", "share", "count")]
_UNIT = "|".join(re.escape(unit) for unit in sorted(_WRITTEN, key=len, reverse=True))
_NUMBER = r"[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_AMOUNT = re.compile(rf"(?P<minus>-)?\s*(?P<number>{_NUMBER})(?:\s*(?P<unit>{_UNIT}))?")
_LEAF = re.compile(
    rf"(?P<address>{PATTERN})|(?<![\w.])(?P<amount>{_NUMBER}(?:\s*(?:{_UNIT})(?![\w/]))?)"
    r"|(?P<name>[A-Za-z_]\w*(?:[.\-]\w+)*)"
)
COMPARISONS = ("at_least", "at_most", "above", "below", "exactly", "between")
_RULE = re.compile(rf"(.*)\b({'|'.join(COMPARISONS)})\b(.*)", re.DOTALL)
_SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
LONGEST, DEEPEST, NAMES = 1500, 100, 20


class Rule:
    """A rule that was read: what it compares, its bounds (`open`: not included), their unit, and how it is written."""

    def __init__(self, text: str, term: Term, low: float, high: float, unit: str, open_: bool) -> None:
        self.text, self.term, self.low, self.high, self.unit, self.open = text, term, low, high, unit, open_


class Amounts(dict[str, Quantity]):
    """Amounts by name."""


class Table(Amounts):
    """Amounts by address."""


class Claim(msgspec.Struct, forbid_unknown_fields=True):
    """One published statement, as a file of claims states it.

    `text` is the original's words, `meaning` a msgid for readers of other languages with `figures` as its placeholders
    (`translations` by language take its place where they are given). `rule` is what must be so by the published
    method; `own` and `fair` are what is compared with the same bounds on the text's own table, and by a fair method,
    where these differ. `unstated` says, as a msgid, why the text's table cannot decide, `untestable` what it would take
    where no run of another machine can, `adds` what the fair method adds; `from_code` tells that the text's code
    decides, not its table. `needs` is what must be known of the run, at least; `published` the claim's own table, where
    it is in none of the texts.
    """

    id: Text
    text: Text
    rule: Rule
    language: str = ""
    section: str = ""
    source: str = ""
    meaning: str = ""
    own: Term | None = None
    fair: Term | None = None
    unstated: str = ""
    untestable: str = ""
    from_code: bool = False
    adds: str = ""
    needs: dict[str, float] = {}
    translations: dict[str, str] = {}
    figures: Amounts = msgspec.field(default_factory=Amounts)
    published: Table | None = None


@dataclass(frozen=True)
class Verdict:
    """The outcome of a rule: the quantity that decides it, all that it compared, or what is missing or needed."""

    word: str
    deciding: Quantity | None = None
    found: tuple[Quantity, ...] = ()
    missing: str = ""
    need: str = ""


class Verdicts(NamedTuple):
    """The three verdicts of a claim; `fair` equals `here` when the fair method is the published one."""

    own: Verdict
    here: Verdict
    fair: Verdict


def judge_all(claim: Claim, text: Source, run: Source) -> Verdicts:
    """Return the verdicts of `claim` on the text's own table, and on the run by the published and the fair method."""
    table = text if claim.published is None else Source(text.points, given=claim.published)
    own = Verdict(NOT_TESTABLE) if claim.unstated else decide(claim.rule, claim.own or claim.rule.term, table)
    if claim.untestable:
        return Verdicts(own, Verdict(NOT_TESTABLE), Verdict(NOT_TESTABLE))
    lacking = next((name for name, least in claim.needs.items() if run.known.get(name, inf) < least), "")
    here = Verdict(NOT_TESTABLE, need=lacking) if lacking else decide(claim.rule, claim.rule.term, run)
    return Verdicts(own, here, here if lacking or not claim.fair else decide(claim.rule, claim.fair, run))


def decide(rule: Rule, term: Term, source: Source) -> Verdict:
    """Return the verdict of `rule` on what `term` gives: each of its quantities must lie inside the bounds.

    It holds when every interval does, fails when one lies outside, and is undecided when one contains a bound.
    """
    try:
        found = [source.judged(each) for each in term(source).shown(rule.unit)]
    except MissingError as missing:
        return Verdict(NOT_TESTABLE, missing=str(missing))
    if not all(found) or not found:
        return Verdict(NOT_TESTABLE)
    least = min(found, key=lambda each: (SEVERITY[_word(rule, each)], _margin(rule, each)))
    return Verdict(_word(rule, least), least, tuple(found))


def _word(rule: Rule, found: Quantity) -> str:
    slack = [SLACK * max(abs(end), SLACK * rule.open) if abs(end) < inf else 0.0 for end in (rule.low, rule.high)]
    inward = 1 if rule.open else -1
    side = judge.within(found, rule.low + inward * slack[0], rule.high - inward * slack[1])
    return WORDS.get(side, FAILS)


def _margin(rule: Rule, found: Quantity) -> float:
    """Return how far the interval's worse end lies inside the bounds: a ratio where there is one, else a difference."""
    low, high = found.ends
    return min(_inside(low, rule.low) if rule.low > -inf else inf, _inside(rule.high, high) if rule.high < inf else inf)


def _inside(over: float, under: float) -> float:
    return log(over / under) if 0 < over < inf and 0 < under < inf else over - under


def amount(text: str) -> Quantity:
    """Return a number with a unit, such as `125 MB/s` or `18`, in SI units; raises `RuleError`."""
    match = _AMOUNT.fullmatch(text.strip())
    if not match:
        raise RuleError(f"{text.strip()!r} is no number with a unit", f"units are {', '.join(_WRITTEN)}")
    factor, dimension = UNITS[match["unit"] or "1"]
    unit = "share" if match["unit"] == "%" else SHOWN[dimension]
    value = float(f"{match['minus'] or ''}{match['number']}") * factor / UNITS[unit][0]
    if not isfinite(value):
        raise RuleError(f"{text!r} is too large a number")
    return Quantity(value, unit, kind="published")


def read_rule(text: str, names: Mapping[str, str] | None = None) -> Rule:
    """Return the rule that `text` says; `names` are expressions that it may use by name. Raises `RuleError`."""
    parts = _RULE.fullmatch(text)
    if not parts:
        raise RuleError("it has no comparison", f"use {', '.join(COMPARISONS)} ... and ...")
    term, word, ends = read_sum(parts[1], names), parts[2], re.split(r"\band\b", parts[3])
    if len(ends) != (2 if word == "between" else 1):
        raise RuleError(f"{word} has {len(ends)} bounds", "write at_least 2, or between 2 and 3")
    if not all(end.strip() for end in ends):
        raise RuleError("it ends where a number should stand")
    bounds = sorted((amount(end) for end in ends), key=lambda each: float(each.value))
    low = -inf if word in ("at_most", "below") else bounds[0].value
    high = inf if word in ("at_least", "above") else bounds[-1].value
    return Rule(text, term, low, high, bounds[0].unit, word in ("above", "below"))


def read_sum(text: str, names: Mapping[str, str] | None = None) -> Term:
    """Return the expression that `text` says; raises `RuleError`."""
    return _read(text, tuple((names or {}).items()))


@lru_cache(maxsize=2000)
def _read(text: str, names: tuple[tuple[str, str], ...], inside: tuple[str, ...] = ()) -> Term:
    """Read an expression that stands `inside` those names."""
    if len(text) > LONGEST:
        raise RuleError(f"it has {len(text)} characters", f"at most {LONGEST}")
    known, leaves = dict(names), dict[str, Term]()

    def leaf(match: re.Match[str]) -> str:
        if match["name"] and match["name"] not in known:
            return match[0]
        if match["name"] in inside or len(inside) > NAMES:
            raise RuleError(f"the name {match['name']!r} stands for itself")
        named = (*inside, match["name"] or "")
        key = f"_{len(leaves)}"
        leaves[key] = _read(known[match["name"]], names, named) if match["name"] else _leaf(match)
        return f" {key} "

    plain = " ".join(_LEAF.sub(leaf, text).split())
    try:
        tree = ast.parse(plain, mode="eval")
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        why = error.msg if isinstance(error, SyntaxError) else "it nests too deeply"
        raise RuleError(f"it cannot be read: {why}", "use addresses, numbers, + - * / and brackets") from error
    compute = _compute(tree.body, leaves, known)
    return Term(compute, tuple(dict.fromkeys(address for each in leaves.values() for address in each.addresses)))


def _leaf(match: re.Match[str]) -> Term:
    if address := Address.read(match["address"] or ""):
        return Term(lambda source: source.values(address), (address,))
    given = amount(match["amount"])
    step, dimension = UNITS[given.unit]
    return Term(lambda _: Values({frozenset(): Quantity(given.value * step, kind="computed")}, dimension))


def _compute(node: ast.expr, leaves: Mapping[str, Term], names: Mapping[str, str], depth: int = 0) -> Compute:
    """Return how a node of the parsed expression is computed; raises `RuleError` for what is not of the language."""
    if depth > DEEPEST:
        raise RuleError(f"more than {DEEPEST} parts stand inside each other", "give some of them a name")
    match node:
        case ast.Name(id=name) if name in leaves:
            return leaves[name]
        case ast.BinOp(left, op, right) if type(op) in _SIGNS:
            first, second = (_compute(each, leaves, names, depth + 1) for each in (left, right))
            return lambda source: first(source).joined(_SIGNS[type(op)], second(source))
        case ast.Call(ast.Name(id=name), [_, *_] as parts, []) if name in FUNCTIONS:
            along = [each.id for each in parts[-1:] if name in ALONG and isinstance(each, ast.Name)]
            made = [_compute(each, leaves, names, depth + 1) for each in parts[: len(parts) - len(along)]]
            return partial(call, name, made, along)
        case ast.Name(id=name) | ast.Call(ast.Name(id=name)):
            near = nearest(name, [*FUNCTIONS, *names])
            fix = f"the nearest is {near!r}; an address is study.op[...]"
            raise RuleError(f"no function or name {name!r}", fix)
    raise RuleError("it holds more than sums can", "use addresses, numbers, + - * / and brackets")
