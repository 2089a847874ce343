"""Frames of points with what findings and figures need beside the value.

Columns: `row` (its name, study/point/op/metric), `limit` (ns), `over_limit` and `over` (the value
over it, a quantity), `fast` and `slow` (ns, the states of the point), `why` (what shows that it has
several), `busy` (it needs a CPU that is otherwise idle), `p99`, `mean`, `cpu_ns` (the same point
and op by another metric).
"""

import pandas as pd

from ipclab.bounds import states
from ipclab.bounds.limits import with_limits
from ipclab.bounds.points import cut_points
from ipclab.bounds.suspects import LIMITS
from ipclab.frames import derived
from ipclab.frames.remembered import remembered_frame
from ipclab.frames.rows import ID
from ipclab.store.run import RunFolder

METRICS = ("p99", "mean", "cpu_ns")
COLUMNS = ("limit", "over_limit", "over", *states.COLUMNS, "busy", *METRICS, ID)


@remembered_frame(LIMITS)
def enriched_points(run: RunFolder, study: str) -> pd.DataFrame:
    """Return the frame of points of a study with those columns, NaN where they tell nothing."""
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
