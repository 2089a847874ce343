"""A quantity: a value with its interval and unit, and the only arithmetic of intervals here.

What was measured in the same launches, or in launches of the same heats, is computed launch by
launch: parts of one launch share its luck, so that a ratio of them varies far less than either. All
else is taken for independent: sums and differences combine the distances to the interval's ends,
products and ratios do so on the logarithmic scale: the method of variance estimates recovery (Zou
and Donner, Statist. Med. 27, 2008, 1693-1702). It needs the ends alone and respects their
asymmetry.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import exp, hypot, inf, isclose, isfinite, log
from operator import add, mul, sub, truediv
from typing import Any, Union

from ipclab.stats.intervals import VARYING, statistic_estimate

Number = Union[int, float, "Quantity"]
PLAIN = ("1", "share", "count", "")
# The kind, and the flag, of a quantile that has no value, since too few samples lie beyond it
FEW_SAMPLES = "few-samples"
# Launches that two quantities share, so that what is made of them is made launch by launch
LEAST_SHARED = 2


def _operator(
    combine: Callable[["Quantity", "Quantity"], "Quantity"],
) -> Callable[["Quantity", Number], "Quantity"]:
    return lambda one, other: combine(one, of(other))


@dataclass(frozen=True)
class Quantity:
    """One value with where it comes from; None was not measured, nor what follows from it.

    `unit` is ns, B, B/s, 1 (a ratio), share (0 to 1), count, text, date (ISO 8601) or any other
    symbol; `low` and `high` are the interval in the same unit (None: exact); `n` says of how many;
    `kind` is measured, published, estimate, computed or few-samples; `sources` are the rows that it
    follows from, as study/point/op/metric. `launches` are its values by heat (or launch), `row` is
    the source whose value it is, times `scale` (another unit), `quotient` the two rows of which it
    is the ratio. Arithmetic takes quantities of one unit or plain numbers and raises `ValueError`
    otherwise.
    """

    value: Any
    unit: str = "1"
    low: float | None = None
    high: float | None = None
    n: str = ""
    kind: str = "measured"
    sources: tuple[str, ...] = field(default=(), compare=False, repr=False)
    launches: Mapping[int, float] = field(default_factory=dict, compare=False, repr=False)
    row: str = field(default="", compare=False, repr=False)
    scale: float = field(default=1.0, compare=False, repr=False)
    quotient: tuple[str, str] | None = field(default=None, compare=False, repr=False)

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


def _linear(one: Quantity, other: Quantity, sign: int) -> Quantity:
    if not (one and other):
        return missing(one.unit if one else other.unit)
    if one.unit != other.unit and not (one.unit in PLAIN and other.unit in PLAIN):
        raise ValueError(f"{one.unit} and {other.unit} cannot be added")
    launches = _by_launch(one, other, add if sign > 0 else sub)
    value = one.value + sign * other.value
    low, high = one.ends
    other_low, other_high = other.ends[::sign]  # by which end of the result they move
    if _exact(one) != _exact(other):  # the interval is as wide as that of the measured one
        first = low + sign * other_low
        last = high + sign * other_high
        made = _made(value, one.unit, first, last, one, other)
        return replace(made, launches=launches)
    if launches:
        return _paired(launches, one.unit, one, other)
    down = hypot(one.value - low, other.value - other_low)
    up = hypot(high - one.value, other_high - other.value)
    return _made(value, one.unit, value - down, value + up, one, other)


def _exact(quantity: Quantity) -> bool:
    return quantity.low is None and not quantity.launches


def _product(one: Quantity, other: Quantity, power: int) -> Quantity:
    if not (one and other):
        return missing()  # of whatever unit: what was not measured has none for certain
    unit = _unit(one.unit, other.unit, power)
    alike = isclose(one.scale, other.scale, rel_tol=1e-12)
    quotient = None
    if power < 0 and one.row and other.row and alike:
        quotient = one.row, other.row
    combine = mul if power > 0 else truediv
    launches = _by_launch(one, other, combine)
    scaled = _exact(one) != _exact(other)
    if launches and not scaled:
        return replace(_paired(launches, unit, one, other), quotient=quotient)
    low, high = one.ends
    other_low, other_high = other.ends
    if power < 0 and other_low <= 0 <= other_high:
        value = one.value / other.value if other.value else inf
        return _made(value, unit, -inf, inf, one, other)
    value = combine(one.value, other.value)
    finite = all(map(isfinite, (*one.ends, *other.ends)))
    if min(low, other_low) <= 0 or not finite:  # the widest that the ends allow
        corners = [combine(end, other_end) for end in one.ends for other_end in other.ends]
        made = _made(value, unit, min(corners), max(corners), one, other)
        return replace(made, quotient=quotient)
    middle = log(one.value)
    other_middle = log(other.value)
    other_first, other_last = (log(other_low), log(other_high))[::power]
    down = hypot(middle - log(low), other_middle - other_first)
    up = hypot(log(high) - middle, other_last - other_middle)
    made = _made(value, unit, value * exp(-down), value * exp(up), one, other)
    if scaled:
        quotient = None
    if scaled and _exact(other):  # the same in another unit
        scale = combine(one.scale, float(other.value))
        quotient = one.quotient if scale == one.scale else None
        made = replace(made, row=one.row, scale=scale)
    return replace(made, launches=launches, quotient=quotient)


def _unit(one: str, other: str, power: int) -> str:
    """Return the unit of a product or a ratio; raises `ValueError` for units that make none."""
    if other in PLAIN:
        return one
    if power < 0 and one == other:
        return "1"
    if power > 0 and one in PLAIN:
        return other
    raise ValueError(f"{one} and {other} cannot be combined")


def _by_launch(
    one: Quantity, other: Quantity, combine: Callable[[float, float], float]
) -> dict[int, float]:
    """Return both combined for each launch that they share; nothing where they share too few.

    A number that is exact is the same for all launches.
    """
    mine = one.launches
    theirs = other.launches
    if mine and not theirs and other.low is None:
        theirs = dict.fromkeys(mine, float(other.value))
    elif theirs and not mine and one.low is None:
        mine = dict.fromkeys(theirs, float(one.value))
    shared = sorted(mine.keys() & theirs.keys())
    by_zero = combine is truediv and not all(theirs[launch] for launch in shared)
    if len(shared) < LEAST_SHARED or by_zero:
        return {}
    return {launch: combine(mine[launch], theirs[launch]) for launch in shared}


def _paired(launches: Mapping[int, float], unit: str, one: Quantity, other: Quantity) -> Quantity:
    """Return the median over `launches` with its interval."""
    median = statistic_estimate(list(launches.values()), 0)
    if unit in VARYING:
        median = median.for_sessions()
    made = _made(median.value, unit, median.low, median.high, one, other)
    return replace(made, launches=launches)


def _made(
    value: float, unit: str, low: float, high: float, one: Quantity, other: Quantity
) -> Quantity:
    counts = [part.n for part in (one, other) if part.n]
    fewest = min(counts, key=lambda n: int(n.split()[0]), default="")
    sources = tuple(dict.fromkeys((*one.sources, *other.sources)))
    if one.low is None and other.low is None and isfinite(low):
        return Quantity(value, unit, n=fewest, kind="computed", sources=sources)
    return Quantity(value, unit, low, high, fewest, "measured", sources)
