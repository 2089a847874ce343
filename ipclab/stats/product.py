"""A product of measured parts to their powers: a ratio is one however it is written.

`a / b`, `1 / (b / a)` and `(a / c) / (b / c)` are one product, and so have one value and one
interval. A ratio of two medians of one run is what the run says of both. What was measured in the
same launches, or in launches of the same heats, is computed launch by launch, since parts of one
launch share its luck. All else is taken for independent: distances to the intervals' ends combine
on the logarithmic scale, the method of variance estimates recovery (Zou and Donner, Statist. Med.
27, 2008, 1693-1702). It needs the ends alone and respects their asymmetry.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from math import hypot, inf, isfinite, isnan, log, prod
from typing import NamedTuple, Protocol

import numpy as np

from ipclab.stats.intervals import SESSION_ERROR, Floats, exp, mean_of, statistic_estimate
from ipclab.stats.sessions import several

# Launches that parts share, so that what is made of them is made launch by launch
LEAST_SHARED = 2


class Ends(NamedTuple):
    """A value and its interval, infinite where it has no end."""

    value: float
    low: float
    high: float


class Run(Hashable, Protocol):
    """A run that knows what its medians are of each other."""

    def ratio(self, over: str, under: str) -> Ends | None:
        """Return the ratio of two rows by name; None where they are not compared."""


@dataclass(frozen=True)
class Part:
    """A measured value.

    `name` tells it from the other parts of its `run`. `launches` are its values by heat (or
    launch), whose mean it is: the geometric one with `logs`. `time` is 1 for a time, -1 for a rate,
    and 0 for what no session changes.
    """

    name: str
    run: Run | None
    ends: Ends = field(compare=False)
    launches: Mapping[int, float] = field(compare=False)
    time: int = field(compare=False, default=0)
    logs: bool = field(compare=False, default=True)


Factor = tuple[Part, int]  # a part and its power


@dataclass(frozen=True)
class Product:
    """A number times parts to their powers; without parts an exact number."""

    number: float
    factors: frozenset[Factor] = frozenset()

    def __mul__(self, other: "Product") -> "Product":
        """Return the product of both, without what cancels."""
        powers = dict(self.factors)
        for part, power in other.factors:
            powers[part] = powers.get(part, 0) + power
        left = frozenset((part, power) for part, power in powers.items() if power)
        number = self.number * other.number
        return Product(number, left if number else frozenset())

    def inverse(self) -> "Product":
        """Return one over it."""
        number = 1 / self.number if self.number else inf
        return Product(number, frozenset((part, -power) for part, power in self.factors))

    @property
    def pair(self) -> tuple[Part, Part] | None:
        """Which part it divides by which, where it is a ratio of two."""
        powers = {power: part for part, power in self.factors}
        is_ratio = len(self.factors) == 2 and powers.keys() == {1, -1}  # noqa: PLR2004
        return (powers[1], powers[-1]) if is_ratio else None

    @property
    def name(self) -> str:
        """A name that products of the same parts alone have."""
        powers = (f"{part.name}^{power}" for part, power in _in_order(self.factors))
        return " ".join([repr(self.number), *powers])

    @property
    def time(self) -> int:
        """The power of time that it has."""
        return sum(part.time * power for part, power in self.factors)

    @property
    def logs(self) -> bool:
        """Whether its launches are taken by their logarithms."""
        return self.number > 0 and all(part.logs for part, _ in self.factors)

    def ends(self) -> Ends:
        """Return its value and interval, which is the value of an exact one."""
        if not self.factors:
            return Ends(self.number, self.number, self.number)
        known = self._compared() or _independent([*map(_of_group, groups(self.factors))])
        value, *around = (end * self.number for end in known)
        if not isfinite(self.number) or any(map(isnan, around)):
            return Ends(value, -inf, inf)
        return Ends(value, min(around), max(around))

    def launches(self) -> dict[int, float]:
        """Return its values in the launches that its parts share; none where they share none."""
        parted = groups(self.factors)
        if len(parted) != 1:
            return {}
        by_launch = _by_launch(parted[0])
        return {launch: self.number * value for launch, value in by_launch.items()}

    def _compared(self) -> Ends | None:
        """Return the ratio of two parts as their run knows it."""
        if not (pair := self.pair):
            return None
        over, under = pair
        return over.run.ratio(over.name, under.name) if over.run else None


def product_of(part: Part) -> Product:
    """Return the product that is one part."""
    return Product(1.0, frozenset({(part, 1)}))


def sum_of(one: Product, other: Product) -> Product:
    """Return the sum of two measured products.

    Its value is that of both values over the launches that they share, and it varies over them as
    both do to first order; of what shares none the intervals combine.
    """
    if one.factors == other.factors:
        number = one.number + other.number
        return Product(number, one.factors if number else frozenset())
    name = " + ".join(sorted((one.name, other.name)))
    run = next(iter(one.factors))[0].run
    time = one.time if one.time == other.time else 0
    logs = one.logs and other.logs
    both = groups({*one.factors, *other.factors})
    if len(both) > 1:
        return product_of(Part(name, run, _apart(one.ends(), other.ends()), {}, time, logs))
    shared = _shared(both[0])
    (value, off), (other_value, other_off) = (_moved(each, shared) for each in (one, other))
    total = value + other_value
    moved = off + other_off
    values = total * np.exp(moved / total) if logs else total + moved
    launches = dict(zip(shared, values.tolist(), strict=True))
    return product_of(Part(name, run, _of_launches(launches, time, logs), launches, time, logs))


def shifted(one: Product, by: float) -> Product:
    """Return a measured product and an exact number together."""
    ends = Ends(*(end + by for end in one.ends()))
    launches = one.launches()
    if launches:
        value, off = _moved(one, [*launches])
        launches = dict(zip(launches, (value + by + off).tolist(), strict=True))
    part = Part(f"{one.name} + {by!r}", next(iter(one.factors))[0].run, ends, launches, 0, False)
    return product_of(part)


def _apart(one: Ends, other: Ends) -> Ends:
    """Return the sum of independent values."""
    value = one.value + other.value
    down = hypot(one.value - one.low, other.value - other.low)
    up = hypot(one.high - one.value, other.high - other.value)
    return Ends(value, value - down, value + up)


def _moved(product: Product, launches: Iterable[int]) -> tuple[float, Floats]:
    """Return the value of a product over `launches`, and how far it is moved in each."""
    columns, means = {}, {}
    for part, _ in product.factors:
        values = np.array([part.launches[launch] for launch in launches], np.float64)
        mean = means[part] = mean_of(values, part.logs)
        columns[part] = mean * np.log(values / mean) if part.logs else values - mean
    value = product.number * prod(means[part] ** power for part, power in product.factors)
    off = np.zeros(len(next(iter(columns.values()))))
    for part, power in product.factors:
        others = (means[other] ** more for other, more in product.factors if other != part)
        slope = product.number * power * means[part] ** (power - 1) * prod(others)
        off += slope * columns[part]
    return value, off


def _of_group(group: list[Factor]) -> Ends:
    """Return the product of parts that share launches, or a part to its power."""
    if len(group) == 1:
        ((part, power),) = group
        return raised(part.ends, power)
    product = Product(1.0, frozenset(group))
    return _of_launches(_by_launch(group), product.time, product.logs)


def _of_launches(launches: Mapping[int, float], time: int, logs: bool) -> Ends:
    session = SESSION_ERROR if time and not several(launches) else 0.0
    found = statistic_estimate([*launches.values()], 0, session=session, logs=logs)
    return Ends(found.value, found.low, found.high)


def _by_launch(group: list[Factor]) -> dict[int, float]:
    """Return the product of a group in each launch that all of it shares."""
    shared = _shared(group)
    if all(part.logs for part, _ in group) or len(group) == 1 == group[0][1]:
        return {
            launch: prod(_power(part.launches[launch], power) for part, power in _in_order(group))
            for launch in shared
        }
    value, off = _moved(Product(1.0, frozenset(group)), shared)
    return dict(zip(shared, (value + off).tolist(), strict=True))


def _in_order(factors: Iterable[Factor]) -> list[Factor]:
    return sorted(factors, key=lambda factor: (factor[0].name, factor[1]))


def groups(factors: Iterable[Factor]) -> list[list[Factor]]:
    """Return factors in groups that share launches; who shares none is alone."""
    made: list[list[Factor]] = []
    for part, power in _in_order(factors):
        by_zero = power < 0 and not all(part.launches.values())
        for group in () if by_zero else made:
            same_run = group[0][0].run == part.run
            if same_run and len(_shared([*group, (part, power)])) >= LEAST_SHARED:
                group.append((part, power))
                break
        else:
            made.append([(part, power)])
    return made


def _shared(group: Iterable[Factor]) -> list[int]:
    every = [{*part.launches} for part, _ in group]
    return sorted(set.intersection(*every))


def _independent(every: list[Ends]) -> Ends:
    """Return the product of independent values."""
    if len(every) == 1:
        return every[0]
    value = prod(ends.value for ends in every)
    if all(0 < ends.low <= ends.high < inf for ends in every):
        down = hypot(*(log(ends.value / ends.low) for ends in every))
        up = hypot(*(log(ends.high / ends.value) for ends in every))
        return Ends(value, value * exp(-down), value * exp(up))
    return Ends(value, *reduce(_widest, (ends[1:] for ends in every)))


def _widest(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    """Return the widest product that two intervals allow."""
    corners = [end * further for end in one for further in other]
    return (-inf, inf) if any(map(isnan, corners)) else (min(corners), max(corners))


def raised(ends: Ends, power: int) -> Ends:
    """Return a value with its interval to a whole power."""
    if power < 0 and ends.low <= 0 <= ends.high:
        return Ends(_power(ends.value, power), -inf, inf)
    made = [_power(end, power) for end in ends[1:]]
    if ends.low < 0 < ends.high and power % 2 == 0:
        made.append(0.0)
    return Ends(_power(ends.value, power), min(made), max(made))


def _power(value: float, power: int) -> float:
    made = prod([value] * abs(power))  # which is infinite, no error, beyond all floats
    if power > 0:
        return made
    return 1 / made if made else inf
