"""What a run's own calibration says: identical code and planted slow-downs, judged as its contests
are.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ipclab.frames import calibration as own_calibration
from ipclab.frames.derived import measured
from ipclab.lab.catalogue import N_
from ipclab.lab.data import Data
from ipclab.lab.table import Table
from ipclab.lab.tabulation import tabulated
from ipclab.stats.quantity import Quantity


def about_calibration(lab: Data) -> pd.DataFrame:
    """Return what the run's own calibration says, by placement; empty for a run that has none.

    Of identical code compared, a share was called slower, at most `upper` with 95 % confidence; a
    column for each planted slow-down says in how many of the contests (or trials) it was found.
    """
    rows = own_calibration.rows(lab.contests(own_calibration.STUDY))
    table = pd.DataFrame([_calibrated(lab, row) for row in rows])
    return table.set_index("placement") if rows else table


def calibration_table(lab: Data) -> Table:
    """Return what the run's judge was seen to do with identical code and with planted slow-downs,
    as a table.
    """
    note = N_("Found: of so many contests, those in which the slower one was called slower.")
    before = N_("This run was made before calibration was part of a run.")
    caption = N_(
        "Calibration: identical code and planted slow-downs, judged as the contests of the run are"
    )
    told, lacking = (
        about_calibration(lab),
        [] if own_calibration.STUDY in measured(lab.run) else [before],
    )
    notes = [note, *lacking] if len(told) else []
    return tabulated(lab, told, caption, spec="pct", notes=notes, name="calibration", empty=before)


def _calibrated(lab: Data, row: Mapping[str, Any]) -> dict[str, Any]:
    rate = row["false_alarms"] / row["comparisons"] if row["comparisons"] else None
    told = {"placement": row["placement"], "comparisons": row["comparisons"]}
    told |= {
        "false_alarms": Quantity(rate, "share"),
        "upper": Quantity(row["upper"], "share"),
    }
    for planted, count in row["found"].items():
        head = lab.say(N_("{share:pct,int} slower, found"), share=Quantity(float(planted), "share"))
        told[head] = lab.say(N_("{count} of {trials}"), count=count, trials=row["trials"])
    return told
