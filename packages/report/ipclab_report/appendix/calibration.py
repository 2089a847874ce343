"""What the run's own calibration says of its judge, in a reader's words."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ipclab.frames.derived import measured
from ipclab.lab.data import Data
from ipclab.stats.quantity import Quantity
from ipclab.tables.table import Table
from ipclab.tables.tabulation import tabulated
from ipclab.words.catalogue import N_
from ipclab_report.appendix import twins as calibration


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
