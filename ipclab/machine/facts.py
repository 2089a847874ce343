"""The facts of a machine: the table of them (`facts.csv`), its words, and how each is read."""

import csv
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

from ipclab.machine.answers import field, memory_sold
from ipclab.machine.parse import choice, size
from ipclab.machine.readers import READERS
from ipclab.machine.source import AbsentError, Source, scrub
from ipclab.paths import table_beside
from ipclab.store.identity import digest_of

Value: TypeAlias = bool | int | float | str | list["Value"] | dict[str, "Value"] | None
WORDS = table_beside(__file__, "labels.toml")
# What the text of a fact's file is.
KINDS: dict[str, Callable[[str], Value]] = {
    "text": str,
    "choice": choice,
    "cpus": lambda text: text.replace("(null)", ""),
    "size": size,
    "installed": memory_sold,
    "number": lambda text: int(text, 0),
    "kHz": lambda text: int(text) * 1000,
    "MHz": lambda text: round(float(text) * 1e6),
    "numbers": lambda text: [int(word) for word in text.split()],
    "words": lambda text: [*text.split()],
}


@dataclass(frozen=True)
class Fact:
    """A line of the table of facts; `group` and `label` are msgids.

    It says whether the machine's digest holds the fact, and whether reports list it. It is the text
    of `file`, of a `kind`, or of the first of the fields `key` that the file has; where there is no
    file, one of `READERS` tells it.
    """

    group: str
    name: str
    file: str
    kind: str
    unit: str
    identifies: bool
    shown: bool
    affects: str
    label: str
    key: str = ""


def _read_facts() -> tuple[Fact, ...]:
    topics = {"": "", **WORDS["affects"]}
    with Path(__file__).with_name("facts.csv").open(encoding="utf-8", newline="") as table:
        rows = [{**row, "affects": topics[row["affects"]]} for row in csv.DictReader(table)]
    return msgspec.convert(rows, tuple[Fact, ...], strict=False)


FACTS = _read_facts()


def take_fact(fact: Fact, source: Source) -> tuple[Value, str]:
    """Return the value and "", or None and the reason; never raises for bad input."""
    try:
        if fact.key:
            value = KINDS[fact.kind](field(source, fact.file, *fact.key.split("|")))
        elif fact.file:
            value = KINDS[fact.kind](source.text(fact.file).strip())
        else:
            value = READERS[fact.name](source)
    except AbsentError as absent:
        return None, absent.reason
    except (ValueError, KeyError, IndexError, OSError, ArithmeticError):
        return None, "unparsable"
    # An owner may have put his name into free text, such as the product's.
    return scrub(value, source.system.uname()[0]) if isinstance(value, str) else value, ""


class Machine(NamedTuple):
    """Facts by name (None: see `reasons`), raw files by path, the short digest."""

    facts: dict[str, Value]
    reasons: dict[str, str]
    raw: dict[str, str]
    digest: str


def collect(source: Source | None = None) -> Machine:
    """Read every fact from this machine or `source` in about 0.5 s; it raises no exceptions."""
    fresh = replace(source or Source(), raw={}, _memo={})
    taken = {fact.name: take_fact(fact, fresh) for fact in FACTS}
    facts = {name: value for name, (value, _) in taken.items()}
    reasons = {name: reason for name, (_, reason) in taken.items() if reason}
    return Machine(facts, reasons, dict(sorted(fresh.raw.items())), digest_of(facts))
