"""Quantiles of the samples of several launches together, with an interval that lets launches
differ.
"""

from collections.abc import Sequence
from math import inf, sqrt
from typing import Any

import numpy as np
from scipy.special import stdtrit

from ipclab.stats.intervals import LEVEL, Estimate, Samples, rank

LEAST_BEYOND = 10  # samples beyond a quantile; fewer make it a guess


def pooled(launches: Sequence[Samples | Any], q: float) -> Estimate | None:
    """Return the `q` quantile of the samples of all `launches`; None with fewer than ten samples
    beyond it. The ends of its interval are infinite where launches are too few for one.

    The interval is Woodruff's (J. Am. Statist. Assoc. 47, 1952, 635-646): the share of samples
    below the quantile has the variance between launches, whose samples share their luck, and the
    ends are the quantiles at the ends of that share.
    """
    counts = np.array([len(samples) for samples in launches], np.float64)
    total = int(counts.sum())
    if total == 0 or total - 1 - rank(total, q) < LEAST_BEYOND:
        return None
    ordered = np.sort(np.concatenate(launches))
    value = float(ordered[rank(total, q)])
    if len(launches) == 1:
        return Estimate(value, -inf, inf, 1, total)
    below = np.array([np.mean(samples <= value) for samples in launches])
    off = counts / total * (below - np.average(below, weights=counts))
    between = len(launches) / (len(launches) - 1) * float((off**2).sum())
    error = sqrt(max(between, q * (1 - q) / total))
    half = float(stdtrit(len(launches) - 1, (1 + LEVEL) / 2)) * error
    low = float(ordered[rank(total, q - half)]) if q > half else -inf
    high = float(ordered[rank(total, q + half)]) if q + half < 1 else inf
    return Estimate(value, low, high, len(launches), total)
