"""What differs between machines, and what does not: their facts, grouped by what they affect."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ipclab import machine
from ipclab.machine import Value

AFFECTS = machine.affects()


@dataclass(frozen=True)
class Difference:
    """One fact that is not the same in all runs: its values (None where absent) and the reasons of absence."""

    affects: str
    name: str
    values: tuple[Value, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Differences:
    """What differs, in the order of `AFFECTS`, and how many facts of each group do not."""

    different: list[Difference]
    same: dict[str, int]


def differences(runs: Sequence[Mapping[str, Any]]) -> Differences:
    """Return what differs between the machines of `runs` (each a `run.json`).

    A fact that no run has is neither the same nor different.
    """
    different, same = [], dict.fromkeys(AFFECTS, 0)
    for affects, names in AFFECTS.items():
        for name in names:
            values = tuple(run["machine"]["facts"].get(name) for run in runs)
            if all(value is None for value in values):
                continue
            if all(value == values[0] for value in values):
                same[affects] += 1
            else:
                reasons = tuple(str(run["machine"].get("reasons", {}).get(name, "absent")) for run in runs)
                different.append(Difference(affects, name, _apart(values), reasons))
    return Differences(different, same)


def _apart(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return lists and mappings without what all of them share; other values as they are."""
    lists = [value for value in values if isinstance(value, list)]
    if len(lists) == len(values):
        shared = set.intersection(*(set(map(str, value)) for value in lists))
        return tuple([item for item in value if str(item) not in shared] for value in lists)
    tables = [value for value in values if isinstance(value, dict)]
    if len(tables) == len(values):
        keys = sorted({key for value in tables for key in value})
        odd = [key for key in keys if len({str(value.get(key)) for value in tables}) > 1]
        return tuple({key: value[key] for key in odd if key in value} for value in tables)
    return values
