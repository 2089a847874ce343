"""The texts' tables as frames: as printed, in the words of a run's frames, and recomputed.

A derived number follows when values that round to the printed ones give one that rounds to it.
"""

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ipclab.claims.claim import SLACK
from ipclab.claims.expression import Term
from ipclab.claims.file import File
from ipclab.claims.lines import Lines
from ipclab.claims.values import Values, ValueSource
from ipclab.frames.address import Address, Points
from ipclab.paths import Paths
from ipclab.plugins import chosen
from ipclab.prose.language import half_a_digit
from ipclab.stats.quantity import Quantity, of

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


def published(paths: Paths, study: str) -> pd.DataFrame:
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


def texts(paths: Paths) -> dict[str, File]:
    """Return what each published text claims, by its study, in the order of the texts."""
    files = sorted(paths.published.glob("[0-9][0-9][0-9]_*.toml"))
    stated = [_read(file, file.stat().st_mtime_ns) for file in files]
    return {text.study: text for text in stated}


@cache
def _read(file: Path, _changed: int) -> File:
    """Return a text's words, and what its module in `ipclab.claims.texts` says of its claims."""
    module = import_module(f"ipclab.claims.texts.{file.stem[4:]}")
    stated = {}
    for name, function in module.claim.items():
        rules = {key: made for key, made in function()._asdict().items() if made is not None}
        stated[name] = {"text": function.__doc__, **rules}
    terms = {name.lower(): term for name, term in vars(module).items() if isinstance(term, Term)}
    return Lines.read(file).parsed(stated, terms)


def worded(paths: Paths, study: str) -> pd.DataFrame:
    """Return the text's numbers with a run's columns `op` and `metric`, for addresses.

    What the text's file does not name otherwise keeps its name as metric of the op `text`.
    """
    printed = published(paths, study)
    file = texts(paths)[study]
    for name, levels in file.levels.items():
        printed[name] = (
            printed[name]
            .map(lambda level, known=levels: known.get(str(level), level))
            .astype("Int64")
        )
    named = printed["metric"].map(lambda name: file.printed.get(name, f"{OTHER}.{name}"))
    words = named.str.rpartition(".")
    ops = words[0]
    if "op" in printed:
        ops = printed["op"].where(printed["op"] != "", ops)
    return printed.assign(op=ops, metric=words[2], arm="published")


def _corners(make: Callable[[Any, Any], Any]) -> Callable[["Rounded", Any], "Rounded"]:
    """Return arithmetic that gives the widest interval that both intervals allow."""

    def joined(one: "Rounded", other: Any) -> "Rounded":
        second = of(other)
        value = make(one.value, second.value)
        ends = [make(a, b) for a in one.ends for b in second.ends]
        return Rounded(value, one.unit, min(ends), max(ends), kind="computed")

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
    """A derivation recomputed: the printed row, its number and what it should be, in its unit.

    `by` is a msgid that says how it was computed.
    """

    row: Any
    stated: Quantity
    computed: Quantity
    by: str
    follows: bool


def recompute(file: File, tables: Points) -> Iterator[Recomputed]:
    """Yield a text's derivations recomputed; `LookupError` for a number not in its table."""
    source = ValueSource(tables, tables, loose=True, value=rounded)
    for derivation in file.derived:
        address = Address.read(derivation.printed)
        values = derivation.computed(source)
        for axes, row in source.find(address) if address else ():
            cells = values.cells if len(values.cells) == 1 else {axes: values.cells[axes]}
            (computed,) = Values(cells, values.dimension).shown(row.unit)
            stated = rounded(row)
            follows = _follows(derivation.sense, stated, computed)
            yield Recomputed(row, stated, computed, derivation.by, follows)


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
