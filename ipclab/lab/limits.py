"""What the hardware allows beside what was measured: over the limit, and what is faster than it."""

import pandas as pd

from ipclab.frames import suspects
from ipclab.frames.limits import with_limits
from ipclab.lab.data import Data
from ipclab.studies.limits import pairs


def limited(lab: Data, points: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `lab.points` with the hardware's limit (ns) and the value over it.

    Columns: `limit` and `over_limit`.
    """
    if points.empty:
        return points.assign(limit=0.0, over_limit=0.0, over=None)
    return with_limits(points, lab.launches("limits"))


def beaten(lab: Data) -> pd.DataFrame:
    """Return the medians of all studies that are faster than their limit: it is none, then.

    >>> beaten(lab)[["study", "op", "backend", "size_bytes", "placement", "over_limit"]]
    """
    parts = list(suspects.faster(lab.run))
    return pd.concat(parts or [pd.DataFrame()])


def cpu_pairs(lab: Data) -> pd.DataFrame:
    """Return a row for each pair of CPUs and the median (ns) of a cache line's round trip.

    Columns: `cpu`, `other`, `shares` and the median.

    It is empty where the run has no pairs: they are of the profiles `standard` and up, on two CPUs
    or more.
    """
    trips = lab.points("limits", metric="p50")
    trips = trips[trips.backend == pairs.NAME]
    ends = pd.DataFrame(
        map(pairs.pair_of, trips.op),
        trips.index,
        ["cpu", "other"],
        dtype="int64",
    )
    shares = trips.get("shares", pd.Series(dtype=object))
    return trips.assign(cpu=ends.cpu, other=ends.other, shares=shares)


def impossible(lab: Data) -> list[str]:
    """Return one line for each result that is faster than its copies by memcpy can be."""
    return suspects.impossible(lab.run)
