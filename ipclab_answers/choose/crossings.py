"""Where the fastest mechanism changes with the size, and what a size between may take."""

from collections.abc import Sequence
from itertools import pairwise
from math import log, nan
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
        sides = {}
        for name, rows in part.groupby("backend"):
            sides[str(name)] = side_of(most_launched(rows))
        by_size[int(str(size))] = sides
    crossed = []
    for (low, at_low), (high, at_high) in pairwise(by_size.items()):
        early = _medians(at_low)
        late = _medians(at_high)
        below = min(early, key=early.__getitem__)
        above = min(late, key=late.__getitem__)
        if below == above or above not in early or below not in late:
            continue
        count = max(len(early), len(late))
        there = compare(at_low[below], at_low[above], count, bound).verdict
        back = compare(at_high[above], at_high[below], count, bound).verdict
        if there == back == SLOWER:
            gain = log(early[above] / early[below])
            loss = log(late[above] / late[below])
            about = low * (high / low) ** (gain / (gain - loss))
            crossed.append((below, above, low, high, about))
    return pd.DataFrame(crossed, columns=COLUMNS)


def _medians(sides: dict[str, Side]) -> dict[str, float]:
    return {name: median(side.medians) for name, side in sides.items()}


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
    sizes = np.log(medians.index.astype(float))
    wanted = np.log(list(need.size))
    logs = np.interp(wanted, sizes, np.log(medians), left=nan, right=nan)
    time = float(np.exp(logs) @ list(need.size.values()))
    return missing("ns") if np.isnan(time) else Quantity(time, "ns", kind="estimate")


def most_launched(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the point that has most launches."""
    most: pd.DataFrame = rows[rows.point == rows.point.value_counts().index[0]]
    return most
