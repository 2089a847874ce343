"""What the uncertainty of a value is made of, and what calibration says of the judge."""

from collections.abc import Mapping, Sequence
from math import hypot, log, sqrt
from typing import Any

import numpy as np
import pandas as pd

from ipclab.frames import calibration
from ipclab.frames.derived import measured
from ipclab.lab.about import spent
from ipclab.lab.catalogue import N_
from ipclab.lab.data import Data
from ipclab.lab.table import Table
from ipclab.lab.tabulation import tabulated
from ipclab.stats.compare import NOT_TESTED
from ipclab.stats.intervals import SESSION, VARYING, median_interval
from ipclab.stats.quantity import Quantity
from ipclab.studies.calibration import EXCHANGES

# Sources and how each is evaluated: from repeated observation (A) or from what else is known (B).
TYPES = {
    "launches": "A",
    "session": "B",
    "clock": "B",
    "quantisation": "B",
    "forked": "A",
    "host": "B",
}
COVERAGE = 2  # the factor of the expanded uncertainty, of some 95 %
LEAST = 0.0001  # what is smaller, but not 0, is given as that
NORMAL = 1.96  # standard deviations in half of a 95 % interval


def budget(
    lab: Data,
    value: Quantity,
    *timed: Quantity,
) -> dict[str, Quantity]:
    """Return standard uncertainties (shares of `value`) by source, then combined ones.

    These are `combined`, `expanded` and `printed`.

    `timed` are the times (ns) that were taken of it: one for a time, both for their ratio.
    `printed` is half of the interval that the reports print. What this run does not know has no
    value, and counts as nothing.

    >>> pd.DataFrame({"past": budget(lab, past, past), "ratio": budget(lab, past / now, past, now)})
    """
    clock = lab.value(lab.points("limits", backend="clock"), op="read", metric="p50")
    resolution = lab.run.facts.get("clock_resolution")
    times = [float(time.value) for time in timed if time]
    shares = {
        "launches": _between_launches([value] if value.launches else timed),
        "session": _of_sessions(value, len(timed)),
        "clock": _of_each(times, clock.value, 3) if clock else None,
        "quantisation": _of_each(times, resolution, 12) if resolution else None,
        "forked": _of_twins(lab, len(timed)),
        "host": _of_host(lab),
    }
    if not value:
        shares = dict.fromkeys(shares)
    for name, share in shares.items():
        if share:
            shares[name] = max(share, LEAST)
    known = [share for share in shares.values() if share is not None]
    combined = hypot(*known) if known else None
    more = {
        "combined": combined,
        "expanded": None if combined is None else COVERAGE * combined,
        "printed": _printed(value),
    }
    return {name: Quantity(share, "share") for name, share in (shares | more).items()}


def _between_launches(parts: Sequence[Quantity]) -> float | None:
    """Return the standard uncertainty of medians over launches, before what sessions add."""
    widths = []
    for part in parts:
        launches = np.asarray([*part.launches.values()], dtype=np.float64)
        if len(launches) < 2 or not part.value:  # noqa: PLR2004  of one nothing is known
            return None
        low, high = median_interval(launches)
        widths.append(float((high - low) / 2 / NORMAL / part.value))
    return hypot(*widths) if np.isfinite(widths).all() else None


def _of_sessions(value: Quantity, sides: int) -> float | None:
    """Return what sessions differ by; sides of a ratio that share their launches share it."""
    if value.unit in VARYING:
        return SESSION / NORMAL
    return 0.0 if value.launches else sqrt(sides) * SESSION / NORMAL


def _of_each(times: list[float], width: float, divisor: int) -> float | None:
    """Return what a rectangle of `width` (ns) does to the times."""
    return hypot(*(width / sqrt(divisor) / time for time in times)) if times else None


def _of_twins(lab: Data, sides: int) -> float | None:
    """Return how far identical programs lie apart: what they have of their fork server."""
    contests = lab.contests(calibration.STUDY)
    if contests.empty:
        return None
    twins = contests[contests.other.astype(str).str.endswith(f" {EXCHANGES}")]
    logs = [log(ratio) for ratio in twins[twins.verdict != NOT_TESTED].ratio]
    if not logs:
        return None
    return sqrt(sides / 2) * float(np.sqrt(np.mean(np.square(logs))))


def _of_host(lab: Data) -> float | None:
    """Return the host's share of the CPU time in use, as a rectangle's half-width."""
    busy = spent(lab.run.about, "busy_ns")
    return spent(lab.run.about, "steal_ns") / busy / sqrt(3) if busy > 0 else None


def _printed(value: Quantity) -> float | None:
    if not value or not value.value:
        return None
    low, high = value.ends
    return float((high - low) / 2 / value.value) if np.isfinite(high) else None


def smallest_found(lab: Data) -> Quantity:
    """Return the least planted slow-down (a share) always found by the judge, or missing."""
    always: list[set[float]] = []
    for row in calibration.rows(lab.contests(calibration.STUDY)):
        counts = row["found"].items()
        always.append({float(share) for share, count in counts if count == row["trials"]})
    in_all = set.intersection(*always) if always else ()
    return Quantity(min(in_all, default=None), "share")


def calibration_table(lab: Data) -> Table:
    """Return what the judge was seen to do with identical and slowed-down code, as a table.

    There is a row for each placement.

    Of identical code compared, a share was called slower, at most `upper` with 95 % confidence; a
    column for each planted slow-down says in how many of the contests (or trials) it was found.
    """
    note = N_("Found: of so many contests, those in which the slower one was called slower.")
    before = N_("This run was made before calibration was part of a run.")
    caption = N_(
        "Calibration: identical code and planted slow-downs, judged as the contests of the run are"
    )
    rows = calibration.rows(lab.contests(calibration.STUDY))
    table = pd.DataFrame([_calibrated(lab, row) for row in rows])
    notes = []
    if rows:
        table = table.set_index("placement")
        notes = [note] if calibration.STUDY in measured(lab.run) else [note, before]
    return tabulated(
        lab,
        table,
        caption,
        spec="pct",
        notes=notes,
        name="calibration",
        empty=before,
    )


def _calibrated(
    lab: Data,
    row: Mapping[str, Any],
) -> dict[str, Any]:
    rate = row["false_alarms"] / row["comparisons"] if row["comparisons"] else None
    cells = {
        "placement": row["placement"],
        "comparisons": row["comparisons"],
        "false_alarms": Quantity(rate, "share"),
        "upper": Quantity(row["upper"], "share"),
    }
    for planted, count in row["found"].items():
        head = lab.say(N_("{share:pct,int} slower, found"), share=Quantity(float(planted), "share"))
        cells[head] = lab.say(N_("{count} of {trials}"), count=count, trials=row["trials"])
    return cells
