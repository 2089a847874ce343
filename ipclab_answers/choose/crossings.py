"""Where the fastest mechanism changes with the size, and what a size between may take."""

from collections.abc import Sequence
from itertools import pairwise
from math import exp, log, nan
from statistics import median

import numpy as np
import pandas as pd

from ipclab.frames.contests import side_of
from ipclab.stats.compare import SLOWER, Side, compare
from ipclab.stats.quantity import Quantity, missing
from ipclab_answers.choose.need import Need

COLUMNS = ["below", "above", "low", "high", "about"]


def crossings(
    need: Need, launches: pd.DataFrame, able: Sequence[str], bound: float
) -> pd.DataFrame:
    """Return where another of the mechanisms `able` becomes the fastest, with columns `COLUMNS`.

    Between sizes `low` and `high`, at `about`. `launches` have the levels of the need, at any size.
    The one `below` was shown to be faster than the one `above` at the lower size, and slower at the
    higher; `about` is where straight lines between the medians meet (logarithms).
    """
    times = timed(need, launches)
    times = times[times.backend.isin(able)]
    by_size = {}
    for size, part in times.groupby(need.sized):
        by_size[int(str(size))] = {
            str(name): most_launched(rows) for name, rows in part.groupby("backend")
        }
    rows = []
    for (low, at_low), (high, at_high) in pairwise(by_size.items()):
        below = min(at_low, key=lambda name: median(at_low[name].medians))
        above = min(at_high, key=lambda name: median(at_high[name].medians))
        if below == above or above not in at_low or below not in at_high:
            continue
        count = max(len(at_low), len(at_high))
        there = compare(at_low[below], at_low[above], count, bound).verdict
        back = compare(at_high[above], at_high[below], count, bound).verdict
        if there == back == SLOWER:
            gain = _log_ratio(at_low[above], at_low[below])
            loss = _log_ratio(at_high[above], at_high[below])
            about = exp(log(low) + gain / (gain - loss) * (log(high) - log(low)))
            rows.append((below, above, low, high, about))
    return pd.DataFrame(rows, columns=COLUMNS)


def timed(need: Need, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a frame that are medians of the op which ranks mechanisms."""
    return rows[(rows.op == need.op) & (rows.metric == "p50")]


def estimate(need: Need, times: pd.DataFrame) -> Quantity:
    """Return the time of one mechanism by straight lines between the medians of measured sizes.

    Both axes are logarithmic. Nothing is estimated beyond the smallest and the largest size.
    """
    medians = times.groupby(need.sized).value.median().astype(float)
    if medians.empty:
        return missing("ns")
    known = np.log([float(size) for size in medians.index])
    logs = np.interp(np.log([*need.size]), known, np.log(medians), left=nan, right=nan)
    time = float(np.exp(logs) @ [*need.size.values()])
    return missing("ns") if np.isnan(time) else Quantity(time, "ns", kind="estimate")


def most_launched(rows: pd.DataFrame) -> Side:
    """Return the launches of the point that has most."""
    (point, *_) = rows.point.value_counts().index
    return side_of(rows[rows.point == point])


def _log_ratio(side: Side, other: Side) -> float:
    """Return the logarithm of how many times as long as the `other` one a side takes."""
    return log(median(side.medians) / median(other.medians))
