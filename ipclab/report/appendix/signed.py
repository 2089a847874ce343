"""Values that are signed: each with its uncertainty, its numbers of launches and samples, its flags.

They are attached to the document with what they were made of, so that they can be calculated again.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import floor, log10
from typing import Any

import pandas as pd

from ipclab.bounds.points import CUT
from ipclab.lab.data import Data
from ipclab.report.appendix.uncertainty import ended, expanded, rows_of
from ipclab.report.sheet import csv
from ipclab.stats import judge
from ipclab.stats.quantity import Quantity
from ipclab.words.catalogue import N_
from ipclab.words.words import DASH

ATTACHED = "application/vnd.ipclab.attached+json"
SIGNED = ["value", "expanded", "factor", "freedom", "launches", "samples", "flags"]
PAIRED = N_("Ratios heat by heat, of what took turns in the same heats: No. {numbers}.")
QUOTIENTS = N_("Quotients of two values that share no heats: No. {numbers}.")
EITHER = N_("whichever receiver of its repository takes it")
PIECEWISE = N_(
    "by its receiver that reads piece by piece; by the one that reads all that is left in one call"
    " it is not shown to take longer"
)
DIGITS = 3  # of a number that is never rounded up


@dataclass(frozen=True)
class Attached:
    """A file that a document has with it, as CSV."""

    name: str
    text: str

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {ATTACHED: {"name": self.name, "text": self.text}, "text/plain": self.name}


def signed(
    lab: Data, values: Mapping[str, Quantity], rests: Mapping[str, Quantity] | None = None
) -> pd.DataFrame:
    """Return a row for each of `values` that was measured: y, U, k, nu_eff, n, its flags (`SIGNED`).

    `rests` names the measured part of what was computed by adding an exact number.
    """
    rows = {}
    for name, value in values.items():
        if value:
            launches, samples = counted(value)
            ends = uncertain(lab, value, (rests or {}).get(name, value))
            ends |= {"launches": launches, "samples": samples}
            rows[name] = {"value": value, **ends, "flags": _flags(lab, value)}
    return pd.DataFrame.from_dict(rows, orient="index", columns=SIGNED)


def ratio_notes(lab: Data, values: Mapping[str, Quantity]) -> list[str]:
    """Return which of `values`, by their numbers, are ratios of the same heats, and which are not."""
    numbers: dict[str, list[str]] = {PAIRED: [], QUOTIENTS: []}
    for number, value in enumerate(filter(None, values.values()), 1):
        if value.unit == "1":
            numbers[PAIRED if value.launches else QUOTIENTS].append(str(number))
    return [lab.say(note, numbers=lab.words.joined(of)) for note, of in numbers.items() if of]


def least_shown(ratio: Quantity, other: Quantity) -> tuple[Quantity, str]:
    """Return the least that a ratio above 1 is shown to be, and by which receivers (a msgid).

    That is the low end of its interval, or of the `other` receiver's if that is above 1, too; never
    rounded up.
    """
    both = judge.side(other, 1) == judge.ABOVE
    low = min(ratio.ends[0], other.ends[0]) if both else ratio.ends[0]
    step = 10 ** (DIGITS - 1 - floor(log10(low)))
    return Quantity(floor(low * step) / step, ratio.unit), EITHER if both else PIECEWISE


def uncertain(lab: Data, value: Quantity, part: Quantity) -> dict[str, Quantity]:
    """Return U, k and nu_eff of a value, whose measured part alone varies."""
    ends = ended(expanded(lab, part))
    if part is not value and value.high is not None:
        ends["expanded"] = Quantity(value.high / value.value - 1, "share")
    return ends


def counted(value: Quantity) -> tuple[Quantity, Quantity]:
    """Return of how many launches and samples a value is, at least."""
    launches, _, samples = value.n.partition(" x ")
    return _count(launches), _count(samples)


def _count(digits: str) -> Quantity:
    return Quantity(int(digits) if digits else None, "count")


def _flags(lab: Data, value: Quantity) -> str:
    """Return the flags of what a value follows from, of each kind the worst, but why points ended."""
    rows = rows_of(lab, value)
    every = {flag for row in rows for flag in str(row.flags).split(";")}
    alone = ("oversubscribed", CUT) if len(rows) == 1 else ("oversubscribed",)
    named = {flag for flag in every if ":" in flag or flag in alone}
    by_kind = {flag.partition(":")[0]: flag for flag in sorted(sorted(named), key=_how_much)}
    return ", ".join(by_kind.values()) or DASH


def _how_much(flag: str) -> tuple[str, float]:
    """Return the kind of a flag and its amount: `disturbed:3/15`, `modes:2`, `drift:-12%`."""
    kind, _, amount = flag.partition(":")
    share, _, whole = amount.partition("/")
    return kind, abs(float(share.rstrip("%") or 0)) / float(whole or 1)


def recalculable(
    lab: Data, values: Mapping[str, Quantity], rests: Mapping[str, Quantity] | None = None
) -> Attached:
    """Return the file of signed values, and of each the launches (or sessions) that it is made of.

    A row's `power` is 1 where it multiplies and -1 where it divides: the geometric mean over the
    heats that all rows share, times `number`, is the value.
    """
    rows = list[dict[str, Any]]()
    for name, value in values.items():
        if value:
            rows += _rows(lab, name, value, (rests or {}).get(name, value))
    return Attached("signed.csv", csv(pd.DataFrame(rows), float_format="%.9g"))


def _rows(lab: Data, name: str, value: Quantity, part: Quantity) -> Iterator[dict[str, Any]]:
    (low, high), ends = value.ends, uncertain(lab, value, part)
    launches, samples = counted(value)
    head = {"quantity": name, "unit": value.unit, "y": value.value, "low": low, "high": high}
    head |= {"U": ends["expanded"].value, "k": ends["factor"].value, "nu": ends["freedom"].value}
    head |= {"launches": launches.value, "samples": samples.value}
    head |= {"number": value.product.number}
    for made_of, power in sorted(value.product.factors, key=lambda each: -each[1]):
        for heat, measured in made_of.launches.items():
            yield head | {"row": made_of.name, "power": power, "heat": heat, "measured": measured}
