"""A contest judged, its fastest against all others or all pairs, at levels that step down.

Any two of a contest's mechanisms may look fastest, so that the level of a pair is that of the range
of all. Once some are shown to differ, only the others can still be as fast, and the level is that
of their range (a step-down procedure: Holm, Scand. J. Statist. 6, 1979, 65-70; of ranges: Einot and
Gabriel, J. Amer. Statist. Assoc. 70, 1975, 574-583). It goes on until a step shows nothing new;
each keeps the interval of its step.
"""

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import TypeVar

from ipclab.stats import paired
from ipclab.stats.compare import (
    FASTER,
    SLOWER,
    Comparison,
    Side,
    compare,
)
from ipclab.stats.family import ALPHA

Name = TypeVar("Name")
APART = FASTER, SLOWER


def common_scatter(sides: Iterable[Side]) -> paired.Scatter:
    """Return what the heats of a contest's `sides` say of the scatter of any two of them."""
    return paired.scatter(
        paired.log_ratios(one.heats, other.heats) for one, other in combinations(sides, 2)
    )


def against_fastest(
    sides: Mapping[Name, Side], fastest: Name, bound: float, scatter: paired.Scatter
) -> dict[Name, Comparison]:
    """Return what is known of each other one of a contest's `sides` over its `fastest`.

    `bound` (a share) is what counts as the same, `scatter` the `common_scatter` of all sides.
    """
    comparisons = dict[Name, Comparison]()
    in_question = [name for name in sides if name != fastest]
    while in_question:
        mechanisms = len(in_question) + 1
        left = []
        for name in in_question:
            comparison = compare(sides[fastest], sides[name], mechanisms, bound, scatter)
            comparisons[name] = comparison
            if comparison.verdict not in APART:
                left.append(name)
        if len(left) == len(in_question):
            break
        in_question = left
    return comparisons


def of_all_pairs(
    sides: Mapping[Name, Side], bound: float, scatter: paired.Scatter
) -> dict[tuple[Name, Name], Comparison]:
    """Return what is known of the second of each pair of `sides` over its first.

    Several groups of a contest may be alike, each at a speed of its own: a pair has the level of
    the range of all that may be as fast as both, who err with their part of the whole error (Ryan;
    Welsch, J. Amer. Statist. Assoc. 72, 1977, 566-575).
    """
    comparisons = dict[tuple[Name, Name], Comparison]()
    apart: dict[Name, set[Name]] = {name: set() for name in sides}
    in_question = list(combinations(sides, 2))
    while in_question:
        left: list[tuple[Name, Name]] = []
        shown: list[tuple[Name, Name]] = []
        for first, other in in_question:
            alike = len(sides.keys() - apart[first] - apart[other])
            alpha = ALPHA * alike / len(sides)
            comparison = compare(sides[first], sides[other], alike, bound, scatter, alpha)
            comparisons[first, other] = comparison
            of_step = shown if comparison.verdict in APART else left
            of_step.append((first, other))
        for first, other in shown:
            apart[first].add(other)
            apart[other].add(first)
        if not shown:
            break
        in_question = left
    return comparisons
