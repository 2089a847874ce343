"""Numbers of a finding as text: values, and ratios told by one number above one."""

from collections.abc import Sequence
from math import inf, isfinite
from typing import Any, NamedTuple

from ipclab.stats.quantity import Quantity
from ipclab.words.catalogue import LANGUAGES
from ipclab.words.words import Words

FACTOR = 1.5  # from here a ratio is told as a factor, below it in per cent
FEW_WITHIN = 2.0  # a "within" beyond this factor tells nothing


class Amount(NamedTuple):
    """A number with its unit and, where it is not exact, its interval, whose ends may be endless."""

    value: float
    unit: str = "1"
    low: float | None = None
    high: float | None = None

    @classmethod
    def of(cls, quantity: Quantity) -> "Amount":
        """Return a quantity that has a value."""
        if quantity.low is None or quantity.high is None:
            return cls(float(quantity.value), quantity.unit)
        return cls(float(quantity.value), quantity.unit, float(quantity.low), float(quantity.high))

    @classmethod
    def read(cls, plain: Sequence[Any]) -> "Amount":
        """Return what `plain` was made of."""
        value, unit, *ends = plain
        if not ends:
            return cls(float(value), str(unit))
        low, high = ends
        return cls(
            float(value), str(unit), -inf if low is None else low, inf if high is None else high
        )

    @property
    def plain(self) -> list[Any]:
        """Return it as JSON can hold it: an endless end is None."""
        if self.low is None or self.high is None:
            return [self.value, self.unit]
        ends = [end if isfinite(end) else None for end in (self.low, self.high)]
        return [self.value, self.unit, *ends]

    def inverse(self) -> "Amount":
        """Return one over a ratio."""
        if self.low is None or self.high is None:
            return Amount(1 / self.value)
        return Amount(1 / self.value, "1", 1 / self.high, 1 / self.low if self.low > 0 else inf)

    def within(self) -> float:
        """Return the factor that a ratio lies within, of either direction."""
        low, high = self.low or self.value, self.high or self.value
        return max(high, 1 / low if low > 0 else inf)


def number(amount: Amount, words: Words, spec: str = "") -> str:
    """Return an amount as text; bytes choose their unit."""
    if amount.unit == "B":
        spec = f"scaled,{spec}"
    return words.numbers.format(Quantity(*amount), spec)


class Told(NamedTuple):
    """A ratio as it is told: its key among a measure's predicates, the number, the interval."""

    key: str
    n: str
    interval: str


def ratio(amount: Amount, words: Words) -> Told:
    """Return a ratio as a number above one, or as per cent below `FACTOR`, with its interval.

    A percentage's interval is that of the ratio's own ends.
    """
    less = amount.value < 1
    up = amount.inverse() if less else amount
    if up.value >= FACTOR:
        n = number(Amount(up.value), words, "bare")
        return Told("less" if less else "more", n, _interval(up.low, up.high, words, ""))
    n = number(Amount(abs(amount.value - 1), "share"), words, "pct")
    ends: tuple[float | None, float | None] = (None, None)
    if amount.low is not None and amount.high is not None:
        changes = [1 - end if less else end - 1 for end in (amount.low, amount.high)]
        ends = 100 * min(changes), 100 * max(changes)
    return Told("less_pct" if less else "more_pct", n, _interval(*ends, words, "%"))


def _interval(low: float | None, high: float | None, words: Words, unit: str) -> str:
    if low is None or high is None or low == high:  # exact, as a number of bytes
        return ""
    between = LANGUAGES.get(words.lang, {}).get("between", "–")
    ends = [words.numbers.number(end) for end in (low, high)]
    return f" [{between.join(ends)}{unit}]"


def factor(within: float, words: Words, times: str) -> str:
    """Return within what two are alike: per cent, or a factor from `FACTOR` on."""
    if within < FACTOR:
        return number(Amount(within - 1, "share"), words, "pct")
    return times.format(n=number(Amount(within), words, "bare"))
