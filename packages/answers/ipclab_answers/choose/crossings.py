"""Between which sizes the fastest mechanism changes."""

from collections.abc import Sequence
from itertools import pairwise
from math import log
from statistics import median

import pandas as pd

from ipclab.frames.contests import side_of
from ipclab.stats.compare import SLOWER, Side, compare
from ipclab_answers.choose.need import Need
from ipclab_answers.choose.times import most_launched

COLUMNS = ["below", "above", "low", "high", "about"]


def crossings(need: Need, times: pd.DataFrame, able: Sequence[str], bound: float) -> pd.DataFrame:
    """Return where another of the mechanisms `able` becomes the fastest, with columns `COLUMNS`.

    Between sizes `low` and `high`, at `about`. `times` are those of the need, at any size.
    The one `below` was shown to be faster than the one `above` at the lower size, and slower at the
    higher; `about` is where straight lines between the medians meet (logarithms).
    """
    times = times[times.backend.isin(able)]
    by_size = {}
    for size, of_size in times.groupby(need.size_column):
        sides = {}
        for name, rows in of_size.groupby("backend"):
            sides[str(name)] = side_of(most_launched(rows))
        by_size[int(str(size))] = sides
    crossed = []
    for (low, at_low), (high, at_high) in pairwise(by_size.items()):
        below = _fastest(at_low)
        above = _fastest(at_high)
        if below == above or above not in at_low or below not in at_high:
            continue
        count = max(len(at_low), len(at_high))
        low_verdict = compare(at_low[below], at_low[above], count, bound).verdict
        high_verdict = compare(at_high[above], at_high[below], count, bound).verdict
        if low_verdict == high_verdict == SLOWER:
            gain = _log_ratio(at_low[above], at_low[below])
            loss = _log_ratio(at_high[above], at_high[below])
            share = gain / (gain - loss)
            about = low * (high / low) ** share
            crossed.append((below, above, low, high, about))
    return pd.DataFrame(crossed, columns=COLUMNS)


def _fastest(sides: dict[str, Side]) -> str:
    return min(sides, key=lambda name: median(sides[name].medians))


def _log_ratio(side: Side, other: Side) -> float:
    return log(median(side.medians) / median(other.medians))
