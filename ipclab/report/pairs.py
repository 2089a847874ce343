"""All pairs of a contest's mechanisms, at levels that step down."""

from collections.abc import Mapping
from itertools import combinations

import pandas as pd

from ipclab.frames.contests import KNOWN, known_of, side_of
from ipclab.stats.compare import Comparison, Side, compare
from ipclab.stats.contest import APART, Name, common_scatter
from ipclab.stats.family import ALPHA
from ipclab.stats.intervals import Scatter


def pairs(launches: pd.DataFrame, by: str, bound: float) -> pd.DataFrame:
    """Return what is known of all pairs of mechanisms at each level of `by`, a contest each.

    `launches` are rows of a launch frame with one metric of one op. Columns: first, other, `by`,
    and `KNOWN`: the verdict is of the other one over the first.
    """
    rows = []
    for level, part in launches.groupby(by, sort=False):
        sides = {str(backend): side_of(mine) for backend, mine in part.groupby("backend")}
        scatter = common_scatter(sides.values())
        for (first, other), comparison in of_all_pairs(sides, bound, scatter).items():
            rows.append({"first": first, "other": other, by: level, **known_of(comparison)})
    return pd.DataFrame(rows, columns=["first", "other", by, *KNOWN])


def of_all_pairs(
    sides: Mapping[Name, Side], bound: float, scatter: Scatter
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
