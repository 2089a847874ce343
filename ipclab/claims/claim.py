"""A claim and its verdict: holds, fails, undecided, or not testable here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from ipclab.facts.fact import Fact

HOLDS, FAILS, UNDECIDED, NOT_TESTABLE = "holds", "fails", "undecided", "not testable here"
VERDICTS = (HOLDS, FAILS, UNDECIDED, NOT_TESTABLE)
Facts = Mapping[str, Fact]


@dataclass(frozen=True)
class Quantity:
    """What a rule compares with its bounds: a value and its interval (equal to the value where there is none)."""

    value: float
    low: float
    high: float

    def __truediv__(self, other: "Quantity") -> "Quantity":
        """Return the ratio; the interval is the widest that the two allow."""
        return Quantity(self.value / other.value, self.low / other.high, self.high / other.low)

    def __add__(self, other: "Quantity") -> "Quantity":
        """Return the sum; the interval is the widest that the two allow."""
        return Quantity(self.value + other.value, self.low + other.low, self.high + other.high)

    def __mul__(self, factor: float) -> "Quantity":
        """Return the product with a positive number."""
        return Quantity(self.value * factor, self.low * factor, self.high * factor)

    def over(self, number: float) -> "Quantity":
        """Return `number` divided by the quantity."""
        return Quantity(number / self.value, number / self.high, number / self.low)


class MissingError(LookupError):
    """A rule needs a fact that was not measured or not published."""


def take(facts: Facts, name: str) -> Quantity:
    """Return the fact `name` as a quantity; raises `MissingError` when it is not there or has no value."""
    fact = facts.get(name)
    if fact is None or not isinstance(fact.value, int | float):
        raise MissingError(name)
    value = float(fact.value)
    return Quantity(value, value if fact.low is None else fact.low, value if fact.high is None else fact.high)


@dataclass(frozen=True)
class Claim:
    """One published statement.

    `quote` is the original's words, `meaning` a msgid for the readers of the other languages with `figures` as its
    placeholders. `quantities` takes facts and returns all that must lie inside `bounds` (both included); `unit` is
    theirs. `unstated` says, as a msgid, why the text's own table cannot decide, where it cannot.
    """

    id: str
    seed: str
    section: str
    language: str
    quote: str
    meaning: str
    quantities: Callable[[Facts], Sequence[Quantity]]
    bounds: tuple[float, float]
    unit: str = "1"
    unstated: str = ""
    figures: dict[str, Fact] = field(default_factory=dict)


@dataclass(frozen=True)
class Verdict:
    """The outcome of a rule: the quantities' range, and what was missing when nothing could be said."""

    word: str
    value: tuple[float, float] | None = None
    interval: tuple[float, float] | None = None
    missing: str = ""


def judge(claim: Claim, facts: Facts) -> Verdict:
    """Return the verdict of `claim` on `facts`.

    It holds when every interval lies inside the bounds, fails when one lies entirely outside, and is undecided when an
    interval straddles a bound.
    """
    try:
        found = claim.quantities(facts)
    except MissingError as missing:
        return Verdict(NOT_TESTABLE, missing=str(missing))
    low, high = claim.bounds
    outside = any(each.high < low or each.low > high for each in found)
    inside = all(each.low >= low and each.high <= high for each in found)
    word = FAILS if outside else HOLDS if inside else UNDECIDED
    value = min(each.value for each in found), max(each.value for each in found)
    return Verdict(word, value, (min(each.low for each in found), max(each.high for each in found)))


def at_least(bound: float) -> tuple[float, float]:
    """Return the bounds of a rule that asks for `bound` or more."""
    return bound, inf


def at_most(bound: float) -> tuple[float, float]:
    """Return the bounds of a rule that asks for `bound` or less."""
    return -inf, bound
