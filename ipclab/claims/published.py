"""The texts' tables as frames: as printed, in the words of a run's frames, and recomputed.

A derived number follows when values that round to the printed ones give one that rounds to it.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import pandas as pd

from ipclab.claims.amounts import half_a_digit
from ipclab.claims.claim import Derivation, PublishedText
from ipclab.claims.numbers import Numbers
from ipclab.claims.texts import file_io, multiplexer, payload, round_trip, shared_dict
from ipclab.claims.verdicts import SLACK, in_unit
from ipclab.frames.address import value_at
from ipclab.frames.rows import narrowed
from ipclab.lab.data import Data
from ipclab.paths import Paths
from ipclab.plugins import chosen
from ipclab.stats.quantity import Number, Quantity, missing, of

# What each published text claims, by its study, in the order of the texts.
TEXTS: Mapping[str, PublishedText] = {
    module.text.study: module.text
    for module in (payload, shared_dict, multiplexer, round_trip, file_io)
}
NAMES = {
    "quantity": "metric",
    "value": "printed",
    "unit": "printed_unit",
    "value_si": "value",
    "unit_si": "unit",
}
EXACT_UNITS = ("count", "B")  # whole things and bytes are not rounded
PERCENT = 0.01
OTHER = "text"  # the op of numbers that are no operation's
_END = re.compile(r" \((?:low|high)\)$")
_KEY = re.compile(r"[a-z][\w-]*(?:\.[\w.+-]+)?")  # a label of ours, such as `serial.longest.5`


def published(lab: Data, study: str, **levels: Any) -> pd.DataFrame:
    """Return the numbers that the text of `study` prints (SI units, and as printed).

    >>> ipclab.published(lab, "payload", section="3.1", metric="mean")
    """
    return narrowed(printed_numbers(lab.paths, study), levels)


def printed(lab: Data, address: str) -> Quantity:
    """Return one number that a text prints, however often it does.

    >>> ipclab.printed(lab, "payload.transfer[].cycles")
    """
    found = value_at(f"text.{address}", lab.points, partial(worded, lab.paths))
    return of(found) if found is not None else missing()


def printed_numbers(paths: Paths, study: str) -> pd.DataFrame:
    """Return every number that the text of `study` prints: where, as printed, in SI units.

    Raises `UsageError` for a study without a text.
    """
    files = {file.stem[4:]: file for file in sorted(paths.published.glob("[0-9][0-9][0-9]_*.csv"))}
    printed = pd.read_csv(
        chosen("published text", study, files), dtype=str, keep_default_na=False
    ).rename(columns=NAMES)
    whole = {
        name: printed[name].replace("", pd.NA).astype("Int64")
        for name in ("size_bytes", "entries")
        if name in printed
    }
    return printed.assign(value=printed.value.astype(float), **whole)


def called_in_text(label: str) -> str:
    """Return what a text calls a number that it prints; "" where the label is a key of ours.

    Which end of a range a row of its table is, we have added.
    """
    return "" if _KEY.fullmatch(label) else _END.sub("", label)


def worded(paths: Paths, study: str) -> pd.DataFrame:
    """Return the text's numbers with a run's columns `op` and `metric`, for addresses.

    What the text does not name otherwise keeps its name as metric of the op `text`.
    """
    text = TEXTS[study]
    printed = printed_numbers(paths, study).replace(text.levels)
    named = printed["metric"].map(lambda name: text.printed.get(name, f"{OTHER}.{name}"))
    words = named.str.rpartition(".")
    ops = words[0]
    if "op" in printed:
        ops = printed["op"].where(printed["op"] != "", ops)
    return printed.assign(op=ops, metric=words[2], arm="published")


def table_of(paths: Paths, study: str) -> Numbers:
    """Return the text's own table, each number with the interval that rounds to it."""
    return Numbers(study, {study: worded(paths, study)}, printed=True, value=rounded)


def _corners(make: Callable[[Any, Any], Any]) -> Callable[["Rounded", Any], "Rounded"]:
    """Return arithmetic that gives the widest interval that both intervals allow."""

    def joined(one: "Rounded", other: Number) -> "Rounded":
        if not isinstance(other, Quantity | Real):
            return NotImplemented  # type: ignore[no-any-return]  # a Series does it for its own
        second = of(other)
        plain = make(Quantity(one.value, one.unit), Quantity(second.value, second.unit))
        ends = [make(a, b) for a in one.ends for b in second.ends]
        return Rounded(plain.value, plain.unit, min(ends), max(ends), kind="computed")

    return joined


@dataclass(frozen=True)
class Rounded(Quantity):
    """A printed number with the interval that rounds to it; arithmetic gives the widest."""

    __add__ = __radd__ = _corners(operator.add)
    __mul__ = __rmul__ = _corners(operator.mul)
    __sub__, __rsub__ = _corners(operator.sub), _corners(lambda a, b: b - a)
    __truediv__, __rtruediv__ = _corners(operator.truediv), _corners(lambda a, b: b / a)


def rounded(row: Any) -> Quantity:
    """Return a printed number in SI units, give or take half a unit of its last digit."""
    value = float(row.value)
    text = Decimal(row.printed)
    if row.printed_unit in EXACT_UNITS:
        return Rounded(value, row.unit, value, value, kind="published")
    zero_step = PERCENT if row.printed_unit == "%" else 1.0
    step = abs(value / float(text)) if text else zero_step
    half = step * half_a_digit(row.printed)
    return Rounded(value, row.unit, value - half, value + half, kind="published")


class Recomputed(NamedTuple):
    """A printed number recomputed: its row, and what it should be, in its unit.

    `by` is a msgid that says how it was computed.
    """

    row: Any
    computed: Quantity
    by: str
    follows: bool


def recompute(text: PublishedText, table: Numbers) -> Iterator[Recomputed]:
    """Yield a text's derived numbers recomputed on its table; `LookupError` for one not there.

    A number that several derivations may give is yielded once, with one that gives it.
    """
    numbers: dict[str, list[Recomputed]] = {}
    rows = Numbers(table.study, table.frames, printed=True, value=lambda row: row)
    for derivation in text.derived:
        for number in _derived(derivation, rows, table):
            numbers.setdefault(str(number.row), []).append(number)
    for ways in numbers.values():
        yield next((way for way in ways if way.follows), ways[0])


def _derived(derivation: Derivation, rows: Numbers, table: Numbers) -> Iterator[Recomputed]:
    """Yield what one derivation gives of each number that is printed."""
    printed = derivation.printed(rows)
    computed = derivation.computed(table)
    if not isinstance(printed, pd.Series):  # it is one
        printed, computed = {"": printed}, {"": computed}
    for levels, row in printed.items():
        (should,) = in_unit(computed[levels], row.unit)
        follows = _follows(derivation.sense, rounded(row), should)
        yield Recomputed(row, should, derivation.by, follows)


def _follows(sense: str, stated: Quantity, computed: Quantity) -> bool:
    low, high = stated.ends
    first, last = computed.ends
    slack = SLACK * abs(float(computed.value))
    if sense == "lowest":
        return bool(last >= low)
    if sense == "highest":
        return bool(first <= high)
    if sense == "truncated":
        value = float(stated.value)
        low, high = value, value + high - low
    return first <= high + slack and last >= low - slack
