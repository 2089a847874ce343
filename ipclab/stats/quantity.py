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
# The kind of a quantile that has no value, since too few samples lie beyond it
FEW_SAMPLES = "few-samples"
# Launches that two quantities share, so that what is made of them is made launch by launch
LEAST_SHARED = 2


def _operator(
    combine: Callable[["Quantity", "Quantity"], "Quantity"],
) -> Callable[["Quantity", Number], "Quantity"]:
    return lambda one, other: combine(one, of(other))


@dataclass(frozen=True)
class Quantity:
    """One value with where it comes from; a value of None was not measured, and neither is what
    follows from it.

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
    """Return a number as an exact quantity, a quantity as it is; NaN, as pandas has it, was not
    measured.
    """
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
    if _exact(one) != _exact(other):
        return _shifted(one, other, sign)
    combine = add if sign > 0 else sub
    if paired := _by_launch(one, other, combine):
        return _paired(paired, one.unit, one, other)
    (a, b), (c, d) = one.ends, other.ends[::sign]
    value = one.value + sign * other.value
    down, up = hypot(one.value - a, other.value - c), hypot(b - one.value, d - other.value)
    return _made(value, one.unit, value - down, value + up, one, other)


def _exact(quantity: Quantity) -> bool:
    return quantity.low is None and not quantity.launches


def _shifted(one: Quantity, other: Quantity, sign: int) -> Quantity:
    """Return the sum or difference of two of which one is exact: its interval is as wide as the
    other one's.
    """
    (a, b), (c, d) = one.ends, other.ends[::sign]
    made = _made(one.value + sign * other.value, one.unit, a + sign * c, b + sign * d, one, other)
    combine = add if sign > 0 else sub
    return replace(made, launches=_by_launch(one, other, combine))


def _product(one: Quantity, other: Quantity, power: int) -> Quantity:
    if not (one and other):
        return missing()  # of whatever unit: what was not measured has none for certain
    unit = _unit(one.unit, other.unit, power)
    alike = isclose(one.scale, other.scale, rel_tol=1e-12)
    quotient = (one.row, other.row) if power < 0 and one.row and other.row and alike else None
    combine = mul if power > 0 else truediv
    scaled = _exact(one) != _exact(other)
    if not scaled and (paired := _by_launch(one, other, combine)):
        return replace(_paired(paired, unit, one, other), quotient=quotient)
    (a, b), (c, d) = one.ends, other.ends
    if power < 0 and c <= 0 <= d:
        return _made(one.value / other.value if other.value else inf, unit, -inf, inf, one, other)
    value = combine(one.value, other.value)
    if min(a, c) <= 0 or not all(map(isfinite, (a, b, c, d))):  # the widest that the ends allow
        corners = [combine(x, y) for x in (a, b) for y in (c, d)]
        return replace(
            _made(value, unit, min(corners), max(corners), one, other), quotient=quotient
        )
    x, y, (e, f) = log(one.value), log(other.value), (log(c), log(d))[::power]
    down, up = hypot(x - log(a), y - e), hypot(log(b) - x, f - y)
    made = _made(value, unit, value * exp(-down), value * exp(up), one, other)
    return _in_unit(made, one, other, combine) if scaled else replace(made, quotient=quotient)


def _unit(one: str, other: str, power: int) -> str:
    """Return the unit of a product or a ratio; raises `ValueError` for units that make none."""
    if other in PLAIN:
        return one
    if power < 0 and one == other:
        return "1"
    if power > 0 and one in PLAIN:
        return other
    raise ValueError(f"{one} and {other} cannot be combined")


def _in_unit(
    made: Quantity, one: Quantity, other: Quantity, combine: Callable[[float, float], float]
) -> Quantity:
    """Return what was `made` of a measured quantity and an exact number: the same one in another
    unit.
    """
    launches = _by_launch(one, other, combine)
    if not _exact(other):
        return replace(made, launches=launches)
    scale = combine(one.scale, float(other.value))
    quotient = one.quotient if scale == one.scale else None
    return replace(made, launches=launches, row=one.row, scale=scale, quotient=quotient)


def _by_launch(
    one: Quantity, other: Quantity, combine: Callable[[float, float], float]
) -> dict[int, float]:
    """Return both combined for each launch that they share; nothing where they share too few.

    A number that is exact is the same for all launches.
    """
    a, b = one.launches, other.launches
    if a and not b and other.low is None:
        b = dict.fromkeys(a, float(other.value))
    elif b and not a and one.low is None:
        a = dict.fromkeys(b, float(one.value))
    shared = sorted(a.keys() & b.keys())
    if len(shared) < LEAST_SHARED or (
        combine is truediv and not all(b[launch] for launch in shared)
    ):
        return {}
    return {launch: combine(a[launch], b[launch]) for launch in shared}


def _paired(launches: Mapping[int, float], unit: str, one: Quantity, other: Quantity) -> Quantity:
    """Return the median over `launches` with its interval."""
    median = statistic_estimate(list(launches.values()), 0)
    if unit in VARYING:
        median = median.for_sessions()
    return replace(
        _made(median.value, unit, median.low, median.high, one, other), launches=launches
    )


def _made(
    value: float, unit: str, low: float, high: float, one: Quantity, other: Quantity
) -> Quantity:
    exact = one.low is None and other.low is None and isfinite(low)
    counts = [part.n for part in (one, other) if part.n]
    fewest = min(counts, key=lambda n: int(n.split()[0]), default="")
    sources = tuple(dict.fromkeys((*one.sources, *other.sources)))
    if exact:
        return Quantity(value, unit, None, None, fewest, "computed", sources)
    return Quantity(value, unit, low, high, fewest, "measured", sources)
