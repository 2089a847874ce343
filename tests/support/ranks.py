"""The p values of the rank test, by which its interval is held against the definition."""

import numpy as np

from ipclab.stats.ranktest import Values, chances, differences


def p_value(a: Values, b: Values, shift: float = 0.0) -> tuple[float, float]:
    """Return the one-sided p values of "b is a, moved by `shift`": b higher, b lower."""
    steps = differences(a, b)
    law = chances(len(a), len(b))
    below = int(np.searchsorted(steps, shift, "right"))
    above = len(steps) - int(np.searchsorted(steps, shift, "left"))
    return law[below], law[above]
