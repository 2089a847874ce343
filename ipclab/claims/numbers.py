"""Numbers: what a claim compares, looked up in the frames of a run or in the table of a text.

`look` is a look-up to be made in either, and so is the arithmetic of look-ups:

>>> write, read = (look(op, "mean", arm="published", size_bytes=ALL) for op in ("write", "read"))
>>> (write / read)(run)  # the quotients, by their sizes
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import pandas as pd

from ipclab.frames.address import EVERY, Address, MissingError
from ipclab.frames.rows import quantity
from ipclab.stats.quantity import Quantity

ALL = EVERY  # every level that there is
Level = str | int | Sequence[str] | Sequence[int]
# A pandas Series of `Quantity`, by the levels that tell them apart: its arithmetic pairs equal
# levels. Types of pandas know no arithmetic of objects.
Values: TypeAlias = Any
Compared: TypeAlias = Any  # a `Quantity`, or `Values`


@dataclass(frozen=True)
class Numbers:
    """The numbers of one study: quantities of its rows, by operation, metric and levels.

    `frames` holds the points of each study that is asked for, `known` what is known of the run
    (`cpus` and the files of its sets). Of a text's table (`printed`) levels that it has no column
    for are not asked of it. `value` makes a quantity of a row.
    """

    study: str
    frames: Mapping[str, pd.DataFrame]
    known: Mapping[str, float] = field(default_factory=dict)
    printed: bool = False
    value: Callable[[Any], Quantity] = quantity
    looked_up: dict[Address, pd.Series] = field(default_factory=dict)

    def of(self, study: str) -> "Numbers":
        """Return the numbers of another study of the same run."""
        return replace(self, study=study)

    def each(self, op: str | Sequence[str], metric: str = "", /, **levels: Level) -> Values:
        """Return quantities indexed by the levels of which several are asked for.

        A list asks for each of its levels, `ALL` for those that there are, "max" and "min" for the
        largest and the smallest. Without a metric it is the median, else the mean; a factor in its
        place gives the level itself. Raises `MissingError` for what was not measured.
        """
        ops = (op,) if isinstance(op, str) else tuple(op)
        asked = sorted((name, _written(level)) for name, level in levels.items())
        return self.at(Address(self.study, ops, tuple(asked), metric))

    def at(self, address: Address) -> Values:
        """Return the quantities at an address as a Series; raises `MissingError`."""
        if address not in self.looked_up:
            frame = self.frames.get(address.study)
            if frame is None or frame.empty:
                raise MissingError(str(address))
            rows = address.find(frame, self.known, self.printed)
            values = [self.value(row) for _, row in rows]
            index = _index([dict(axes) for axes, _ in rows])
            self.looked_up[address] = pd.Series(values, index, dtype=object)
        return self.looked_up[address]


def _lazily(combine: Callable[[Any, Any], Any]) -> Callable[["Lookup", Any], "Lookup"]:
    return lambda one, other: one.pipe(combine, other)


@dataclass(frozen=True)
class Lookup:
    """A function of the numbers of a run, or of a text's table; its arithmetic makes another."""

    find: Callable[[Numbers], Compared]

    def __call__(self, numbers: Numbers) -> Compared:
        """Return what is found; raises `MissingError` for what is not there."""
        return self.find(numbers)

    def pipe(self, function: Callable[..., Compared], *others: Any) -> "Lookup":
        """Return the look-up of what a function makes of what this and `others` find."""
        return Lookup(lambda run: function(self(run), *(found_in(run, each) for each in others)))

    def as_unit(self, unit: str) -> "Lookup":
        """Return the look-up of the same quantity in another unit."""
        return self.pipe(Quantity.as_unit, unit)

    __add__ = __radd__ = _lazily(operator.add)
    __mul__ = __rmul__ = _lazily(operator.mul)
    __sub__, __rsub__ = _lazily(operator.sub), _lazily(lambda one, other: other - one)
    __truediv__, __rtruediv__ = _lazily(operator.truediv), _lazily(lambda one, other: other / one)


def found_in(numbers: Numbers, part: Any) -> Any:
    """Return what a look-up finds; anything else as it is."""
    return part(numbers) if isinstance(part, Lookup) else part


def look(op: str | Sequence[str], metric: str = "", /, **levels: Level) -> Lookup:
    """Return the look-up that `Numbers.each` makes; where no factor tells values apart, of one."""
    return Lookup(lambda run: alone(run.each(op, metric, **levels)))


# What a text says beside its operations.
said = partial(look, "text")


def several(*parts: Lookup) -> Lookup:
    """Return the look-up of all that some find, as a Series that no factor tells apart."""

    def find(numbers: Numbers) -> Values:
        found = [part(numbers) for part in parts]
        series = [each if isinstance(each, pd.Series) else listed([each]) for each in found]
        return pd.concat(series, ignore_index=True)

    return Lookup(find)


def _written(level: Level) -> str:
    """Return levels as an address writes them."""
    if isinstance(level, str | int):
        return str(level)
    return "|".join(map(str, level))


def _index(levels: Sequence[Mapping[str, Any]]) -> Any:
    """Return an index of levels by factor; None where no factor tells the values apart."""
    names = sorted(levels[0])
    if not names:
        return None
    if len(names) == 1:
        return pd.Index([each[names[0]] for each in levels], name=names[0])
    return pd.MultiIndex.from_frame(pd.DataFrame(levels, columns=names))


def listed(quantities: Iterable[Quantity]) -> Values:
    """Return quantities as a Series that no factor tells apart."""
    return pd.Series([*quantities], dtype=object)


def alone(values: Values) -> Compared:
    """Return the quantity itself where no factor tells several apart."""
    return values if values.index.name or values.index.nlevels > 1 else only(values)


def only(values: Values) -> Quantity:
    """Return the one of several quantities where there is one; raises `ValueError` else."""
    value: Quantity
    (value,) = values
    return value
