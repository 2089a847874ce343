"""A claim and its verdicts: holds, fails, undecided, or not testable here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from math import inf
from typing import NamedTuple

from ipclab.facts.fact import Fact

HOLDS, FAILS, UNDECIDED, NOT_TESTABLE = "holds", "fails", "undecided", "not testable here"
VERDICTS = (HOLDS, FAILS, UNDECIDED, NOT_TESTABLE)
Facts = Mapping[str, Fact]


@dataclass(frozen=True)
class Quantity:
    """What a rule compares with its bounds: a value and its interval (equal to the value where there is none).

    Arithmetic is that of intervals: the result's interval is the widest that the operands' allow.
    """

    value: float
    low: float
    high: float

    def __truediv__(self, other: "Quantity") -> "Quantity":
        """Return the ratio; over an interval that contains zero nothing is known of it."""
        if other.low <= 0 <= other.high:
            return Quantity(self.value / other.value if other.value else inf, -inf, inf)
        return _widest(self.value / other.value, self, other, lambda a, b: a / b)

    def __add__(self, other: "Quantity") -> "Quantity":
        """Return the sum."""
        return Quantity(self.value + other.value, self.low + other.low, self.high + other.high)

    def __sub__(self, other: "Quantity") -> "Quantity":
        """Return the difference."""
        return Quantity(self.value - other.value, self.low - other.high, self.high - other.low)

    def __mul__(self, factor: "float | Quantity") -> "Quantity":
        """Return the product with a number or a quantity."""
        other = factor if isinstance(factor, Quantity) else exact(factor)
        return _widest(self.value * other.value, self, other, lambda a, b: a * b)

    def over(self, number: float) -> "Quantity":
        """Return `number` divided by the quantity."""
        return exact(number) / self


def exact(value: float) -> Quantity:
    """Return a number as a quantity without an interval."""
    return Quantity(value, value, value)


def _widest(value: float, first: Quantity, second: Quantity, make: Callable[[float, float], float]) -> Quantity:
    corners = [make(a, b) for a, b in product((first.low, first.high), (second.low, second.high))]
    return Quantity(value, min(corners), max(corners))


class MissingError(LookupError):
    """A rule needs a fact that was not measured or not published."""


def take(facts: Facts, name: str) -> Quantity:
    """Return the fact `name` as a quantity; raises `MissingError` when it is not there or has no value."""
    fact = facts.get(name)
    if fact is None or not isinstance(fact.value, int | float):
        raise MissingError(name)
    value = float(fact.value)
    return Quantity(value, value if fact.low is None else fact.low, value if fact.high is None else fact.high)


Rule = Callable[[Facts], Sequence[Quantity]]


@dataclass(frozen=True)
class Need:
    """What a rule needs of the machine or the run beyond its facts: that `fact` is at least `least`.

    `words` is a msgid that says so, with the placeholders {least} and {here}.
    """

    fact: str
    least: float
    words: str
    unit: str = "count"

    def met(self, facts: Facts) -> bool:
        """Tell whether `facts` have enough of it; what they do not say is no hindrance."""
        found = facts.get(self.fact)
        return found is None or not isinstance(found.value, int | float) or found.value >= self.least

    def figures(self, facts: Facts) -> dict[str, Fact]:
        """Return what the words' placeholders stand for."""
        found = facts.get(self.fact)
        return {
            "least": Fact("least", self.least, self.unit),
            "here": Fact("here", found.value if found else None, self.unit),
        }


@dataclass(frozen=True)
class Claim:
    """One published statement.

    `quote` is the original's words, `meaning` a msgid for the readers of the other languages with `figures` as its
    placeholders (`translations` by language take its place where they are given). `quantities` takes facts and returns
    all that must lie inside `bounds` (both included); `unit` is theirs. `unstated` says, as a msgid, why the text's own
    table cannot decide, where it cannot. `fair` returns the quantities by a fair method where that differs, `adds`
    says, as a msgid, what it adds; the bounds stay. `needs` is what either method needs to be testable. `table` holds
    the facts of the claim's own table, where it is in none of the texts.
    """

    id: str
    seed: str
    section: str
    language: str
    quote: str
    meaning: str
    quantities: Rule
    bounds: tuple[float, float]
    unit: str = "1"
    unstated: str = ""
    figures: dict[str, Fact] = field(default_factory=dict)
    fair: Rule | None = None
    adds: str = ""
    needs: tuple[Need, ...] = ()
    translations: Mapping[str, str] = field(default_factory=dict)
    table: Facts = field(default_factory=dict)

    def fairly(self, fair: Rule, adds: str) -> "Claim":
        """Return the claim with a fair method."""
        return replace(self, fair=fair, adds=adds)


@dataclass(frozen=True)
class Verdict:
    """The outcome of a rule: the quantities' range, and the fact or the need that was missing if nothing can be said.

    `found` are the quantities one by one.
    """

    word: str
    value: tuple[float, float] | None = None
    interval: tuple[float, float] | None = None
    missing: str = ""
    need: Need | None = None
    found: tuple[Quantity, ...] = ()


class Verdicts(NamedTuple):
    """The three verdicts of a claim; `fair` equals `here` when the fair method is the published one."""

    own: Verdict
    here: Verdict
    fair: Verdict


def judge(claim: Claim, facts: Facts) -> Verdict:
    """Return the verdict of `claim` on `facts` by the published method.

    It holds when every interval lies inside the bounds, fails when one lies entirely outside, and is undecided when an
    interval straddles a bound.
    """
    return _decide(claim.quantities, claim.bounds, facts)


def judge_all(claim: Claim, text: Facts, run: Facts) -> Verdicts:
    """Return the verdicts of `claim` on the text's own table, and on the run by the published and the fair method."""
    own = Verdict(NOT_TESTABLE) if claim.unstated else judge(claim, claim.table or text)
    lacking = next((need for need in claim.needs if not need.met(run)), None)
    if lacking:
        here = Verdict(NOT_TESTABLE, missing=lacking.fact, need=lacking)
        return Verdicts(own, here, here)
    here = judge(claim, run)
    return Verdicts(own, here, _decide(claim.fair, claim.bounds, run) if claim.fair else here)


def _decide(rule: Rule, bounds: tuple[float, float], facts: Facts) -> Verdict:
    try:
        found = tuple(rule(facts))
    except MissingError as missing:
        return Verdict(NOT_TESTABLE, missing=str(missing))
    if not found:
        return Verdict(NOT_TESTABLE)
    low, high = bounds
    outside = any(each.high < low or each.low > high for each in found)
    inside = all(each.low >= low and each.high <= high for each in found)
    word = FAILS if outside else HOLDS if inside else UNDECIDED
    value = min(each.value for each in found), max(each.value for each in found)
    return Verdict(word, value, (min(each.low for each in found), max(each.high for each in found)), found=found)


def at_least(bound: float) -> tuple[float, float]:
    """Return the bounds of a rule that asks for `bound` or more."""
    return bound, inf


def at_most(bound: float) -> tuple[float, float]:
    """Return the bounds of a rule that asks for `bound` or less."""
    return -inf, bound
