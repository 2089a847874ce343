"""Intervals: of order statistics whose coverage is exact, on simulated machines whose truth is
known.
"""

import numpy as np
import pytest

from ipclab.frames.metrics import summary
from ipclab.stats.intervals import FEW, Estimate, median_interval, rank, statistic_estimate
from ipclab.stats.looks import LOOKS
from ipclab.store.launch import Launch
from tests.compare.test_compare import LAST, contest

LAUNCHES = (2, 3, 4, 5, 6, 7, *LOOKS[:5])
TRIALS = 2_000


def test_ranks_are_those_of_the_empirical_distribution() -> None:
    assert [rank(4, q) for q in (0.0, 0.25, 0.26, 0.5, 0.75, 0.76, 1.0)] == [0, 0, 1, 1, 2, 3, 3]
    assert [rank(1, q) for q in (0.0, 0.5, 0.999)] == [0, 0, 0]
    assert (rank(100, 0.99), rank(101, 0.99), rank(1000, 0.999), rank(5, 0.999)) == (98, 99, 998, 4)
    values = np.arange(1, 1001)
    for q in (0.5, 0.9, 0.99, 0.999):
        assert values[rank(1000, q)] == np.quantile(values, q, method="inverted_cdf")


@pytest.mark.parametrize("launches", LAUNCHES)
def test_so_many_launches_hold_the_median_in_95_percent(launches: int) -> None:
    random = np.random.default_rng(launches)
    shapes = {"normal": (np.exp(random.normal(9, 0.16, (TRIALS, launches))), np.exp(9))}
    if launches > max(FEW):  # no shape is assumed
        shapes["one-sided"] = 5 + random.exponential(1, (TRIALS, launches)), 5 + np.log(2)
    for name, (values, truth) in shapes.items():
        ends = np.array([median_interval(row) for row in values])
        held = np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
        assert 0.93 <= held <= 0.975, (name, held)


@pytest.mark.slow
def test_points_that_end_when_they_are_decided_hold_the_median_too() -> None:
    random = np.random.default_rng(77)
    held: dict[bool, list[bool]] = {True: [], False: []}
    for _ in range(350):
        count = int(random.choice([2, 3, 4, 6]))
        effects = [
            0.0,
            *np.where(random.random(count - 1) < 0.5, 0.15, 1.0) * random.exponential(1, count - 1),
        ]
        medians = (
            1e4 * (1 + np.array(effects)[:, None]) * np.exp(random.normal(0, 0.16, (count, LAST)))
        )
        taken = contest(medians)[1]
        for row, had, effect in zip(medians, taken, effects, strict=True):
            low, high = median_interval(row[:had])
            held[had < LAST].append(bool(low <= 1e4 * (1 + effect) <= high))
    assert all(0.93 <= np.mean(each) <= 0.975 and len(each) > 200 for each in held.values()), held


def test_one_far_launch_does_not_move_an_interval_far() -> None:
    values = np.arange(100.0, 112.0)
    low, high = median_interval(values)
    assert median_interval(np.array([*values[:-1], 1e9])) == (low, high)
    assert 100 < low < 105.5 < high < 111


def test_an_exact_number_has_an_exact_interval() -> None:
    found = statistic_estimate([7.0] * 4, 40)
    assert (found.low, found.value, found.high, found.launches, found.samples) == (7, 7, 7, 4, 40)
    assert median_interval(np.array([0.0, 0.0, 3.0]))[0] == 0


def test_the_estimate_is_the_median_of_the_launches_quantiles() -> None:
    data = [np.array([3, 2, 1]), np.array([10, 20, 40, 30]), np.array([5])]
    known = [summary(Launch({"op": values}, {}), "op") for values in data]
    assert [statistic_estimate([each[q] for each in known], 8).value for q in ("p50", "p90")] == [
        5.0,
        5.0,
    ]
    assert statistic_estimate([each["p50"] for each in known[:2]], 7).value == 11.0
    assert [each["samples"] for each in known] == [3, 4, 1]


def test_a_bandwidth_is_its_time_turned_over() -> None:
    assert Estimate(6, 4, 8, 5, 50).inverse(24) == Estimate(4, 3, 6, 5, 50)
