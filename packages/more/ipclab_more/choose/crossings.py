"""Between which sizes the fastest mechanism changes."""

from collections.abc import Sequence
from itertools import pairwise
from math import log

import pandas as pd

from ipclab.frames.contests import side_of
from ipclab.stats.compare import SLOWER
from ipclab.stats.contest import Contest, judged
from ipclab_more.choose.need import Need
from ipclab_more.choose.times import most_launched

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
        mechanisms = of_size.groupby("backend")
        sides = {str(name): side_of(most_launched(rows)) for name, rows in mechanisms}
        by_size[int(str(size))] = judged(sides, bound)
    crossed = []
    for (low, at_low), (high, at_high) in pairwise(by_size.items()):
        below, above = at_low.fastest, at_high.fastest
        if _is_slower(at_low, above) and _is_slower(at_high, below):
            gain = log(at_low.means[above] / at_low.means[below])
            loss = log(at_high.means[above] / at_high.means[below])
            share = gain / (gain - loss)
            about = low * (high / low) ** share
            crossed.append((below, above, low, high, about))
    return pd.DataFrame(crossed, columns=COLUMNS)


def _is_slower(contest: Contest[str], name: str) -> bool:
    """Tell whether the mechanism of that name took part, and was shown to be slower."""
    known = contest.over_fastest.get(name)
    return known is not None and known.verdict == SLOWER
