"""The texts' own tables as frames, as they were printed and in the words of a run's frames, and what they claim."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from ipclab.errors import UsageError, nearest
from ipclab.frames.claim_file import File, read
from ipclab.paths import Paths
from ipclab.stats.quantity import Quantity, of

NAMES = {"quantity": "metric", "value": "printed", "unit": "printed_unit", "value_si": "value", "unit_si": "unit"}
EXACT_UNITS = ("count", "B")  # whole things and bytes are not rounded
PERCENT = 0.01
OTHER = "text"  # the op of numbers that are no operation's


def published(paths: Paths, study: str) -> pd.DataFrame:
    """Return every number that the text of `study` prints: where it stands, as printed, and in SI units.

    Raises `UsageError` for a study without a text.
    """
    files = {file.stem[4:]: file for file in sorted(paths.published.glob("[0-9][0-9][0-9]_*.csv"))}
    if study not in files:
        raise UsageError(f"study {study!r} has no published text", "", f"did you mean {nearest(study, files)!r}?")
    told = pd.read_csv(files[study], dtype=str, keep_default_na=False).rename(columns=NAMES)
    whole = {name: told[name].replace("", pd.NA).astype("Int64") for name in ("size_bytes", "entries") if name in told}
    return told.assign(value=told.value.astype(float), **whole)


def texts(paths: Paths) -> dict[str, File]:
    """Return what each published text claims, by its study, in the order of the texts."""
    found = [_read(file, file.stat().st_mtime_ns) for file in sorted(paths.published.glob("[0-9][0-9][0-9]_*.toml"))]
    return {text.study: text for text in found}


@cache
def _read(file: Path, _changed: int) -> File:
    return read(file)


def worded(paths: Paths, study: str) -> pd.DataFrame:
    """Return the text's numbers with the columns `op` and `metric` of a run's frames, for addresses.

    What the text's file does not name otherwise keeps its name as metric of the op `text`.
    """
    told, file = published(paths, study), texts(paths).get(study)
    said: Mapping[str, str] = file.printed if file else {}
    for name, levels in file.levels.items() if file else ():
        told[name] = told[name].map(lambda level, known=levels: known.get(str(level), level)).astype("Int64")
    words = told["metric"].map(lambda name: said.get(name, f"{OTHER}.{name}")).str.rpartition(".")
    ops, metrics = words[0], words[2]
    if "op" in told:
        ops = told["op"].where(told["op"] != "", ops)
    return told.assign(op=ops, metric=metrics, arm="published")


@dataclass(frozen=True)
class Rounded(Quantity):
    """A printed number with the interval that rounds to it; arithmetic gives the widest that its parts allow."""

    def __add__(self, other: Any) -> "Rounded":
        """Return the sum."""
        return self._corners(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> "Rounded":
        """Return the difference."""
        return self._corners(other, lambda a, b: a - b)

    def __mul__(self, other: Any) -> "Rounded":
        """Return the product."""
        return self._corners(other, lambda a, b: a * b)

    def __truediv__(self, other: Any) -> "Rounded":
        """Return the ratio."""
        return self._corners(other, lambda a, b: a / b)

    def __rsub__(self, other: Any) -> "Rounded":
        """Return the difference."""
        return self._corners(other, lambda a, b: b - a)

    def __rtruediv__(self, other: Any) -> "Rounded":
        """Return the ratio."""
        return self._corners(other, lambda a, b: b / a)

    __radd__, __rmul__ = __add__, __mul__

    def _corners(self, other: Any, make: Any) -> "Rounded":
        second = of(other)
        ends = [make(a, b) for a in self.ends for b in second.ends]
        return Rounded(make(self.value, second.value), self.unit, min(ends), max(ends), kind="computed")


def rounded(row: Any) -> Quantity:
    """Return a printed number in SI units with the interval that rounds to it: half a unit of its last digit."""
    value, text = float(row.value), Decimal(row.printed)
    if row.printed_unit in EXACT_UNITS:
        return Rounded(value, row.unit, value, value, kind="published")
    step = abs(value / float(text)) if text else PERCENT if row.printed_unit == "%" else 1.0
    half = step * 10.0 ** int(text.as_tuple().exponent) / 2
    return Rounded(value, row.unit, value - half, value + half, kind="published")
