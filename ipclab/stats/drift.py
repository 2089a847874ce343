"""What the order tells: drift over the launches of a point, and how much the samples of a launch repeat each other."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from ipclab.stats.intervals import Samples
from ipclab.stats.ranktest import Floats, mean_ranks

LEAST = 4  # with fewer values no order is unlikely


@dataclass(frozen=True)
class Drift:
    """`change` from the first to the last launch as a share of their median, and the `p` of no drift."""

    change: float
    p: float


def drift(medians: Sequence[float]) -> Drift:
    """Return the drift of launch medians in the order taken; no change and p 1 with fewer than four.

    Slope: the median of the slopes of all pairs (Sen, J. Am. Statist. Assoc. 63, 1968, 1379-1389); p: Kendall's test
    against time (Mann, Econometrica 13, 1945, 245-259), normal approximation with continuity correction. Ties lower
    the score only, so that p errs upwards.
    """
    values = np.asarray(medians, dtype=np.float64)
    count = len(values)
    if count < LEAST or not np.isfinite(values).all() or np.median(values) == 0:
        return Drift(0.0, 1.0)
    early, late = np.triu_indices(count, 1)
    steps = values[late] - values[early]
    change = float(np.median(steps / (late - early))) * (count - 1) / float(np.median(values))
    score = max(0.0, abs(float(np.sign(steps).sum())) - 1)
    deviation = np.sqrt(count * (count - 1) * (2 * count + 5) / 18)
    return Drift(change, float(2 * NormalDist().cdf(-score / deviation)))


def autocorrelation(samples: Samples, lags: int = 1) -> Floats:
    """Return the correlation of the samples' ranks with those 1 to `lags` samples later.

    Ranks, since one long sample would decide otherwise. Zeros when the samples are all equal or fewer than the lag.
    """
    ranks = mean_ranks(samples.astype(np.float64)) - (len(samples) + 1) / 2
    power = float(ranks @ ranks)
    if power == 0:
        return np.zeros(lags)
    return np.array(
        [float(ranks[:-lag] @ ranks[lag:]) / power if lag < len(ranks) else 0.0 for lag in range(1, lags + 1)]
    )


def effective(samples: Samples) -> float:
    """Return how many independent samples tell as much about the middle as these (at most their number).

    Sum of the autocorrelation up to the first pair of lags that no longer adds (Geyer, Statist. Sci. 7, 1992, 473-483).
    """
    count = len(samples)
    found = autocorrelation(samples, min(count - 1, int(10 * np.log10(max(count, 10))))) if count > 1 else np.zeros(0)
    pairs = found[: len(found) // 2 * 2].reshape(-1, 2).sum(axis=1)
    ends = np.flatnonzero(pairs <= 0)
    total = float(pairs[: ends[0]].sum()) if len(ends) else float(pairs.sum())
    return count / (1 + 2 * total)
