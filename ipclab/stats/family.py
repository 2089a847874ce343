"""The level of one comparison, so that all of a contest and all looks err in 5 % at most.

Every two mechanisms of a contest may be compared, since the fastest is known only afterwards: the
level of a pair is that of the studentized range (Tukey). Launches are looked at several times, and
those of undecided pairs go on: each look has a share of the error (Lan and DeMets, Biometrika 70,
1983, 659-663, here summed), and its interval holds whenever one stops (Jennison and Turnbull, J. R.
Statist. Soc. B 51, 1989, 305-361).
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

from ipclab.stats.looks import HEAT_LOOKS, LOOKS, SHARES, heat_shares

ALPHA = 0.05  # of a contest: any wrong verdict at any look


def pair_level(mechanisms: int, launches: int, alpha: float = ALPHA) -> float:
    """Return the level of one pair among `mechanisms` after `launches`, at the look then due.

    All of them err with `alpha` together.
    """
    # fewer were never looked at, but taken as they came
    share = _share(launches, LOOKS, SHARES) if launches >= LOOKS[0] else 1.0
    return range_level(max(2, mechanisms), alpha * share)


def heat_level(
    mechanisms: int, heats: int, bound: float, alpha: float = ALPHA, contestants: int = 0
) -> float:
    """Return the level of one pair among `mechanisms` after `heats`, at the look then due.

    Fewer than at the first look are judged as strictly as there. How the error is spent depends on
    the `bound` that counts as the same, and on the `contestants` of the whole contest.
    """
    share = _share(heats, HEAT_LOOKS, heat_shares(bound, contestants))
    return range_level(max(2, mechanisms), alpha * share)


def _share(count: int, looks: Sequence[int], shares: Sequence[float]) -> float:
    """Return the share of the error that the look due after `count` launches or heats has."""
    return shares[min(bisect_left(looks, count), len(looks) - 1)]


@lru_cache(maxsize=1024)
def range_level(count: int, alpha: float) -> float:
    """Return a pair's two-sided level at which the range of `count` means errs with `alpha`."""
    from scipy.stats import studentized_range  # which takes long to load

    width = float(studentized_range.isf(alpha, count, math.inf))
    return math.erfc(width / 2)
