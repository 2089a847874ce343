"""What a run tells of its machine: the table of facts in `facts.csv`, and its words."""

import csv
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import msgspec

from ipclab.paths import table_beside

Value: TypeAlias = bool | int | float | str | list["Value"] | dict[str, "Value"] | None
WORDS = table_beside(__file__, "labels.toml")
REASONS: dict[str, str] = WORDS["reasons"]
TOPICS = tuple(WORDS["affects"].values())


@dataclass(frozen=True)
class Fact:
    """A line of the table of facts; `group` and `label` are msgids.

    It says whether the machine's digest holds the fact, and whether reports list it.

    It is the text of `file`, of a `kind`, or of the first of the fields `key` that the file has;
    where there is no file, a reader of its name tells it (`ipclab_measure.machine.facts`).
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
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as table:
        rows = [{**row, "affects": topics[row["affects"]]} for row in csv.DictReader(table)]
    return msgspec.convert(rows, tuple[Fact, ...], strict=False)


FACTS = _read_facts()


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
