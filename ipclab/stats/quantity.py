"""A quantity: a value with its interval and unit, and the only arithmetic of intervals here.

Sums and differences combine the distances to the interval's ends, products and ratios do so on the logarithmic scale:
the method of variance estimates recovery (Zou and Donner, Statist. Med. 27, 2008, 1693-1702). It needs the ends alone,
respects their asymmetry, and takes the operands for independent.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from math import exp, hypot, inf, isfinite, log
from operator import mul, truediv
from typing import Any, Union

Number = Union[int, float, "Quantity"]
PLAIN = ("1", "share", "count", "")


def _operator(
    combine: Callable[["Quantity", "Quantity"], "Quantity"],
) -> Callable[["Quantity", Number], "Quantity"]:
    return lambda one, other: combine(one, of(other))


@dataclass(frozen=True)
class Quantity:
    """One value with where it comes from; a value of None was not measured, and neither is what follows from it.

    `unit` is ns, B, B/s, 1 (a ratio), share (0 to 1), count, text, date (ISO 8601) or any other symbol; `low` and
    `high` are the interval in the same unit (None: exact); `n` says of how many; `kind` is measured, published,
    estimate or computed; `sources` are the rows that it follows from, as study/point/op/metric. Arithmetic takes
    quantities of one unit or plain numbers and raises `ValueError` otherwise.
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

    __add__ = __radd__ = _operator(lambda one, other: _linear(one, other, 1))
    __sub__ = _operator(lambda one, other: _linear(one, other, -1))
    __rsub__ = _operator(lambda one, other: _linear(other, one, -1))
    __mul__ = __rmul__ = _operator(lambda one, other: _product(one, other, 1))
    __truediv__ = _operator(lambda one, other: _product(one, other, -1))
    __rtruediv__ = _operator(lambda one, other: _product(other, one, -1))

    def as_unit(self, unit: str) -> "Quantity":
        """Return the same numbers in another unit, such as a ratio as a share."""
        return replace(self, unit=unit)


def of(value: Number) -> Quantity:
    """Return a number as an exact quantity, a quantity as it is; NaN, as pandas has it, was not measured."""
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


def _linear(one: Quantity, other: Quantity, sign: int) -> Quantity:
    if not (one and other):
        return missing(one.unit if one else other.unit)
    if one.unit != other.unit and not (one.unit in PLAIN and other.unit in PLAIN):
        raise ValueError(f"{one.unit} and {other.unit} cannot be added")
    (a, b), (c, d) = one.ends, other.ends[::sign]
    value = one.value + sign * other.value
    down, up = hypot(one.value - a, other.value - c), hypot(b - one.value, d - other.value)
    return _made(value, one.unit, value - down, value + up, one, other)


def _product(one: Quantity, other: Quantity, power: int) -> Quantity:
    if not (one and other):
        return missing()  # of whatever unit: what was not measured has none for certain
    if other.unit not in PLAIN and (one.unit != other.unit if power < 0 else one.unit not in PLAIN):
        raise ValueError(f"{one.unit} and {other.unit} cannot be combined")
    unit = one.unit if other.unit in PLAIN else "1" if power < 0 else other.unit
    (a, b), (c, d) = one.ends, other.ends
    if power < 0 and c <= 0 <= d:
        return _made(one.value / other.value if other.value else inf, unit, -inf, inf, one, other)
    combine = mul if power > 0 else truediv
    value = combine(one.value, other.value)
    if min(a, c) <= 0 or not all(map(isfinite, (a, b, c, d))):  # the widest that the ends allow
        corners = [combine(x, y) for x in (a, b) for y in (c, d)]
        return _made(value, unit, min(corners), max(corners), one, other)
    x, y, (e, f) = log(one.value), log(other.value), (log(c), log(d))[::power]
    down, up = hypot(x - log(a), y - e), hypot(log(b) - x, f - y)
    return _made(value, unit, value * exp(-down), value * exp(up), one, other)


def _made(value: float, unit: str, low: float, high: float, one: Quantity, other: Quantity) -> Quantity:
    exact = one.low is None and other.low is None and isfinite(low)
    named = min((each.n for each in (one, other) if each.n), key=lambda n: int(n.split()[0]), default="")
    sources = tuple(dict.fromkeys((*one.sources, *other.sources)))
    found = Quantity(value, unit, low, high, named, "measured", sources)
    return replace(found, low=None, high=None, kind="computed") if exact else found
