"""What differs between machines, and what does not: their facts, grouped by what they affect."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ipclab.machine.facts import FACTS, Value
from ipclab.report.compare.held import ComparedRun
from ipclab.report.compare.shared import run_names
from ipclab.report.facts import REASONS, TOPICS

SHORT = {"git_commit": 10, "lock_digest": 10}  # digits that tell long digests apart


def differing_facts(runs: Sequence[ComparedRun]) -> pd.DataFrame:
    """Return one row for each fact that affects results and that some run has.

    Columns: affects and fact (msgids), name, unit, same, and each run's value under its name; a
    value that is absent is the reason (a msgid). Of lists and mappings that differ only what is not
    the same in all is left, as text.
    """
    rows = []
    machines = [run.about["machine"] for run in runs]
    affecting = [fact for fact in FACTS if fact.affects]
    for fact in sorted(affecting, key=lambda fact: TOPICS.index(fact.affects)):
        values = [machine["facts"].get(fact.name) for machine in machines]
        if all(value is None for value in values):
            continue
        same = all(value == values[0] for value in values)
        cells = [_plain(fact.name, value) for value in (values if same else _apart(values))]
        for place, machine in enumerate(machines):
            if cells[place] is None:
                why = machine.get("reasons", {}).get(fact.name, "absent")
                cells[place] = REASONS.get(why, REASONS["absent"])
        rows.append((fact.affects, fact.label, fact.name, fact.unit, same, *cells))
    return pd.DataFrame(rows, columns=["affects", "fact", "name", "unit", "same", *run_names(runs)])


def _plain(name: str, value: Value | None) -> Value | None:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "–"
    if isinstance(value, dict):
        return "; ".join(f"{key.replace('_', ' ')}: {part}" for key, part in value.items()) or "–"
    return value[: SHORT[name]] if name in SHORT and isinstance(value, str) else value


def _apart(values: list[Any]) -> list[Any]:
    """Return lists and mappings without what all of them share; other values as they are."""
    if not all(isinstance(value, list | dict) for value in values):
        return values
    parts = [[*value.items()] if isinstance(value, dict) else value for value in values]
    shared = set.intersection(*(set(map(str, part)) for part in parts))
    own = []
    for value, part in zip(values, parts, strict=True):
        left = [item for item in part if str(item) not in shared]
        own.append(dict(left) if isinstance(value, dict) else left)
    return own
