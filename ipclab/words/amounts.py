"""Numbers of a finding as text: values, and ratios told by one number above one.

A finding holds a quantity as JSON can: a list of value, unit and, where it is not exact, the ends of
its interval, None where that is endless.
"""

from collections.abc import Sequence
from math import inf, isfinite
from typing import Any, NamedTuple

from ipclab.stats.quantity import Quantity
from ipclab.words.catalogue import LANGUAGES
from ipclab.words.words import Words

FACTOR = 1.5  # from here a ratio is told as a factor, below it in per cent


def as_data(quantity: Quantity) -> list[Any]:
    """Return a quantity that has a value as a finding holds it."""
    value = float(quantity.value)
    if quantity.low is None or quantity.high is None:
        return [value, quantity.unit]
    ends = [float(end) if isfinite(end) else None for end in (quantity.low, quantity.high)]
    return [value, quantity.unit, *ends]


def from_data(data: Sequence[Any]) -> Quantity:
    """Return the quantity of which `as_data` made `data`."""
    value, unit, *ends = data
    if not ends:
        return Quantity(float(value), unit)
    low, high = ends
    return Quantity(float(value), unit, -inf if low is None else low, inf if high is None else high)


def inverse(ratio: Quantity) -> Quantity:
    """Return one over a ratio."""
    if ratio.low is None or ratio.high is None:
        return Quantity(1 / ratio.value)
    high = 1 / ratio.low if ratio.low > 0 else inf
    return Quantity(1 / ratio.value, "1", 1 / ratio.high, high)


def number(quantity: Quantity, words: Words, spec: str = "") -> str:
    """Return a quantity as text; bytes choose their unit."""
    return words.numbers.format(quantity, f"scaled,{spec}" if quantity.unit == "B" else spec)


class RatioWords(NamedTuple):
    """A ratio as it is told: its key among a measure's predicates, the number, the interval."""

    key: str
    n: str
    interval: str


def ratio(over: Quantity, words: Words) -> RatioWords:
    """Return a ratio as a number above one, or as per cent below `FACTOR`, with its interval.

    A percentage's interval is that of the ratio's own ends.
    """
    key = "less" if over.value < 1 else "more"
    up = inverse(over) if key == "less" else over
    if up.value >= FACTOR:
        n = number(Quantity(up.value), words, "bare")
        return RatioWords(key, n, _interval(up.low, up.high, words))
    n = number(Quantity(abs(over.value - 1), "share"), words, "pct")
    if over.low is None or over.high is None:
        return RatioWords(f"{key}_pct", n, "")
    changes = [100 * (1 - end if key == "less" else end - 1) for end in (over.low, over.high)]
    return RatioWords(f"{key}_pct", n, _interval(min(changes), max(changes), words, "%"))


def _interval(low: float | None, high: float | None, words: Words, unit: str = "") -> str:
    if low is None or high is None:
        return ""
    ends = [words.numbers.number(end) for end in (low, high)]
    if ends[0] == ends[1]:  # exact, as a number of bytes, or in the digits that are shown
        return ""
    return f" [{LANGUAGES[words.lang].get('between', '–').join(ends)}{unit}]"
