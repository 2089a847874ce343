"""The times of mechanisms at the sizes of a need: measured, or estimated between measured sizes."""

from collections import Counter
from math import nan

import numpy as np
import pandas as pd

from ipclab.stats.quantity import Quantity, missing
from ipclab_more.choose.need import Need


def timed(need: Need, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a frame that are medians of the op which ranks mechanisms."""
    return rows[(rows.op == need.op) & (rows.metric == "p50")]


def estimate(need: Need, times: pd.DataFrame) -> Quantity:
    """Return the time of one mechanism by straight lines between the medians of measured sizes.

    Both axes are logarithmic. Nothing is estimated beyond the smallest and the largest size.
    """
    by_size = times.groupby(need.size_column).value
    medians = by_size.median().astype(float)
    if medians.empty:
        return missing("ns")
    wanted = np.log(list(need.size))
    measured = np.log(medians.index.astype(float))
    estimates = np.interp(wanted, measured, np.log(medians), left=nan, right=nan)
    shares = list(need.size.values())
    time = float(np.exp(estimates) @ shares)
    if np.isnan(time):
        return missing("ns")
    return Quantity(time, "ns", kind="estimate")


def most_launched(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the point that has most launches."""
    counts = Counter(rows.point)
    ((point, _),) = counts.most_common(1)
    return rows if len(counts) == 1 else rows[rows.point == point]
