"""What calibration says of the judge, in a reader's words: what the run itself has measured of it."""

from typing import Any, NamedTuple

import pandas as pd

from ipclab.calibrated import STUDY, counted_in_run, total_counted
from ipclab.frames.derived import studies_measured
from ipclab.lab.data import Data
from ipclab.stats.quantity import Quantity
from ipclab.store.calibration import Counted
from ipclab.tables.table import Table
from ipclab.tables.tabulation import tabulated
from ipclab.words.catalogue import N_

OFTEN = 0.9  # of the planted slow-downs of a size, in each placement: what is found at all
FEWEST = 10  # planted ones of a size that show it


class Calibrated(NamedTuple):
    """What a run knows of the judge.

    Of `twins`, `alarms` were called different: a share of at most `upper`. `smallest` is the least
    planted slow-down (a share) that was often found.
    """

    twins: int
    alarms: int
    upper: Quantity
    smallest: Quantity


def calibration(lab: Data) -> Calibrated:
    """Return what the run knows of the judge, for prose: other runs would change its pages."""
    placements = counted_in_run(lab.run)
    every = total_counted(placements.values())
    smallest = None
    for share in sorted(every.planted, reverse=True):
        if every.planted[share] >= FEWEST:
            if not all(part.often(share, OFTEN) for part in placements.values()):
                break
            smallest = float(share)
    upper = Quantity(every.upper if every.twins else None, "share")
    return Calibrated(every.twins, every.alarms, upper, Quantity(smallest, "share"))


def calibration_table(lab: Data) -> Table:
    """Return what the judge was seen to do with identical and slowed-down code, as a table.

    There is a row for each placement. Of identical code compared, a share was called slower, at
    most `upper` with 95 % confidence; a column for each planted slow-down says in how many of the
    contests (or trials) it was found.
    """
    note = N_("Found: of so many contests, those in which the slower one was called slower.")
    before = N_("This run was made before calibration was part of a run.")
    caption = N_(
        "Calibration: identical code and planted slow-downs, judged as the contests of the run are"
    )
    table = pd.DataFrame([_row(lab, *part) for part in counted_in_run(lab.run).items()])
    notes = []
    if len(table):
        table = table.set_index("placement").sort_index()
        notes = [note] if STUDY in studies_measured(lab.run) else [note, before]
    return tabulated(lab, table, caption, spec="pct", notes=notes, name=STUDY)


def _row(lab: Data, placement: str, part: Counted) -> dict[str, Any]:
    rate = part.alarms / part.twins if part.twins else None
    cells: dict[str, Any] = {
        "placement": placement,
        "comparisons": part.twins,
        "false_alarms": Quantity(rate, "share"),
        "upper": Quantity(part.upper, "share"),
    }
    for planted, count in sorted(part.planted.items()):
        head = lab.say(N_("{share:pct,int} slower, found"), share=Quantity(float(planted), "share"))
        found = part.found.get(planted, 0)
        cells[head] = lab.say(N_("{count} of {trials}"), count=found, trials=count)
    return cells
