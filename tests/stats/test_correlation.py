"""Heats that resemble the one before count as fewer, and few contestants of two modes are judged
more strictly.
"""

from math import exp

import numpy as np
import pytest

from ipclab.stats.compare import SLOWER, UNDECIDED, Side
from ipclab.stats.contest import judged
from ipclab.stats.correlation import (
    CORRELATED,
    LEVEL,
    MOST,
    STRICTER,
    lag_one,
    share_apart,
    strictness,
)
from ipclab.stats.enough import launches_that_decide
from ipclab.stats.family import MANY

HEATS, BOUND = 12, 0.05


def sides(logs: "np.ndarray[tuple[int, int], np.dtype[np.float64]]") -> dict[int, Side]:
    """Return sides with these log medians: a row each, a column for each heat."""
    return {
        number: Side([*map(exp, row)], heats={heat: exp(log) for heat, log in enumerate(row)})
        for number, row in enumerate(logs.tolist())
    }


def drifting(order: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> dict[int, Side]:
    """Return three sides, of which the last is slower and drifts over the heats in `order`."""
    noise = np.random.default_rng(1).normal(0, 0.001, (3, HEATS))
    return sides(noise + np.array([np.zeros(HEATS), np.zeros(HEATS), 1 + 0.02 * order]))


def test_a_verdict_waits_for_twice_the_heats_where_these_resemble_the_one_before() -> None:
    order = np.arange(HEATS)
    shuffled = np.random.default_rng(2).permutation(order)
    correlation, chance = lag_one(drifting(order))
    assert correlation > 0.5 and chance <= LEVEL
    waits = judged(drifting(order), BOUND).over_fastest[2]
    assert (waits.verdict, waits.reason) == (UNDECIDED, CORRELATED)
    assert launches_that_decide(waits, BOUND) == 2 * HEATS
    assert judged(drifting(shuffled), BOUND).over_fastest[2].verdict == SLOWER


def keeping(left: float, seed: int) -> "np.ndarray[tuple[int, int], np.dtype[np.float64]]":
    """Return four contestants in twenty heats, of which each keeps `left` of the one before."""
    logs = np.random.default_rng(seed).normal(0, 0.05, (4, 20))
    for heat in range(1, 20):
        logs[:, heat] = left * logs[:, heat - 1] + (1 - left**2) ** 0.5 * logs[:, heat]
    return logs


def test_a_large_difference_is_told_by_a_wider_interval() -> None:
    logs = keeping(0.7, 0)
    logs[3] += 2
    told = judged(sides(logs), BOUND).over_fastest[3]
    shuffled = logs[:, np.random.default_rng(1).permutation(20)]
    assert lag_one(sides(logs))[1] <= LEVEL < lag_one(sides(shuffled))[1]
    apart = judged(sides(shuffled), BOUND).over_fastest[3]
    assert told.verdict == apart.verdict == SLOWER
    assert told.ratio == pytest.approx(apart.ratio)
    assert told.error and apart.error and told.error > apart.error


def test_few_heats_and_equal_ones_show_nothing() -> None:
    assert lag_one(sides(np.arange(12.0).reshape(3, 4))) == (0.0, 1.0)
    assert lag_one(sides(np.ones((3, HEATS)))) == (0.0, 1.0)
    assert lag_one({}) == (0.0, 1.0)


def test_the_correlation_of_few_heats_is_what_a_hand_computes() -> None:
    rising = sides(np.array([np.arange(5.0), np.zeros(5)]))
    correlation, chance = lag_one(rising)
    assert correlation == pytest.approx(0.4)  # (2 + 0 + 0 + 2) / (4 + 1 + 0 + 1 + 4)
    assert chance == pytest.approx(8 / 120, abs=0.02)  # of 120 orders 8 are correlated as much
    assert share_apart(rising) == 1.0
    # of fours 12 neighbours of 15 are alike, all a half off the mean of 16
    fours = sides(np.array([np.repeat([0.0, 1.0, 0.0, 1.0], 4), np.zeros(16)]))
    assert lag_one(fours)[0] == pytest.approx(9 / 16)
    unbiased = 9 / 16 + (1 + 27 / 16) / 16
    assert share_apart(fours) == pytest.approx((1 - unbiased) / (1 + unbiased))
    most = sides(np.array([np.arange(12.0), np.zeros(12)]))
    assert share_apart(most) == pytest.approx((1 - MOST) / (1 + MOST))


@pytest.mark.parametrize(("left", "least", "most"), [(0.0, 0, 20), (0.7, 160, 200)])
def test_what_is_shown_of_two_hundred_contests(left: float, least: int, most: int) -> None:
    """`left` is what each heat has of the one before, in each of four contestants."""
    shown = 0
    for seed in range(200):
        shown += lag_one(sides(keeping(left, seed)))[1] <= LEVEL
    assert least <= shown <= most


def test_few_contestants_of_two_modes_are_judged_more_strictly() -> None:
    one_mode = np.random.default_rng(3).normal(0, 0.02, (MANY, 8))
    two_modes = one_mode.copy()
    two_modes[1, ::2] += np.log(1.5)
    assert strictness(sides(one_mode[:4])) == 1.0
    assert strictness(sides(two_modes[:4])) == STRICTER
    assert strictness(sides(two_modes)) == 1.0
