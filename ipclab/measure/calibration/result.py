"""A calibration as it is kept, beside the runs of its machine, and as the rows of a table."""

from pathlib import Path
from typing import Annotated, Any, TypedDict

import msgspec
from msgspec import Meta, Struct

from ipclab.errors import LabError
from ipclab.paths import Paths
from ipclab.stats.rates import rate_interval
from ipclab.store.bundle.contents import CALIBRATION

SCHEMA = 1


class Tally(Struct, frozen=True):
    """What the trials of one placement gave: `found` counts trials by planted share."""

    trials: int
    comparisons: Annotated[int, Meta(ge=1)]
    false_alarms: int
    found: dict[str, int]
    smallest: float | None


class Alarms(TypedDict):
    """False alarms over all placements: their number, share, and the 95 % upper bound of the share."""

    comparisons: int
    flagged: int
    share: float
    upper: float


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
    """Return a row for each placement of a calibration, none when it is empty.

    Of the `comparisons` of identical code, `false_alarms` were called different: a share of at most `upper` with 95 %
    confidence. `smallest` is the least planted slow-down that at least 95 % of the `trials` found, None where none was.

    >>> rows({})
    []
    """
    table = []
    for name, placed in sorted(found.get("placements", {}).items()):
        told = dict(placed["tally"])
        counts = {f"found_{share}": count for share, count in told.pop("found").items()}
        upper = rate_interval(told["false_alarms"], told["comparisons"])[1]
        table.append({"placement": name, **told, "upper": upper, **counts})
    return table
