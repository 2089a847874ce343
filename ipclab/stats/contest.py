"""A contest judged, its fastest against all others, at levels that step down.

Any two of a contest's mechanisms may look fastest, so that the level of a pair is that of the range
of all. Once some are shown to differ, only the others can still be as fast, and the level is that
of their range (a step-down procedure: Holm, Scand. J. Statist. 6, 1979, 65-70; of ranges: Einot and
Gabriel, J. Amer. Statist. Assoc. 70, 1975, 574-583). It goes on until a step shows nothing new;
each keeps the interval of its step.
"""

from collections.abc import Mapping
from itertools import combinations
from typing import Generic, NamedTuple, TypeVar

from ipclab.stats import correlation, paired
from ipclab.stats.compare import FASTER, SLOWER, Comparison, Side, compare
from ipclab.stats.family import ALPHA
from ipclab.stats.intervals import Scatter, mean_of

Name = TypeVar("Name")
APART = FASTER, SLOWER


class Contest(NamedTuple, Generic[Name]):
    """What is known of the `sides` of a contest: their means (the fastest first), the others.

    `over_fastest` is by name how each other side compares with the fastest, `scatter` what the
    heats of all say of any two, `alpha` what all pairs together err with.
    """

    sides: Mapping[Name, Side]
    means: Mapping[Name, float]
    over_fastest: Mapping[Name, Comparison]
    scatter: Scatter
    alpha: float = ALPHA

    @property
    def fastest(self) -> Name:
        """Return the side of the least mean, or the one that was shown to be faster than it."""
        return next(iter(self.means))


def judged(sides: Mapping[Name, Side], bound: float) -> Contest[Name]:
    """Return which of the `sides` (one or more) is the fastest, and what is known of the others.

    Whoever asks which, by how much, and how many more launches asks here. `bound` (a share) is what
    counts as the same.
    """
    means = {name: mean_of(side.medians) for name, side in sides.items()}
    alpha = ALPHA * correlation.strictness(sides)
    fastest = min(means, key=means.__getitem__)
    scatter = common_scatter(sides)
    over = against_fastest(sides, fastest, bound, scatter, alpha)
    quicker = [name for name in over if over[name].verdict == FASTER]
    if quicker:  # by the heats that both share, which need not be all launches of either
        fastest = min(quicker, key=means.__getitem__)
        over = against_fastest(sides, fastest, bound, scatter, alpha)

    def times(name: Name) -> float:
        """Return how many times as long one takes as the fastest, as far as both can be compared."""
        return over[name].ratio or means[name] / means[fastest]

    ranked = [fastest, *sorted(over, key=times)]
    known = over if scatter.apart == 1 else correlation.waiting(over)
    return Contest(sides, {name: means[name] for name in ranked}, known, scatter, alpha)


def common_scatter(sides: Mapping[Name, Side]) -> Scatter:
    """Return what the heats of a contest's `sides` say of the scatter of any two of them."""
    pairs = combinations(sides.values(), 2)
    known = paired.scatter(paired.log_ratios(one.heats, other.heats) for one, other in pairs)
    return known._replace(apart=correlation.share_apart(sides))


def against_fastest(
    sides: Mapping[Name, Side], fastest: Name, bound: float, scatter: Scatter, alpha: float = ALPHA
) -> dict[Name, Comparison]:
    """Return what is known of each other one of a contest's `sides` over its `fastest`.

    `bound` (a share) is what counts as the same, `scatter` the `common_scatter` of all sides,
    `alpha` what all pairs together err with.
    """
    comparisons = dict[Name, Comparison]()
    in_question = [name for name in sides if name != fastest]
    while in_question:
        mechanisms = len(in_question) + 1
        for name in in_question:
            comparisons[name] = compare(
                sides[fastest], sides[name], mechanisms, bound, scatter, alpha
            )
        left = [name for name in in_question if comparisons[name].verdict not in APART]
        if left == in_question:
            break
        in_question = left
    return comparisons
