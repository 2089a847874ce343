"""Drift over the launches of a point."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

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
