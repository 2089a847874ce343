"""Where the values of expressions are looked up, and the arithmetic of values with their levels."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import inf
from operator import add, mul, sub, truediv
from typing import Any

import pandas as pd

from ipclab.frames.address import Address, Axes, MissingError, Points, Words, no_words
from ipclab.frames.rows import quantity
from ipclab.prose.language import RuleError
from ipclab.prose.units import KINDS, PLAIN, UNITS, Dimension
from ipclab.stats.quantity import Quantity

Operator = Callable[[Quantity, Quantity], Quantity]
# values that a person's file may make; an address counts as so many
MOST_WORK, LOOK_UP = 300_000, 300


class Work:
    """How many values computing may still make or pair; without end for what is not another's."""

    def __init__(self, left: float = inf) -> None:
        self.left = left

    def take(self, count: int) -> None:
        """Note so many values; raises `RuleError` when they are more than are left."""
        self.left -= count
        if self.left < 0:
            raise RuleError("it makes too many values to compute", "name fewer levels at once")


@dataclass(frozen=True)
class ValueSource:
    """Where addresses are looked up: a run's frames, the texts' tables, or given amounts.

    `known` are numbers about the run that levels may be multiples of (`cpus`), `words` those that
    are levels of its factors; `value` makes a quantity of a row. `work` is what computing may still
    take.
    """

    points: Points
    texts: Points | None = None
    known: Mapping[str, float] = field(default_factory=dict)
    given: Mapping[str, Quantity] | None = None
    loose: bool = False
    value: Callable[[Any], Quantity] = quantity
    frames: dict[str, pd.DataFrame] = field(default_factory=dict)
    # by address, and by a name's term
    cached: dict[Any, "Values"] = field(default_factory=dict)
    work: Work = field(default_factory=Work)
    words: Words = no_words

    def frame(self, address: Address) -> pd.DataFrame:
        """Return the frame that an address is looked up in, read once."""
        table = self.texts if address.text else None
        key = f"text.{address.study}" if table else address.study
        if key not in self.frames:
            self.frames[key] = (table or self.points)(address.study)
        return self.frames[key]

    def find(self, address: Address) -> list[tuple[Axes, Any]]:
        """Return what `Address.find` returns of this source's frames."""
        printed = address.text and self.texts is not None
        return address.find(self.frame(address), self.known, self.loose or printed)

    def values(self, address: Address) -> "Values":
        """Return the values at an address, in seconds and bytes, found once; or `MissingError`."""
        if address not in self.cached:
            self.work.take(LOOK_UP)
            if self.given is None:
                quantities = {axes: self.value(row) for axes, row in self.find(address)}
            elif str(address) in self.given:
                quantities = {frozenset(): self.given[str(address)]}
            else:
                raise MissingError(str(address))
            step, dimension = UNITS.get(next(iter(quantities.values())).unit, (1.0, PLAIN))
            cells = {axes: quantity.as_unit("1") * step for axes, quantity in quantities.items()}
            self.cached[address] = Values(cells, dimension)
        return self.cached[address]

    def once(self, named: Callable[["ValueSource"], "Values"]) -> "Values":
        """Return the values of a name's term, computed once however often it is used."""
        if named not in self.cached:
            self.cached[named] = named(self)
        return self.cached[named]


@dataclass(frozen=True)
class Values:
    """Quantities by the levels that tell them apart, in seconds and bytes, and their dimension."""

    cells: dict[Axes, Quantity]
    dimension: Dimension = PLAIN

    @property
    def named(self) -> str:
        """What the dimension is called."""
        kind = KINDS.get(self.dimension)
        return kind.called if kind else "none of time, bytes, bytes/s, number"

    def joined(self, combine: Operator, other: "Values") -> "Values":
        """Return the sums, differences, products or ratios of the values of equal levels."""
        if combine in (add, sub) and self.dimension != other.dimension:
            sign = "+" if combine is add else "-"
            raise RuleError(f"{self.named} {sign} {other.named} has no meaning")
        power = {mul: 1, truediv: -1}.get(combine, 0)
        time, size = self.dimension
        other_time, other_size = other.dimension
        cells = {
            one | two: combine(first, second)
            for one, first in self.cells.items()
            for two, second in other.cells.items()
            if len(dict(one | two)) == len(one | two)
        }
        return Values(cells, (time + power * other_time, size + power * other_size))

    def shown(self, unit: str) -> list[Quantity]:
        """Return the quantities in `unit`; raises `RuleError` when their dimension is another."""
        step, dimension = UNITS[unit]
        if dimension != self.dimension:
            why = f"it compares {self.named} with {KINDS[dimension].called}"
            raise RuleError(why, "give the bound its unit")
        scale = 1 / step
        shown = list(self.cells.values())
        if step != 1:
            shown = [cell * scale for cell in shown]
        return [cell.as_unit(unit) for cell in shown]
