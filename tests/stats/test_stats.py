"""Values and intervals of launches, on simulated machines whose truth is known."""

import math

import numpy as np
import pytest
from scipy.special import stdtrit

from ipclab.frames.metrics import summary
from ipclab.stats.intervals import (
    FEWEST,
    NOMINAL,
    PRIOR_FREEDOM,
    SESSION,
    SESSION_ERROR,
    UNKNOWN,
    Estimate,
    Scatter,
    Standard,
    mean_of,
    pooled,
    prior,
    rank,
    statistic_estimate,
)
from ipclab.store.launch import Launch

POINTS, TRIALS = 200, 10


def test_ranks_are_those_of_the_empirical_distribution() -> None:
    assert [rank(4, q) for q in (0.0, 0.25, 0.26, 0.5, 0.75, 0.76, 1.0)] == [0, 0, 1, 1, 2, 3, 3]
    assert [rank(1, q) for q in (0.0, 0.5, 0.999)] == [0, 0, 0]
    assert (rank(100, 0.99), rank(101, 0.99), rank(1000, 0.999), rank(5, 0.999)) == (98, 99, 998, 4)
    values = np.arange(1, 1001)
    for q in (0.5, 0.9, 0.99, 0.999):
        assert values[rank(1000, q)] == np.quantile(values, q, method="inverted_cdf")


@pytest.mark.parametrize("launches", [3, 12])
def test_launches_hold_their_geometric_mean_in_94_percent(launches: int) -> None:
    """Points of one study whose times are skewed, and scatter unlike by a factor of two, steady each
    other: `benchmarks/coverage.py` tries other shapes.
    """
    random = np.random.default_rng(launches)
    held = []
    for _ in range(TRIALS):
        scatters = 0.1 * np.exp(random.normal(0, 0.7, (POINTS, 1)))
        times = 1e4 * np.exp(random.exponential(1, (POINTS, launches)) * scatters)
        scatter = prior(times.tolist())
        for values, truth in zip(times, 1e4 * np.exp(scatters[:, 0]), strict=True):
            found = statistic_estimate(values.tolist(), 0, scatter)
            held.append(found.low <= truth <= found.high)
    assert np.mean(held) >= 0.94, np.mean(held)


def test_a_value_is_steadied_by_the_upper_quartile_of_its_study() -> None:
    scatters = np.arange(1.0, 10.0) / 100  # of nine points, whose variances are their squares
    points = [np.exp([-scatter, 0.0, scatter]).tolist() for scatter in scatters]
    common = prior(points)
    assert common == pytest.approx(Scatter(PRIOR_FREEDOM, 0.07**2))
    assert prior(points[:5]) == UNKNOWN  # so few have no quartile to speak of
    found = statistic_estimate(points[0], 7, common)
    error = math.sqrt((2 * 0.01**2 + 2 * 0.07**2) / 4 / 3)
    half = stdtrit(4, (1 + NOMINAL) / 2) * error
    assert (found.launches, found.samples) == (3, 7)
    assert (found.low, found.value, found.high) == pytest.approx(
        (1 / np.exp(half), 1, np.exp(half))
    )


def test_what_can_be_nothing_has_its_arithmetic_mean() -> None:
    found = statistic_estimate([0.0, 1.0, 5.0], 3, Scatter(2.0, 9.0))
    half = stdtrit(2, (1 + NOMINAL) / 2) * np.std([0, 1, 5], ddof=1) / math.sqrt(3)
    assert (found.low, found.value, found.high) == pytest.approx((2 - half, 2, 2 + half))
    assert statistic_estimate([1.0, 4.0, 16.0], 3).value == pytest.approx(4)
    assert statistic_estimate([1.0, 4.0, 16.0], 3, logs=False).value == 7


def test_fewer_than_three_launches_have_no_interval() -> None:
    for count in range(1, FEWEST):
        found = statistic_estimate([4.0, 9.0][:count], 1, Scatter(2.0, 0.01))
        assert (found.low, found.high) == (-math.inf, math.inf)
    assert statistic_estimate([4.0, 9.0], 2).value == pytest.approx(6)


def test_what_launches_and_sessions_show_is_combined_in_quadrature() -> None:
    known = Standard(0.03, 2.0).with_term(0.04)
    assert known == pytest.approx((0.05, 2 * (5 / 3) ** 4))  # Welch and Satterthwaite
    alone = statistic_estimate([7.0] * 4, 40, session=SESSION_ERROR)
    assert math.log(alone.high / 7) == pytest.approx(SESSION_ERROR * 2.108, rel=1e-3)
    steady = Estimate(10.0, 10.0, 10.0, 1, 1).for_sessions()
    assert math.log(steady.high / 10) == pytest.approx(SESSION)
    wide = Estimate(10.0, 5.0, 20.0, 1, 1).for_sessions()
    assert math.log(wide.high / 10) == pytest.approx(math.hypot(math.log(2), SESSION))
    exact = statistic_estimate([7.0] * 4, 40)
    assert (exact.low, exact.value, exact.high, exact.launches, exact.samples) == (7, 7, 7, 4, 40)


def test_values_of_the_same_launches_can_be_divided() -> None:
    random = np.random.default_rng(5)
    over, under = np.exp(random.normal(9, 1, (2, 7)))
    assert mean_of(over) / mean_of(under) == pytest.approx(mean_of(over / under), rel=1e-12)


def test_the_estimate_is_the_mean_of_the_launches_quantiles() -> None:
    data = [np.array([3, 2, 1]), np.array([10, 20, 40, 30]), np.array([5])]
    known = [summary(Launch({"op": values}, {}), "op") for values in data]
    found = [statistic_estimate([each[q] for each in known], 8).value for q in ("p50", "p90")]
    assert found == pytest.approx([(2 * 20 * 5) ** (1 / 3), (3 * 40 * 5) ** (1 / 3)])
    assert [each["samples"] for each in known] == [3, 4, 1]


@pytest.mark.parametrize(
    ("below", "low", "high"),
    [
        # shares of 0.6, 0.5 and 0.4: error 1 / sqrt(300), of which 4.303 to either side are 74.5
        ((60, 50, 40), 75, 224),
        ((50, 50, 50), 112, 187),  # alike: error sqrt(0.25 / 300), which is 37.3
    ],
)
def test_the_median_of_all_samples_varies_as_its_share_of_each_launch(
    below: tuple[int, ...], low: int, high: int
) -> None:
    samples, cuts = np.arange(300), np.cumsum(below)[:2]
    rest = 150 + np.cumsum([100 - count for count in below])[:2]
    halves = zip(np.split(samples[:150], cuts), np.split(samples[150:], rest - 150), strict=True)
    launches = [np.concatenate(both) for both in halves]
    found = pooled(launches, 0.5)
    assert found and (found.value, found.low, found.high) == (149, low, high)
    assert (found.launches, found.samples) == (3, 300)


def test_a_quantile_has_ten_samples_beyond_it() -> None:
    launches = [np.arange(100) + 100 * launch for launch in range(3)]
    assert pooled(launches, 0.967) is None
    found = pooled(launches, 0.966)
    assert found and found.value == 289
