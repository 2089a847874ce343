"""The facts that a report takes from a calibration."""

from collections.abc import Iterator, Mapping
from typing import Any

from ipclab.facts.fact import Fact

FILE = "calibration.json"  # beside the runs of the machine
PLACEMENTS = ("same", "cross")


def facts(calibration: Mapping[str, Any] | None) -> Iterator[Fact]:
    """Yield what `calibration.json` says, or the same facts without values when there is none.

    `calibration.smallest.*` is the smallest planted slow-down found in at least 95 % of the trials; it has no value
    either when none of the planted ones was.
    """
    alarms = (calibration or {}).get("false_alarms", {})
    count = alarms.get("comparisons")
    n = "" if count is None else str(count)
    made = str((calibration or {}).get("made", ""))
    yield Fact("calibration.false_alarms.share", alarms.get("share"), "share", n, 0.0, alarms.get("upper"), source=made)
    yield Fact("calibration.false_alarms.upper", alarms.get("upper"), "share", n, source=made)
    yield Fact("calibration.comparisons", count, "count", source=made)
    for name in PLACEMENTS:
        placed = (calibration or {}).get("placements", {}).get(name, {})
        trials = str(placed["tally"]["trials"]) if placed else ""
        yield Fact(
            f"calibration.smallest.{name}",
            placed["tally"]["smallest"] if placed else None,
            "share",
            trials,
            source=made,
        )
