"""Frames of points with what the hardware allows beside the value.

No interval of a time begins below the limit of its operation: no launch shows that an operation
takes less than what it cannot avoid, so the interval is cut there. What is itself faster than its
limit is left as it is: that limit is none, and the first page says so (`ipclab.bounds.suspects`).
"""

import pandas as pd

from ipclab.bounds import states
from ipclab.bounds.limits import floors, with_limits
from ipclab.bounds.suspects import LIMITS
from ipclab.frames import derived
from ipclab.frames.metrics import TAILS
from ipclab.frames.remembered import remembered_frame
from ipclab.frames.rows import ID
from ipclab.store.run import RunFolder

CUT = "cut"  # the flag of an interval that ends at the limit
TIMES = ("p50", "mean", *TAILS)  # metrics of a whole operation, which a limit bounds
BANDWIDTH = "bandwidth"
METRICS = ("p99", "mean", "cpu_ns")  # of the same point and op, beside each row
COLUMNS = ("limit", "over_limit", "over", *states.COLUMNS, "busy", *METRICS, ID)


@remembered_frame(LIMITS)
def cut_points(run: RunFolder, study: str) -> pd.DataFrame:
    """Return the frame of points of a study, whose intervals end at the limit where they would lie
    beyond it; raises `UsageError` for an unknown study.
    """
    points = derived.read_frame(run, study, "points")
    limits = derived.read_frame(run, LIMITS, "launches")
    if points.empty or limits.empty or not run.questions.of(study).bounds:
        return points
    known = floors(limits, run.questions)
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


@remembered_frame(LIMITS)
def enriched_points(run: RunFolder, study: str) -> pd.DataFrame:
    """Return the frame of points of a study with what findings and figures need beside the value.

    Columns: `row` (its name, study/point/op/metric), `limit` (ns), `over_limit` and `over` (the
    value over it, a quantity), `fast` and `slow` (ns, the states of the point), `why` (what shows
    that it has several), `busy` (it needs a CPU that is otherwise idle), and `METRICS`. They are
    NaN where they tell nothing.
    """
    points = cut_points(run, study)
    if points.empty:
        return points.assign(**dict.fromkeys(COLUMNS))
    medians = points[(points.metric == "p50") & (points.unit == "ns")]
    limits = derived.read_frame(run, LIMITS, "launches")
    known = medians.iloc[:, :0].assign(limit=float("nan"), over_limit=float("nan"), over=None)
    if len(medians) and len(limits):
        known = with_limits(medians, limits, run.questions)[["limit", "over_limit", "over"]]
    known = known.join(states.of_study(run, study)[list(states.COLUMNS)])
    busy = [states.needs_idle_cpu(run, row) for row in medians.to_dict("records")]
    points = points.join(known.assign(busy=pd.Series(busy, medians.index, dtype=object)))
    names = zip(points.study, points.point, points.op, points.metric, strict=True)
    points[ID] = ["/".join(each) for each in names]
    points["why"] = points.why.fillna("")
    points["busy"] = points.busy.fillna(False).astype(bool)
    of = points.set_index(["point", "op"]).index
    for name in METRICS:
        values = points[points.metric == name].set_index(["point", "op"]).value
        points[name] = values.reindex(of).to_numpy()
    return points
