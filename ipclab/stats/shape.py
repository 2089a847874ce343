"""What a median does not show: a drift over the launches, and modes of the samples."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ipclab.stats.intervals import Floats, Samples

LEAST_LAUNCHES = 4  # with fewer no order is unlikely
LEAST_SAMPLES = 50
LEAST_SHARE = 0.02
NARROWEST = 0.02  # bins below 2 % would show the steps of the clock
MOST_BINS = 1_000
# Two peaks are two modes when the count between them falls below half of the lower one
VALLEY = 0.5
KERNEL = np.array([1.0, 2.0, 3.0, 2.0, 1.0]) / 9


def drift_p(medians: Sequence[float]) -> float:
    """Return the p of no drift of launch medians in order; 1 with fewer than four.

    It is that of Kendall's test against time (Mann, Econometrica 13, 1945, 245-259).
    """
    values = np.asarray(medians, dtype=np.float64)
    usable = (
        len(values) >= LEAST_LAUNCHES and bool(np.isfinite(values).all()) and np.median(values) != 0
    )
    if not usable or values.min() == values.max():
        return 1.0
    from scipy.stats import kendalltau  # which takes long to load

    return float(kendalltau(np.arange(len(values)), values).pvalue)


def drift(medians: Sequence[float]) -> float:
    """Return how far launch medians move from the first to the last, as a share of their median.

    It follows from Sen's slope (J. Am. Statist. Assoc. 63, 1968, 1379-1389).
    """
    from scipy.stats import theilslopes

    values = np.asarray(medians, dtype=np.float64)
    slope = theilslopes(values, np.arange(len(values))).slope
    return float(slope * (len(values) - 1) / np.median(values))


def count_modes(samples: Samples) -> int:
    """Return how many modes times (ns) have, all of which are above 0.

    A histogram over log time, its bins as wide as Freedman and Diaconis say (Z.
    Wahrscheinlichkeitstheorie 57, 1981, 453-476) but by the narrower half of the interquartile
    range, smoothed and cut in the valleys. With fewer than 50 samples there is one mode.
    """
    if len(samples) < LEAST_SAMPLES:
        return 1
    logs = np.log(samples.astype(np.float64))
    quarter, middle, three = np.quantile(logs, [0.25, 0.5, 0.75])
    spread = 2 * min(middle - quarter, three - middle)
    span = logs.max() - logs.min()
    width = max(2 * spread / np.cbrt(len(logs)), NARROWEST, span / MOST_BINS)
    bins = int(np.ceil(span / width)) + 1
    least = logs.min()
    counts, _ = np.histogram(logs, bins=bins, range=(least, least + bins * width))
    valleys = _valleys(np.convolve(counts, KERNEL, mode="same"))
    found = 1
    first = 0
    for place, last in pairwise([*valleys, bins]):
        if min(counts[first:place].sum(), counts[place:last].sum()) >= LEAST_SHARE * len(logs):
            found += 1
            first = place
    return found


def _valleys(counts: Floats) -> list[int]:
    """Return the lowest bin between every two peaks that a deep enough valley parts."""
    valleys: list[int] = []
    peak = low = 0
    for place, count in enumerate(counts):
        if count < counts[low]:
            low = place
        if counts[low] < VALLEY * min(counts[peak], count):
            flat = np.flatnonzero(counts[low:place] == counts[low])
            valleys.append(low + int(flat[-1] + 1) // 2)
            peak = low = place
        elif count > counts[peak]:
            peak = low = place
    return valleys
