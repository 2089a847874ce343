"""A contest's levels step down with those that may still be as fast as its fastest."""

import numpy as np
import pytest

from ipclab.stats.compare import SLOWER, Side, compare
from ipclab.stats.contest import against_fastest, common_scatter, judged
from ipclab.stats.family import heat_level

HEATS, BOUND = 5, 0.05


def side(slower: float, seed: int) -> Side:
    random = np.random.default_rng(seed)
    medians = 100 * np.exp(slower + random.normal(0, 0.02, HEATS))
    return Side(list(medians), heats={heat: float(time) for heat, time in enumerate(medians)})


def test_who_is_left_in_question_is_judged_among_those_left() -> None:
    sides = {"a": side(0, 1), "b": side(0.01, 2)}
    sides |= {f"far {number}": side(1 + number / 10, 3 + number) for number in range(6)}
    scatter = common_scatter(sides)
    comparisons = against_fastest(sides, "a", BOUND, scatter)
    assert comparisons["b"].mechanisms == 2
    assert comparisons["b"].level == pytest.approx(heat_level(2, HEATS, BOUND))
    assert comparisons["b"].level > heat_level(8, HEATS, BOUND)
    for number in range(6):
        comparison = comparisons[f"far {number}"]
        assert comparison.verdict == SLOWER and comparison.mechanisms == 8
        assert comparison == compare(sides["a"], sides[f"far {number}"], 8, BOUND, scatter)


def test_where_nothing_differs_all_are_judged_among_all() -> None:
    sides = {seed: side(0, seed) for seed in range(6)}
    comparisons = against_fastest(sides, 0, BOUND, common_scatter(sides))
    assert {comparison.mechanisms for comparison in comparisons.values()} == {6}
    alone = {"a": side(0, 1)}
    assert against_fastest(alone, "a", BOUND, common_scatter(alone)) == {}


def test_who_is_shown_to_be_faster_than_the_least_mean_is_the_fastest() -> None:
    """The mean of one is that of good heats; in each heat that both share the other is faster."""
    host = (100.0, 200.0, 300.0, 400.0, 500.0)
    heats = dict(enumerate(host))
    quick = {heat: 0.8 * time * (1 + heat * 3 % 5 / 1000) for heat, time in enumerate(host)}
    sides = {"least": Side([100.0, 110.0, 120.0], heats=heats), "quick": Side([240.0], heats=quick)}
    contest = judged(sides, BOUND)
    assert contest.fastest == "quick" and list(contest.means) == ["quick", "least"]
    assert contest.over_fastest["least"].verdict == SLOWER
