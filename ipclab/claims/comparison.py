"""Comparisons: what a rule says must be so, `at_least 1.85 GB/s` or `between 2 and 3 rounded`.

A bound that is `rounded` stands for all that round to it, in the digits in which it is written.
"""

import re
from dataclasses import dataclass
from math import inf

import pandas as pd

from ipclab.claims.amounts import RuleError, amount_and_half
from ipclab.claims.extremes import matched
from ipclab.claims.numbers import Compared, Numbers, Values, only
from ipclab.frames.address import Address

ROUNDED = "rounded"
COMPARISONS = ("at_least", "at_most", "above", "below", "exactly", "between")
ONE = "1"  # over an address: how often in a second
_RULE = re.compile(rf"(.*)\b({'|'.join(COMPARISONS)})\b(.*)", re.DOTALL)
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
Ends = tuple[float, float]


@dataclass(frozen=True)
class Bounds:
    """Two bounds in SI units, of which one may be endless; an `open` one is not included.

    `low` and `high` decide; `written` are the bounds as they are written, which may stand for all
    that round to them.
    """

    text: str
    low: float
    high: float
    unit: str
    open: bool
    written: Ends

    @property
    def rounded(self) -> bool:
        """Whether the bounds stand for all that round to them."""
        return self.written != (self.low, self.high)

    @classmethod
    def read(cls, text: str) -> "Bounds":
        """Return the bounds that `text` says; raises `RuleError`."""
        parts = _RULE.fullmatch(text)
        if not parts or parts[1].strip():
            raise RuleError("it has no comparison", f"use {', '.join(COMPARISONS)} ... and ...")
        word, said = parts[2], parts[3].strip()
        ends = re.split(r"\band\b", said.removesuffix(ROUNDED))
        rounded = said.endswith(ROUNDED)
        if len(ends) != (2 if word == "between" else 1):
            why = f"{word} has {len(ends)} bounds"
            raise RuleError(why, "write at_least 2, or between 2 and 3")
        if not all(end.strip() for end in ends):
            raise RuleError("it ends where a number should stand")
        is_open = word in ("above", "below")
        if rounded and is_open:
            why = f"{word} excludes its bound, which then stands for no others"
            raise RuleError(why, "write at_least or at_most")
        amounts = [amount_and_half(_THOUSANDS.sub("", end)) for end in ends]
        bounds = sorted((bound.value, half * rounded) for bound, half in amounts)
        low, below = (-inf, 0.0) if word in ("at_most", "below") else bounds[0]
        high, above = (inf, 0.0) if word in ("at_least", "above") else bounds[-1]
        unit = amounts[0][0].unit
        return cls(text.strip(), low - below, high + above, unit, is_open, (low, high))


class Rule:  # no dataclass, which msgspec would read as a table
    """A rule of a person's own: an address, or the ratio of two, and its bounds.

    `over` is divided by `under`; without an `over` it is how often `under` fits into a second.
    """

    def __init__(self, bounds: Bounds, over: Address | None, under: Address | None = None) -> None:
        self.bounds = bounds
        self.over = over
        self.under = under

    @property
    def addresses(self) -> list[Address]:
        """Return the addresses that it names, in order."""
        return [address for address in (self.over, self.under) if address]

    def compared(self, run: Numbers) -> Compared:
        """Return what is compared of a run, each by its levels; raises `MissingError`."""
        if self.over is None:
            return _rates(run.at(self.addresses[0]))
        over = run.at(self.over)
        if self.under is None:
            return over
        under = run.at(self.under)
        one, other = (values.index.names == [None] for values in (over, under))
        if other:
            return over / only(under)
        return only(over) / under if one else matched(over, under)

    @classmethod
    def read(cls, text: str) -> "Rule":
        """Return the rule `address comparison amount`; raises `RuleError`."""
        parts = _RULE.fullmatch(text)
        bounds = Bounds.read(text[parts.start(2) :] if parts else "")
        return cls.of(parts[1] if parts else "", bounds)

    @classmethod
    def of(cls, compared: str, bounds: Bounds) -> "Rule":
        """Return the rule that compares `address`, `address / address` or `1 / address`."""
        over, slash, under = compared.partition("/")
        if slash and over.strip() == ONE:
            return cls(bounds, None, _address(under))
        return cls(bounds, _address(over), _address(under) if slash else None)


def _rates(times: Values) -> Values:
    """Return how often in a second each time passes; raises `RuleError` for what is no time."""
    if any(time.unit != "ns" for time in times):
        raise RuleError("1 / address is how often in a second", "name an address of times")
    rates = [(1e9 / time.as_unit("1")).as_unit("1/s") for time in times]
    return pd.Series(rates, times.index, dtype=object)


def _address(text: str) -> Address:
    address = Address.read(text)
    if address is None or address.text:
        fix = "write study.op[factor=level].metric, a ratio of two such, or 1 / such"
        raise RuleError(f"{text.strip()!r} is no address", fix)
    return address
