"""How long to spin before a sleep, at the measured gaps next to that of a need."""

from typing import Any

import pandas as pd

from ipclab.frames import derived
from ipclab.stats.quantity import of
from ipclab_answers.choose.need import ROUND_TRIP, Need
from ipclab_report.lab import ReportLab

STUDY = "spin"
COLUMNS = ["gap", "backend", "window", "time", "cpus"]


def windows(lab: ReportLab, need: Need) -> pd.DataFrame:
    """Return `COLUMNS` for each mechanism: of the windows that keep to the CPUs of `need`, the best.

    It has no rows where `need` has no gap, and where the run does not hold the study.
    """
    nothing = pd.DataFrame(columns=COLUMNS)
    if need.way != ROUND_TRIP or not need.rate or STUDY not in derived.studies_measured(lab.run):
        return nothing
    asked = {"arm": "main", "op": "round-trip", "metric": "p50", "placement": need.placement}
    trips = lab.points(STUDY, **asked)
    gap_ns = 1e9 / need.rate
    near = {trips.gap_ns[trips.gap_ns <= gap_ns].max(), trips.gap_ns[trips.gap_ns >= gap_ns].min()}
    medians = lab.cells(
        trips[trips.gap_ns.isin(near)], cpu=("cpu", "p50"), period=("period", "p50")
    )
    ordered: Any = medians.sort_values(["gap_ns", "value"], kind="stable").itertuples()
    rows = []
    for row in ordered:
        cpus = of(row.cpu) / of(row.period)
        if cpus and (not need.cpus or float(cpus.value or 0) <= need.cpus):
            gap, window = (lab.level(name, getattr(row, name)) for name in ("gap_ns", "spin_ns"))
            rows.append((gap, row.backend, window, row.cell, cpus))
    return pd.DataFrame(rows, columns=COLUMNS).drop_duplicates(["gap", "backend"])
