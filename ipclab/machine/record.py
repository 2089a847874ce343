"""All facts of one machine: collect them, name the machine by a digest, list those that a report shows."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ipclab.errors import UsageError
from ipclab.machine.facts import FACTS, TOPICS, Value
from ipclab.machine.source import Source
from ipclab.paths import Paths

DIGEST_LENGTH = 12
# Why a fact has no value, as a report says it (msgids).
REASONS = {"absent": "not offered by this machine", "denied": "may not be read", "unlimited": "no limit"}


@dataclass(frozen=True)
class Machine:
    """Facts by name (None where there is none: `reasons` says why), raw files by path, the short digest."""

    facts: dict[str, Value]
    reasons: dict[str, str]
    raw: dict[str, str]
    digest: str


class Row(NamedTuple):
    """One fact as a report lists it; `group`, `label` and `reason` are msgids, `reason` is "" when there is a value."""

    group: str
    label: str
    value: Value
    unit: str
    reason: str
    identifies: bool


def collect(source: Source | None = None, *, root: Path | None = None) -> Machine:
    """Read every fact from this machine or `source`, under 0.5 s; `root` is the checkout, not a /proc root.

    What cannot be read is None with its reason, never an exception.
    """
    fresh = (source or Source()).fresh(Paths(root) if root else None)
    taken = {fact.name: fact.take(fresh) for fact in FACTS}
    facts = {name: value for name, (value, _) in taken.items()}
    reasons = {name: reason for name, (_, reason) in taken.items() if reason}
    return Machine(facts, reasons, dict(sorted(fresh.raw.items())), digest_of(facts))


def digest_of(facts: Mapping[str, Value]) -> str:
    """Return the first 12 hex digits of the SHA-256 of the identifying facts' canonical JSON."""
    stable = {fact.name: facts.get(fact.name) for fact in FACTS if fact.identifies}
    text = json.dumps(stable, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


def shown(facts: Mapping[str, Value], reasons: Mapping[str, str]) -> list[Row]:
    """Return the rows of a report's table of the machine, from what a run stored of it."""
    rows = []
    for fact in (fact for fact in FACTS if fact.shown):
        value = facts.get(fact.name)
        reason = REASONS.get(reasons.get(fact.name, ""), REASONS["absent"]) if value is None else ""
        rows.append(Row(fact.group, fact.label, value, fact.unit, reason, fact.identifies))
    return rows


def affects() -> dict[str, tuple[str, ...]]:
    """Return what differences between machines affect (msgids) -> the names of the facts that matter for it."""
    return {topic: tuple(fact.name for fact in FACTS if fact.affects == topic) for topic in TOPICS}


def label(name: str) -> str:
    """Return the English label of a fact; UsageError for an unknown name."""
    found = next((fact.label for fact in FACTS if fact.name == name), None)
    if found is None:
        raise UsageError(f"no fact is named {name!r}", fix="see ipclab.machine.FACTS")
    return found
