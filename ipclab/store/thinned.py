"""What a thinned launch tells of all its samples, held against those that it keeps.

Those kept are the middles of equal shares of ranks, in ascending order: what lies in a share lies
between the two kept beside it.
"""

from collections.abc import Mapping

import numpy as np

from ipclab.store.launch import Samples, Times

ROUNDING = 1e-5  # of what is told, to seven digits


def refuted(kept: Samples | Times, told: Mapping[str, float]) -> str:
    """Return which of median, mean and sd (ns) that are `told` those `kept` cannot have, or ""."""
    low = np.concatenate([[told["min"]], kept[:-1]]).astype(float)
    high = np.concatenate([kept[1:], [told["max"]]]).astype(float)
    middle = slice((len(kept) - 1) // 2, len(kept) // 2 + 1)
    mean = told["mean"]
    square = told["sd"] ** 2 + mean**2
    ends = {
        "median": (told["median"], low[middle].min(), high[middle].max()),
        "mean": (mean, low.mean(), high.mean()),
        # with one below the number of samples as divisor, the sd is larger
        "sd": (square, (low**2).mean(), (high**2).mean() + told["sd"] ** 2 / max(1, len(kept) - 1)),
    }
    for name, (value, least, most) in ends.items():
        if not least * (1 - ROUNDING) <= value <= most * (1 + ROUNDING):
            return name
    return ""
