"""What is known of a machine: facts' words are in `facts.csv`, their reading in `readers`."""

import csv
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import msgspec

from ipclab.machine.answers import field, installed
from ipclab.machine.parse import choice, size
from ipclab.machine.readers import READERS, Value
from ipclab.machine.source import AbsentError, Source, scrub
from ipclab.paths import table_beside

WORDS = table_beside(__file__, "labels.toml")
REASONS: dict[str, str] = WORDS["reasons"]
TOPICS = tuple(WORDS["affects"].values())

# What the text of a fact's file is.
KINDS: dict[str, Callable[[str], Value]] = {
    "text": str,
    "choice": choice,
    "cpus": lambda text: text.replace("(null)", ""),
    "size": size,
    "installed": installed,
    "number": lambda text: int(text, 0),
    "kHz": lambda text: int(text) * 1000,
    "numbers": lambda text: [int(word) for word in text.split()],
    "words": lambda text: [*text.split()],
}


@dataclass(frozen=True)
class Fact:
    """A line of the table of facts; `group` and `label` are msgids.

    It says whether the machine's digest holds the fact, and whether reports list it.

    It is the text of `file`, of one of `KINDS`, or of the first of the fields `key` that the file
    has; where there is no file, the reader of its name tells it.
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

    def take(self, source: Source) -> tuple[Value, str]:
        """Return the value and "", or None and the reason; never raises for bad input."""
        try:
            if self.key:
                value = KINDS[self.kind](field(source, self.file, *self.key.split("|")))
            elif self.file:
                value = KINDS[self.kind](source.text(self.file).strip())
            else:
                value = READERS[self.name](source)
        except AbsentError as absent:
            return None, absent.reason
        except (ValueError, KeyError, IndexError, OSError, ArithmeticError):
            return None, "unparsable"
        # An owner may have put his name into free text, such as the product's.
        return scrub(value, source.system.uname()[0]) if isinstance(value, str) else value, ""


def _read_facts() -> tuple[Fact, ...]:
    topics = {"": "", **WORDS["affects"]}
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as table:
        rows = [{**row, "affects": topics[row["affects"]]} for row in csv.DictReader(table)]
    return msgspec.convert(rows, tuple[Fact, ...], strict=False)


FACTS = _read_facts()


class Machine(NamedTuple):
    """Facts by name (None: see `reasons`), raw files by path, the short digest."""

    facts: dict[str, Value]
    reasons: dict[str, str]
    raw: dict[str, str]
    digest: str


def collect(source: Source | None = None, *, root: Path | None = None) -> Machine:
    """Read every fact from this machine or `source` in 0.5 s; `root` is the checkout.

    It raises no exceptions.
    """
    fresh = replace(source or Source(), raw={}, _memo={})
    if root:
        fresh = replace(fresh, paths=replace(fresh.paths, root=root))
    taken = {fact.name: fact.take(fresh) for fact in FACTS}
    facts = {name: value for name, (value, _) in taken.items()}
    reasons = {name: reason for name, (_, reason) in taken.items() if reason}
    return Machine(facts, reasons, dict(sorted(fresh.raw.items())), digest_of(facts))


def digest_of(facts: Mapping[str, Value]) -> str:
    """Return the first 12 hex digits of the SHA-256 of the identifying facts' canonical JSON."""
    stable = {fact.name: facts.get(fact.name) for fact in FACTS if fact.identifies}
    text = json.dumps(stable, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def shown(facts: Mapping[str, Value], reasons: Mapping[str, str]) -> list[tuple[Fact, Value, str]]:
    """Return each fact that reports list: its stored value, else why there is none (msgid)."""
    listed = []
    for fact in FACTS:
        if fact.shown:
            value = facts.get(fact.name)
            reason = REASONS.get(reasons.get(fact.name, ""), REASONS["absent"])
            listed.append((fact, value, reason if value is None else ""))
    return listed


def affects() -> dict[str, tuple[str, ...]]:
    """Return what differences affect (msgids) -> the names of the facts that matter for it."""
    names: dict[str, tuple[str, ...]] = dict.fromkeys(TOPICS, ())
    for fact in FACTS:
        if fact.affects:
            names[fact.affects] += (fact.name,)
    return names
