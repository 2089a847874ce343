"""All facts of one machine: collect them, name the machine by a digest, list them for a table."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ipclab.errors import UsageError
from ipclab.machine import cpu, kernel, limits, load, memory, network, software, storage, virtual
from ipclab.machine.registry import FactSpec, Value
from ipclab.machine.source import Source
from ipclab.paths import Paths

GROUPS = tuple(module.GROUP for module in (cpu, memory, kernel, virtual, storage, network, limits, load, software))
FACTS: tuple[FactSpec, ...] = tuple(spec for group in GROUPS for spec in group.specs)
DIGEST_LENGTH = 12


@dataclass(frozen=True)
class Machine:
    """Facts by name (None where there is none: `reasons` says why), raw files by path, the short digest."""

    facts: dict[str, Value]
    reasons: dict[str, str]
    raw: dict[str, str]
    digest: str


@dataclass(frozen=True)
class Row:
    """One fact as a table shows it; `group` and `label` are msgids, `reason` is "" when there is a value."""

    group: str
    name: str
    label: str
    value: Value
    unit: str
    format: str
    identifies: bool
    reason: str


def collect(source: Source | None = None, *, root: Path | None = None) -> Machine:
    """Read every fact from this machine or `source`, under 0.5 s; `root` is the checkout, not a /proc root.

    What cannot be read is None with its reason, never an exception.
    """
    fresh = (source or Source()).fresh(Paths(root) if root else None)
    facts: dict[str, Value] = {}
    reasons: dict[str, str] = {}
    for spec in FACTS:
        facts[spec.name], reason = spec.take(fresh)
        if reason:
            reasons[spec.name] = reason
    return Machine(facts, reasons, dict(sorted(fresh.raw.items())), digest_of(facts))


def digest_of(facts: Mapping[str, Value]) -> str:
    """Return the first 12 hex digits of the SHA-256 of the identifying facts' canonical JSON."""
    stable = {spec.name: facts.get(spec.name) for spec in FACTS if spec.identifies}
    text = json.dumps(stable, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]


def describe(machine: Machine) -> list[Row]:
    """Return a row for each fact, in the order of the registry."""
    labels = {group.name: group.label for group in GROUPS}
    return [
        Row(
            labels[spec.group],
            spec.name,
            spec.label,
            machine.facts.get(spec.name),
            spec.unit,
            spec.format,
            spec.identifies,
            machine.reasons.get(spec.name, ""),
        )
        for spec in FACTS
    ]


@cache
def _labels() -> dict[str, str]:
    return {spec.name: spec.label for spec in FACTS}


def label(name: str) -> str:
    """Return the English label of a fact; UsageError for an unknown name."""
    try:
        return _labels()[name]
    except KeyError as error:
        raise UsageError(f"no fact is named {name!r}", fix="see ipclab.machine.FACTS") from error
