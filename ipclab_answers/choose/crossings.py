"""Where the fastest mechanism changes with the size, and what a size between may take."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import exp, log
from statistics import median

import pandas as pd

from ipclab.frames.contests import side_of
from ipclab.stats.compare import SLOWER, Side, compare
from ipclab.stats.quantity import Quantity, missing, total
from ipclab_answers.choose.need import Need

COLUMNS = ["below", "above", "low", "high", "about"]
Sides = dict[str, Side]


def crossings(
    need: Need, launches: pd.DataFrame, able: Sequence[str], bound: float
) -> pd.DataFrame:
    """Return where another of the mechanisms `able` becomes the fastest, with columns `COLUMNS`.

    Between sizes `low` and `high`, at `about`. `launches` have the levels of the need, at any size.
    The one `below` was shown to be faster than the one `above` at the lower size, and slower at the
    higher; `about` is where straight lines between the medians meet (logarithms).
    """
    times = timed(need, launches)
    rows = []
    if len(times):
        times = times[times.backend.isin(able)]
        by_size = [(int(str(size)), _sides(part)) for size, part in times.groupby(need.sized)]
        for (low, at_low), (high, at_high) in pairwise(by_size):
            below, above = _fastest(at_low), _fastest(at_high)
            if below == above or not {below, above} <= at_low.keys() & at_high.keys():
                continue
            count = max(len(at_low), len(at_high))
            there = compare(at_low[below], at_low[above], count, bound).verdict
            back = compare(at_high[above], at_high[below], count, bound).verdict
            if there == back == SLOWER:
                gain, loss = _gap(at_low, below, above), _gap(at_high, below, above)
                about = exp(log(low) + gain / (gain - loss) * (log(high) - log(low)))
                rows.append((below, above, low, high, about))
    return pd.DataFrame(rows, columns=COLUMNS)


def timed(need: Need, rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of a frame that are medians of the op which ranks mechanisms."""
    return rows[(rows.op == need.op) & (rows.metric == "p50")] if len(rows) else rows


def estimate(need: Need, launches: pd.DataFrame) -> Quantity:
    """Return the time of one mechanism by straight lines between the medians of measured sizes.

    Both axes are logarithmic. Nothing is estimated beyond the smallest and the largest size.
    """
    times = timed(need, launches)
    medians = {}
    if len(times):
        for size, part in times.groupby(need.sized):
            medians[int(str(size))] = float(part.value.median())
    parts = [_between(medians, size) * share for size, share in need.size.items()]
    return replace(total(parts), kind="estimate")


def _between(medians: Mapping[int, float], size: int) -> Quantity:
    """Return the time (ns) at `size`, on the line between the measured sizes around it."""
    low = max((other for other in medians if other <= size), default=None)
    high = min((other for other in medians if other >= size), default=None)
    if low is None or high is None:
        return missing("ns")
    if low == high:
        return Quantity(medians[low], "ns", kind="estimate")
    way = log(size / low) / log(high / low)
    return Quantity(medians[low] * (medians[high] / medians[low]) ** way, "ns", kind="estimate")


def _sides(part: pd.DataFrame) -> Sides:
    """Return the launches of each mechanism: of its point that has most."""
    sides = {}
    for name, rows in part.groupby("backend"):
        sides[str(name)] = side_of(most_launched(rows))
    return sides


def most_launched(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of the point that has most launches."""
    (point, *_) = rows.point.value_counts().index
    most: pd.DataFrame = rows[rows.point == point]
    return most


def _fastest(sides: Sides) -> str:
    return min(sides, key=lambda name: median(sides[name].medians))


def _gap(sides: Sides, below: str, above: str) -> float:
    """Return the logarithm of how many times as long as `below` the one `above` takes."""
    return log(median(sides[above].medians) / median(sides[below].medians))
