"""A quantity: a value with its interval and unit, and the only arithmetic of intervals here.

A ratio follows from what it is made of (its `product`), not from how it was written. Operators
work on pandas Series of quantities, too: `writes / reads` aligns by index.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from numbers import Real
from typing import Any, Union

from ipclab.stats.intervals import VARYING, says_nothing
from ipclab.stats.product import Ends, Part, Product, Run, product_of, shifted, sum_of

Number = Union[int, float, "Quantity"]
PLAIN = ("1", "share", "count", "")
MAY_BE_NOTHING = ("count", "share", "points", "B")  # units of what can be 0
TIME = {"ns": 1, "1/s": -1, "B/s": -1}  # powers of time: what varies from session to session
# The kind, and the flag, of a quantile that has no value, since too few samples lie beyond it
FEW_SAMPLES = "few-samples"
_names = count()  # of parts that no run has a name for


def _operator(
    combine: Callable[["Quantity", "Quantity"], "Quantity"],
) -> Callable[["Quantity", Number], "Quantity"]:
    def combined(one: "Quantity", other: Number) -> "Quantity":
        if isinstance(other, Quantity | Real):
            return combine(one, of(other))
        return NotImplemented  # type: ignore[no-any-return]  # a pandas Series does it for each of its own

    return combined


@dataclass(frozen=True)
class Quantity:
    """One value with where it comes from; None was not measured, nor what follows from it.

    `unit` is ns, B, B/s, 1 (a ratio), share (0 to 1), count, text, date (ISO 8601) or any other
    symbol; `low` and `high` are the interval in the same unit (None: exact); `n` says of how many;
    `kind` is measured, published, estimate, computed or few-samples; `sources` are the rows that it
    follows from, as study/point/op/metric. Arithmetic takes quantities of one unit or plain numbers
    and raises `ValueError` otherwise. A changed copy (`dataclasses.replace`) is another value, that
    shares nothing with the first; `as_unit` gives the same one.
    """

    value: Any
    unit: str = "1"
    low: float | None = None
    high: float | None = None
    n: str = ""
    kind: str = "measured"
    sources: tuple[str, ...] = field(default=(), compare=False, repr=False)

    def __bool__(self) -> bool:
        """Tell whether there is a value."""
        return self.value is not None

    @property
    def ends(self) -> tuple[float, float]:
        """Return the interval, which is the value itself where it is exact."""
        value = float(self.value)
        return value if self.low is None else self.low, value if self.high is None else self.high

    @property
    def says_nothing(self) -> bool:
        """Tell whether its interval shows only that there were too few launches."""
        low, high = self.ends
        reaches_nothing = low == 0 < self.value and self.unit not in MAY_BE_NOTHING
        return says_nothing(low, high) or reaches_nothing

    @cached_property
    def product(self) -> Product:
        """What it is made of: a part of its own, where it is exact a number."""
        if self.low is None:
            return Product(float(self.value or 0))
        return product_of(
            Part(f"#{next(_names)}", None, self._as_ends(), {}, TIME.get(self.unit, 0))
        )

    @property
    def launches(self) -> Mapping[int, float]:
        """Return its values by heat (or launch), where all that it is made of shares these."""
        return self.product.launches()

    def _as_ends(self) -> Ends:
        return Ends(float(self.value), *self.ends)

    __add__ = __radd__ = _operator(lambda one, other: _linear(one, other, 1))
    __sub__ = _operator(lambda one, other: _linear(one, other, -1))
    __rsub__ = _operator(lambda one, other: _linear(other, one, -1))
    __mul__ = __rmul__ = _operator(lambda one, other: _combined(one, other, 1))
    __truediv__ = _operator(lambda one, other: _combined(one, other, -1))
    __rtruediv__ = _operator(lambda one, other: _combined(other, one, -1))

    def as_unit(self, unit: str) -> "Quantity":
        """Return the same numbers in another unit, such as a ratio as a share."""
        other = replace(self, unit=unit)
        return other if self.low is None else with_product(other, self.product)


def measured(
    quantity: Quantity, launches: Mapping[int, float], name: str, run: Run | None = None
) -> Quantity:
    """Return a quantity as the row `name` of a `run`, with its values by heat (or launch)."""
    logs = quantity.unit in VARYING and all(value > 0 for value in launches.values())
    time = TIME.get(quantity.unit, 0)
    part = Part(name, run, quantity._as_ends(), launches, time, logs)
    return with_product(replace(quantity), product_of(part))


def of(value: Number) -> Quantity:
    """Return a number as an exact quantity, a quantity as it is; NaN was not measured."""
    if isinstance(value, Quantity):
        return value
    return missing() if value != value else Quantity(value, kind="computed")  # noqa: PLR0124


def missing(unit: str = "1") -> Quantity:
    """Return what was not measured."""
    return Quantity(None, unit)


def total(parts: Iterable[Quantity]) -> Quantity:
    """Return the sum of quantities; raises `ValueError` without any."""
    first, *rest = parts
    return sum(rest, first)


def made_of(made: Product, unit: str, *parts: Quantity) -> Quantity:
    """Return the quantity of a product; `parts` say of how many it is, and of which rows."""
    value, low, high = made.ends()
    counts = [part.n for part in parts if part.n]
    fewest = min(counts, key=lambda n: int(n.split()[0]), default="")
    sources = tuple(dict.fromkeys(source for part in parts for source in part.sources))
    if made.factors:
        quantity = Quantity(value, unit, low, high, fewest, "measured", sources)
    else:
        quantity = Quantity(value, unit, n=fewest, kind="computed", sources=sources)
    return with_product(quantity, made)


def with_product(quantity: Quantity, made: Product) -> Quantity:
    """Return a quantity that is made of `made`, which is noted in it."""
    quantity.__dict__["product"] = made
    return quantity


def _linear(one: Quantity, other: Quantity, sign: int) -> Quantity:
    if not (one and other):
        return missing(one.unit if one else other.unit)
    if one.unit != other.unit and not (one.unit in PLAIN and other.unit in PLAIN):
        raise ValueError(f"{one.unit} and {other.unit} cannot be added")
    first = one.product
    second = Product(sign * other.product.number, other.product.factors)
    if not first.factors:
        first, second = second, first
    if second.factors:
        made = sum_of(first, second)
    elif first.factors:
        made = shifted(first, second.number) if second.number else first
    else:
        made = Product(first.number + second.number)
    return made_of(made, one.unit, one, other)


def _combined(one: Quantity, other: Quantity, power: int) -> Quantity:
    if not (one and other):
        return missing()  # of whatever unit: what was not measured has none for certain
    unit = _unit(one.unit, other.unit, power)
    second = other.product if power > 0 else other.product.inverse()
    return made_of(one.product * second, unit, one, other)


def _unit(one: str, other: str, power: int) -> str:
    """Return the unit of a product or a ratio; raises `ValueError` for units that make none."""
    if other in PLAIN:
        return one
    if power < 0 and one == other:
        return "1"
    if power > 0 and one in PLAIN:
        return other
    raise ValueError(f"{one} and {other} cannot be combined")
