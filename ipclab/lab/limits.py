"""What the hardware allows beside what was measured: over the limit, and what is faster than it."""

import pandas as pd

from ipclab.frames import derived
from ipclab.frames.limits import beaten as faster_than_limits
from ipclab.frames.limits import impossible as impossible_lines
from ipclab.frames.limits import with_limits
from ipclab.lab.data import Data


def limited(lab: Data, points: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `lab.points` with the limit of the hardware (ns) and `over_limit`, the value over it."""
    if points.empty:
        return points.assign(limit=0.0, over_limit=0.0, over=None)
    return with_limits(points, lab.launches("limits"))


def beaten(lab: Data) -> pd.DataFrame:
    """Return the medians of all studies that are faster than their limit, which shows that it is none.

    >>> beaten(lab)[["study", "op", "backend", "size_bytes", "placement", "over_limit"]]
    """
    medians = [lab.points(study, metric="p50") for study in derived.measured(lab.run)]
    faster = [faster_than_limits(limited(lab, rows)) for rows in medians if len(rows)]
    return pd.concat(faster or [pd.DataFrame()])


def impossible(lab: Data) -> list[str]:
    """Return one line for each result that is faster than its copies by memcpy can be."""
    limits = lab.launches("limits")
    studies = derived.measured(lab.run)
    return [
        line for study in studies for line in impossible_lines(lab.points(study), limits)
    ]
