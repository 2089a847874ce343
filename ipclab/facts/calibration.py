"""Named facts of a machine's calibration."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ipclab.facts.fact import Fact

FILE = "calibration.json"
UNITS = {
    "comparisons": "count",
    "false_alarms.share": "share",
    "false_alarms.upper": "share",
    "smallest.same": "share",
    "smallest.cross": "share",
}


def facts(found: Mapping[str, Any]) -> Iterator[Fact]:
    """Yield the facts of a calibration, by the names of `UNITS`; without one they have no value."""
    for name, unit in UNITS.items():
        yield Fact(f"calibration.{name}", found.get(name), unit, source=FILE)


def read(machine: Path) -> dict[str, Any]:
    """Return the calibration kept in the machine's folder, empty when there is none."""
    file = machine / FILE
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.is_file() else {}
