"""What the texts derive from their own tables, recomputed: which of those numbers follow, and which do not.

A number follows when values that round to the printed ones give one that rounds to it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ipclab.frames.address import Points
from ipclab.frames.claim_file import File
from ipclab.frames.expression import Source
from ipclab.frames.published import rounded
from ipclab.stats.quantity import Quantity

SLACK = 1e-9  # binary fractions of decimal digits


@dataclass(frozen=True)
class Outcome:
    """A derivation recomputed: the printed row, what its number says and what it should be, in the row's unit.

    `by` is a msgid that says how it was computed.
    """

    row: Any
    stated: Quantity
    computed: Quantity
    by: str
    follows: bool


def recompute(file: File, tables: Points) -> Iterator[Outcome]:
    """Yield every derivation of a text recomputed; raises `LookupError` for a number that its table does not hold."""
    source = Source(tables, tables, loose=True, value=rounded)
    for each in file.derived:
        found = each.computed(source)
        for axes, row in source.find(each.printed):
            (computed,), stated = found.only(axes).shown(row.unit), rounded(row)
            yield Outcome(row, stated, computed, each.by, _follows(each.sense, stated, computed))


def _follows(sense: str, stated: Quantity, computed: Quantity) -> bool:
    (low, high), (first, last) = stated.ends, computed.ends
    slack = SLACK * abs(float(computed.value))
    if sense in ("lowest", "highest"):
        return bool(last >= stated.value if sense == "lowest" else first <= stated.value)
    if sense == "truncated":
        low, high = float(stated.value), float(stated.value) + high - low
    return first <= high + slack and last >= low - slack
