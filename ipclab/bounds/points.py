"""Frames of points in which no interval of a time begins below the limit of its operation.

No launch shows that an operation takes less than what it cannot avoid, so the interval is cut
there. What is itself faster than its limit is left as it is: that limit is none, and the first page
says so (`ipclab.bounds.suspects`).
"""

import pandas as pd

from ipclab.bounds.limits import floors
from ipclab.bounds.suspects import LIMITS
from ipclab.frames import derived
from ipclab.frames.metrics import TAILS
from ipclab.frames.remembered import remembered_frame
from ipclab.store.questions import Questions
from ipclab.store.run import RunFolder

CUT = "cut"  # the flag of an interval that ends at the limit
TIMES = ("p50", "mean", *TAILS)  # metrics of a whole operation, which a limit bounds
BANDWIDTH = "bandwidth"


@remembered_frame(LIMITS)
def cut_points(run: RunFolder, study: str) -> pd.DataFrame:
    """Return the frame of points of a study; raises `UsageError` for an unknown one."""
    derived.check_study(run, study)
    points = derived.read_frame(run, study, "points")
    limits = derived.read_frame(run, LIMITS, "launches")
    if points.empty or limits.empty or not run.questions.of(study).bounds:
        return points
    return cut(points, limits, run.questions)


def cut(points: pd.DataFrame, limits: pd.DataFrame, questions: Questions) -> pd.DataFrame:
    """Return points whose intervals end at the limit where they would lie beyond it.

    `limits` is the launch frame of the study `limits` in the same run, which asks `questions`.
    """
    known = floors(limits, questions)
    ends = points[["low", "high", "flags"]].copy()
    bounded = points[points.metric.isin([*TIMES, BANDWIDTH])]
    for place, row in zip(bounded.index, bounded.to_dict("records"), strict=True):
        floor = known.under(row["study"], row["op"], row)
        if floor is None:
            continue
        fastest = row["size_bytes"] * 1e9 / floor.ns
        if row["metric"] == BANDWIDTH and row["value"] <= fastest < row["high"]:
            ends.loc[place, ["high", "flags"]] = fastest, f"{row['flags']};{CUT}"
        elif row["metric"] in TIMES and row["low"] < floor.ns <= row["value"]:
            ends.loc[place, ["low", "flags"]] = floor.ns, f"{row['flags']};{CUT}"
    return points.assign(low=ends.low, high=ends.high, flags=ends["flags"])
