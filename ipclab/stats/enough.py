"""How many launches or heats will likely decide a pair that is undecided."""

import math

from scipy.special import stdtrit

from ipclab.stats.compare import FASTER, SAME, SLOWER, Comparison
from ipclab.stats.correlation import CORRELATED
from ipclab.stats.family import HEAT_LOOKS, heat_level
from ipclab.stats.paired import FEWEST_HEATS, MOST_FREEDOM, MOST_OF_OTHERS


def narrower(low: float, high: float, ratio: float, bound: float) -> float:
    """Return by how many times an interval must be narrower to leave 1, or to fit the bound."""
    apart = abs(math.log(ratio))
    room = max(apart, math.log(1 + bound) - apart)
    return math.log(high / low) / 2 / room


def factor(low: float, high: float, ratio: float, bound: float) -> float:
    """Return by how many times launches must grow to make an interval so much narrower.

    Its width shrinks with their square root.
    """
    return narrower(low, high, ratio, bound) ** 2


def look_needed(heats: int, times: float, mechanisms: int, contestants: int, bound: float) -> float:
    """Return after how many heats, at a look, an interval of `heats` is `times` as narrow.

    It is that of a pair among `mechanisms`, what is left of a contest's `contestants`, whose
    scatter stays; infinite where no look will do.
    """

    def half(count: int) -> float:
        """Return half the width over the scatter of a heat, if all pairs look alike."""
        level = heat_level(mechanisms, count, bound, contestants=contestants)
        own = count - 1
        freedom = own + min(MOST_FREEDOM, MOST_OF_OTHERS * own)
        return float(stdtrit(freedom, 1 - level / 2)) / math.sqrt(count)

    for look in HEAT_LOOKS:
        if look > heats and half(look) * times < half(heats):
            return look
    return math.inf


def launches_that_decide(comparison: Comparison, bound: float) -> float:
    """Return how many launches of each side will likely decide a pair, all told.

    The ratio is taken as it was found, and the scatter as staying. `bound` (a share) is what counts
    as the same. It is what there is for a decided pair; where the interval has no end, the fewest
    that any test needs, but more than there are; infinite where no look will do.
    """
    have = min(comparison.launches)
    if comparison.verdict in (FASTER, SLOWER, SAME):
        return have
    if comparison.reason == CORRELATED:
        return 2 * have
    low, high, ratio = comparison.low, comparison.high, comparison.ratio
    if ratio is None or low is None or high is None or not 0 < low < high < math.inf:
        looks = (look for look in HEAT_LOOKS if look > have)
        if comparison.paired:
            return next(looks, math.inf)
        return max(have + 1, FEWEST_HEATS)
    if not comparison.paired:
        return max(have + 1, math.ceil(have * factor(low, high, ratio, bound)))
    times = narrower(low, high, ratio, bound)
    return look_needed(have, times, comparison.mechanisms, comparison.contestants, bound)


def launches_more(comparison: Comparison, bound: float) -> float:
    """Return how many launches more of each side will likely decide a pair."""
    return launches_that_decide(comparison, bound) - min(comparison.launches)
