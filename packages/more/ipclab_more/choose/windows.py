"""How long to spin before a sleep, at the measured gaps next to that of a need."""

from typing import Any

import pandas as pd

from ipclab.bounds.suspects import check_limits
from ipclab.lab.lab import Lab
from ipclab.stats.quantity import of
from ipclab_more.choose.need import Need
from ipclab_more.choose.runs import WINDOWS, beside

COLUMNS = ["gap", "backend", "window", "time", "cpus"]
MEASURED = ["gap_ns", "backend", "spin_ns", "cell", "cpus"]
WINDOW = ["backend", "spin_ns"]


def windows(lab: Lab, need: Need) -> pd.DataFrame:
    """Return `COLUMNS` for each mechanism: of the windows that keep to the CPUs of `need`, the best.

    It has no rows where `need` has no gap, and where no run of the machine holds the study.
    """
    best = _keeping(need, _measured(lab, need)).drop_duplicates(["gap_ns", "backend"])[MEASURED]
    for name in ("gap_ns", "spin_ns"):
        best[name] = [lab.level(name, level) for level in best[name]]
    return best.set_axis(COLUMNS, axis="columns")


def advised_window(lab: Lab, need: Need) -> tuple[str, dict[str, Any]] | None:
    """Return which sentence tells the window to take, of `spinning` in the labels, and its values.

    Between two measured gaps it is one that keeps to the CPUs at both, and of these the one whose
    slower median is the least. None where nothing was measured.
    """
    measured = _measured(lab, need)
    gaps = sorted(measured.gap_ns.unique())
    keeping = _keeping(need, measured)
    everywhere = keeping.groupby(WINDOW).filter(lambda rows: len(rows) == len(gaps))
    gap = lab.level("gap_ns", need.gap_ns)
    if everywhere.empty:
        says = len(measured) and need.cpus
        return ("none", {"gap": gap, "most": f"{need.cpus:g}"}) if says else None
    best: Any = everywhere.groupby(WINDOW).value.max().idxmin()
    taken = (
        everywhere.set_index(WINDOW).sort_index().loc[[best]].sort_values("gap_ns", kind="stable")
    )
    said = {
        "gap": gap,
        "cpus": max(taken.cpus, key=lambda cpus: cpus.value),
        "backend": lab.level("backend", best[0]),
        "window": lab.level("spin_ns", best[1]),
        "below": lab.level("gap_ns", gaps[0]),
        "above": lab.level("gap_ns", gaps[-1]),
        "time": taken.cell.iloc[0],
        "later": taken.cell.iloc[-1],
    }
    return ("between" if len(gaps) > 1 else "at"), said


def _measured(lab: Lab, need: Need) -> pd.DataFrame:
    """Return the medians at the gaps next to that of `need`, the least first, with `cpus`."""
    held = beside(lab.paths, lab.run, WINDOWS) if need.gap_ns else None
    if held is None:
        return pd.DataFrame(columns=[*MEASURED, "value"])
    check_limits(held, [WINDOWS])
    of_study = lab if held is lab.run else Lab(held, lab.words, lab.paths)
    asked = {"arm": "main", "op": "round-trip", "metric": "p50", "placement": need.placement}
    trips = of_study.points(WINDOWS, **asked)
    gaps = trips.gap_ns
    near = {gaps[gaps <= need.gap_ns].max(), gaps[gaps >= need.gap_ns].min()}
    trips = trips[gaps.isin(near)].sort_values(["gap_ns", "value"], kind="stable")
    medians = of_study.cells(trips, cpu=("cpu", "p50"), period=("period", "p50"))
    used, period = (medians[name].map(of) for name in ("cpu", "period"))
    return medians.assign(cpus=used / period)


def _keeping(need: Need, measured: pd.DataFrame) -> pd.DataFrame:
    """Return the rows whose CPUs are known, and within those of `need`."""
    most = need.cpus or float("inf")
    keeps = [bool(cpus) and cpus.value <= most for cpus in measured.cpus]
    return measured[pd.Series(keeps, measured.index, dtype=bool)]
