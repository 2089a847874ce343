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

ALPHA = 0.05  # of a contest: any wrong verdict at any look
LOOKS = (8, 12, 18, 27, 40, 60, 90)  # launches of a pair at which it is judged
SHARES = (0.2, 0.2, 0.2, 0.2, 0.1, 0.05, 0.05)  # of the error at each look
HEAT_LOOKS = (3, 5, 8, 12, 20, 36, 60)  # heats of a pair at which it is judged
# The scatter of three heats is hardly known: their look shows what is far apart, and no more.
HEAT_SHARES = (0.03, 0.2, 0.2, 0.2, 0.2, 0.1, 0.07)
# A run that is content with so wide a bound is a short one: it hardly comes to later looks.
SHORT_BOUND = 0.10
SHORT_SHARES = (0.05, 0.5, 0.25, 0.1, 0.06, 0.03, 0.01)
# So many contestants are hardly all in one state by chance, as a few are in few heats.
MANY = 10
MANY_SHARES = (0.25, 0.35, 0.2, 0.1, 0.06, 0.03, 0.01)


def pair_level(mechanisms: int, launches: int, alpha: float = ALPHA) -> float:
    """Return the level of one pair among `mechanisms` after `launches`, at the look then due.

    All of them err with `alpha` together.
    """
    # fewer were never looked at, but taken as they came
    share = _share(launches, LOOKS, SHARES) if launches >= LOOKS[0] else 1.0
    return range_level(mechanisms, alpha * share)


def heat_level(
    mechanisms: int, heats: int, bound: float, alpha: float = ALPHA, contestants: int = 0
) -> float:
    """Return the level of one pair among `mechanisms` after `heats`, at the look then due.

    Fewer than at the first look are judged as strictly as there. How the error is spent depends on
    the `bound` that counts as the same, and on the `contestants` of the whole contest.
    """
    share = _share(heats, HEAT_LOOKS, heat_shares(bound, contestants))
    return range_level(mechanisms, alpha * share)


def heat_shares(bound: float, contestants: int) -> tuple[float, ...]:
    """Return the share of each look at heats, where `bound` (a share) counts as the same."""
    if bound < SHORT_BOUND:
        return HEAT_SHARES
    return MANY_SHARES if contestants >= MANY else SHORT_SHARES


def _share(count: int, looks: Sequence[int], shares: Sequence[float]) -> float:
    """Return the share of the error that the look due after `count` launches or heats has."""
    return shares[min(bisect_left(looks, count), len(looks) - 1)]


@lru_cache(maxsize=1024)
def range_level(count: int, alpha: float) -> float:
    """Return a pair's two-sided level at which the range of `count` means errs with `alpha`.

    Of fewer than two it is that of two.
    """
    from scipy.stats import studentized_range  # which takes long to load

    width = float(studentized_range.isf(alpha, max(2, count), math.inf))
    return math.erfc(width / 2)
