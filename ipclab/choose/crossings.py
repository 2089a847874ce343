"""Where the fastest mechanism changes with the size, and what a size between measured ones may take."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from math import exp, log
from statistics import median

import pandas as pd

from ipclab.choose.need import Need
from ipclab.frames.contests import side_of
from ipclab.stats.compare import SLOWER, Side, compare
from ipclab.stats.quantity import Quantity, missing, total

COLUMNS = ("below", "above", "low", "high", "about")
Sides = dict[str, Side]


def crossings(need: Need, launches: pd.DataFrame, able: Sequence[str], bound: float) -> pd.DataFrame:
    """Return where another of the mechanisms `able` becomes the fastest: between sizes `low` and `high`, at `about`.

    `launches` have the levels of the need, at any size. The one `below` was shown to be faster than the one `above` at
    the lower size, and slower at the higher; `about` is where straight lines between the medians meet (logarithms).
    """
    mine = launches[(launches.op == need.op) & (launches.metric == "p50") & launches.backend.isin(able)]
    fields = [(int(str(size)), _sides(part)) for size, part in mine.groupby(need.sized)] if len(mine) else []
    rows = []
    for (low, one), (high, other) in pairwise(fields):
        below, above = (min(sides, key=lambda name: median(sides[name].medians)) for sides in (one, other))
        if below != above and {below, above} <= one.keys() & other.keys():
            pairs, count = ((one[below], one[above]), (other[above], other[below])), max(len(one), len(other))
            if all(compare(*pair, count, bound).verdict == SLOWER for pair in pairs):
                ends = [log(median(sides[above].medians) / median(sides[below].medians)) for sides in (one, other)]
                about = exp(log(low) + ends[0] / (ends[0] - ends[1]) * (log(high) - log(low)))
                rows.append((below, above, low, high, about))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def estimate(need: Need, launches: pd.DataFrame) -> Quantity:
    """Return the time of one mechanism at the sizes of a need by straight lines between the medians of its sizes.

    Both axes are logarithmic. Nothing is estimated beyond the smallest and the largest size.
    """
    mine = launches[(launches.op == need.op) & (launches.metric == "p50")] if len(launches) else launches
    known = {int(str(size)): float(part.value.median()) for size, part in mine.groupby(need.sized)} if len(mine) else {}
    return replace(total([_between(known, size) * share for size, share in need.size.items()]), kind="estimate")


def _between(known: dict[int, float], size: int) -> Quantity:
    below, above = ([each for each in known if each <= size], [each for each in known if each >= size])
    if not (below and above):
        return missing("ns")
    low, high = max(below), min(above)
    way = (log(size) - log(low)) / (log(high) - log(low)) if high > low else 0.0
    return Quantity(exp(log(known[low]) + way * (log(known[high]) - log(known[low]))), "ns", kind="estimate")


def _sides(part: pd.DataFrame) -> Sides:
    """Return the launches of each mechanism: of its point that has most."""
    points = {str(name): mine.point.value_counts().index[0] for name, mine in part.groupby("backend")}
    return {name: side_of(part[part.point == point]) for name, point in points.items()}
