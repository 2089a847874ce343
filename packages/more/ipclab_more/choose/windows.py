"""How long to spin before a sleep, at the measured gaps next to that of a need."""

from typing import Any

import pandas as pd

from ipclab.bounds.suspects import check_limits
from ipclab.lab.lab import Lab
from ipclab.stats.quantity import of
from ipclab_more.choose.need import Need
from ipclab_more.choose.runs import WINDOWS, beside

COLUMNS = ["gap", "backend", "window", "time", "cpus"]
WINDOW = ["backend", "spin_ns"]


def windows(lab: Lab, need: Need) -> pd.DataFrame:
    """Return `COLUMNS` for each mechanism: of the windows that keep to the CPUs of `need`, the best.

    It has no rows where `need` has no gap, and where no run of the machine holds the study.
    """
    rows = []
    for row in (
        _keeping(need, _measured(lab, need)).drop_duplicates(["gap_ns", "backend"]).itertuples()
    ):
        gap, window = (lab.level(name, getattr(row, name)) for name in ("gap_ns", "spin_ns"))
        rows.append((gap, row.backend, window, row.cell, row.cpus))
    return pd.DataFrame(rows, columns=COLUMNS)


def advised_window(lab: Lab, need: Need) -> tuple[str, dict[str, Any]] | None:
    """Return which sentence tells the window to take, of `spinning` in the labels, and its values.

    Between two measured gaps it is one that keeps to the CPUs at both, and of these the one whose
    slower median is the least. None where nothing was measured.
    """
    measured = _measured(lab, need)
    if measured.empty:
        return None
    gaps = sorted(measured.gap_ns.unique())
    gap = lab.level("gap_ns", round(need.gap_ns))
    keeping = _keeping(need, measured)
    everywhere = keeping.groupby(WINDOW).filter(lambda rows: len(rows) == len(gaps))
    if everywhere.empty:
        return ("none", {"gap": gap, "most": f"{need.cpus:g}"}) if need.cpus else None
    best: Any = everywhere.groupby(WINDOW).value.max().idxmin()
    taken = (
        everywhere.set_index(WINDOW).sort_index().loc[[best]].sort_values("gap_ns", kind="stable")
    )
    busiest = max(taken.cpus, key=lambda cpus: cpus.value)
    levels = lab.level("backend", best[0]), lab.level("spin_ns", best[1])
    said = {"gap": gap, "cpus": busiest, **dict(zip(("backend", "window"), levels, strict=True))}
    said |= dict(zip(("below", "above"), (lab.level("gap_ns", gap) for gap in gaps), strict=False))
    said |= dict(zip(("time", "later"), taken.cell, strict=False))
    return ("between" if len(gaps) > 1 else "at"), said


def _measured(lab: Lab, need: Need) -> pd.DataFrame:
    """Return the medians at the gaps next to that of `need`, the least first, with `cpus`."""
    held = beside(lab.paths, lab.run, WINDOWS) if need.gap_ns else None
    if held is None:
        return pd.DataFrame(columns=["gap_ns", "cpus", *WINDOW])
    check_limits(held, [WINDOWS])
    of_study = lab if held is lab.run else Lab(held, lab.words, lab.paths)
    asked = {"arm": "main", "op": "round-trip", "metric": "p50", "placement": need.placement}
    trips = of_study.points(WINDOWS, **asked)
    gap_ns = round(need.gap_ns)
    near = {trips.gap_ns[trips.gap_ns <= gap_ns].max(), trips.gap_ns[trips.gap_ns >= gap_ns].min()}
    trips = trips[trips.gap_ns.isin(near)].sort_values(["gap_ns", "value"], kind="stable")
    medians = of_study.cells(trips, cpu=("cpu", "p50"), period=("period", "p50"))
    used, period = (medians[name].map(of) for name in ("cpu", "period"))
    return medians.assign(cpus=used / period)


def _keeping(need: Need, measured: pd.DataFrame) -> pd.DataFrame:
    """Return the rows whose CPUs are known, and within those of `need`."""
    most = need.cpus or float("inf")
    keeps = [bool(cpus) and cpus.value <= most for cpus in measured.cpus]
    return measured[pd.Series(keeps, measured.index, dtype=bool)]
