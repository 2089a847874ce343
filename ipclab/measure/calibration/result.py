"""A calibration as it is kept, beside the runs of its machine, and as the rows of a table."""

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ipclab.errors import LabError
from ipclab.paths import Paths
from ipclab.stats.rates import rate_interval
from ipclab.store.bundle.contents import CALIBRATION

SCHEMA = 1
ALL = "all"


class Tally(Struct, frozen=True):
    """What the trials of one placement gave: `found` counts trials by planted share."""

    trials: int
    comparisons: int
    false_alarms: int
    found: dict[str, int]
    smallest: float | None


class Alarms(Struct):
    """False alarms over all placements: their number, share, and the 95 % upper bound of the share."""

    comparisons: int
    flagged: int
    share: float | None
    upper: float | None


class Placed(Struct):
    """One placement: its undelayed round trip in ns, what was found, and all medians by arm."""

    base_ns: float
    tally: Tally
    medians_ns: dict[str, list[float]]
    relation: str
    cpus: list[int]


class Calibration(Struct):
    """The file `calibration.json`."""

    schema: int
    machine: str
    made: str
    false_alarms: Alarms
    placements: dict[str, Placed]


def file(paths: Paths, machine: str) -> Path:
    """Return where the calibration of `machine` (a digest) lies."""
    return paths.runs / machine / CALIBRATION


def read(path: Path) -> dict[str, Any]:
    """Return the calibration in file `path`, empty when there is none; raises `LabError` for a file that is not one."""
    if not path.is_file():
        return {}
    try:
        content = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
        if msgspec.convert(content, Calibration).schema != SCHEMA:
            raise ValueError(f"it has schema {content['schema']}, this ipclab knows {SCHEMA}")
    except (OSError, ValueError, RecursionError) as error:
        raise LabError(f"{path} cannot be read", str(error), "calibrate again: ipclab calibrate") from error
    return content


def rows(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each placement of a calibration and one for `all`; none when it is empty.

    `share` of the `comparisons` of identical code were called different, at most `upper` with 95 % confidence;
    `smallest` is the least planted slow-down found in at least 95 % of the `trials`, None where none was, and in the
    row for all the largest of these.

    >>> rows({})
    []
    """
    if not found:
        return []
    table = [_row(name, **placed["tally"]) for name, placed in sorted(found["placements"].items())]
    least = [row["smallest"] for row in table]
    smallest = None if None in least else max(least, default=None)
    flagged, comparisons = found["false_alarms"]["flagged"], found["false_alarms"]["comparisons"]
    return [*table, _row(ALL, sum(row["trials"] for row in table), comparisons, flagged, {}, smallest)]


def _row(
    placement: str, trials: int, comparisons: int, false_alarms: int, found: dict[str, int], smallest: float | None
) -> dict[str, Any]:
    share = false_alarms / comparisons if comparisons else None
    upper = rate_interval(false_alarms, comparisons)[1] if comparisons else None
    counts = {f"found_{arm}": count for arm, count in found.items()}
    alarms = {"comparisons": comparisons, "false_alarms": false_alarms, "share": share, "upper": upper}
    return {"placement": placement, **alarms, "trials": trials, "smallest": smallest, **counts}
