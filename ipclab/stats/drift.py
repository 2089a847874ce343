"""Whether launches drift from the first to the last."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

LEAST = 4  # launches: with fewer no order is unlikely


class Drift(NamedTuple):
    """`change` from first to last launch as a share of the median, and the `p` of no drift."""

    change: float
    p: float


NONE = Drift(0.0, 1.0)


def drift(medians: Sequence[float]) -> Drift:
    """Return the drift of launch medians in order; no change and p 1 with fewer than four.

    p is that of Kendall's test against time (Mann, Econometrica 13, 1945, 245-259), the slope that
    of Sen (J. Am. Statist. Assoc. 63, 1968, 1379-1389).
    """
    values = np.asarray(medians, dtype=np.float64)
    usable = len(values) >= LEAST and bool(np.isfinite(values).all()) and np.median(values) != 0
    if not usable or values.min() == values.max():
        return NONE
    from scipy.stats import kendalltau, theilslopes  # which take long to load

    order = np.arange(len(values))
    change = theilslopes(values, order).slope * (len(values) - 1) / np.median(values)
    return Drift(float(change), float(kendalltau(order, values).pvalue))
