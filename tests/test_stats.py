"""Intervals: against brute force, on simulated machines whose truth is known, and in exact arithmetic."""

from itertools import product

import numpy as np
import pytest

from ipclab.stats import intervals
from ipclab.stats.intervals import (
    Estimate,
    Samples,
    median_interval,
    quantile_draws,
    quantile_estimate,
    rank,
    statistic_estimate,
)

LEVELS = (0.025, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975)
RESAMPLES = 20_000


def launches_of(
    random: np.random.Generator, launches: int, samples: int, between: float, within: float
) -> list[Samples]:
    """Return sorted samples around 1,000,000 ns; `between` launches deviate, and `within` each its samples."""
    middles = 1_000_000 + random.normal(0, between, launches)
    return [np.sort(random.normal(middle, within, samples).astype(np.int64)) for middle in middles]


def test_ranks_are_those_of_the_empirical_distribution() -> None:
    assert [rank(4, q) for q in (0.0, 0.25, 0.26, 0.5, 0.75, 0.76, 1.0)] == [0, 0, 1, 1, 2, 3, 3]
    assert [rank(1, q) for q in (0.0, 0.5, 0.999)] == [0, 0, 0]
    assert (rank(100, 0.99), rank(101, 0.99), rank(1000, 0.999), rank(5, 0.999)) == (98, 99, 998, 4)
    values = np.arange(1, 1001)
    for q in (0.5, 0.9, 0.99, 0.999):
        assert values[rank(1000, q)] == np.quantile(values, q, method="inverted_cdf")


@pytest.mark.parametrize("q", [0.5, 0.9])
@pytest.mark.parametrize(("launches", "samples"), [(5, 12), (4, 25)])
def test_the_shortcut_is_the_brute_force_bootstrap(
    monkeypatch: pytest.MonkeyPatch, q: float, launches: int, samples: int
) -> None:
    data = launches_of(np.random.default_rng(7), launches, samples, 300, 300)
    random = np.random.default_rng(8)
    # Launches are drawn, then each drawn launch is really resampled, sorted, and its quantile read off.
    chosen = random.integers(0, launches, (RESAMPLES, launches, 1))
    drawn = np.sort(np.stack(data)[chosen, random.integers(0, samples, (RESAMPLES, launches, samples))], axis=2)
    brute = np.median(drawn[:, :, rank(samples, q)], axis=1)
    monkeypatch.setattr(intervals, "DRAWS", RESAMPLES)
    found = quantile_draws(data, q, seed=9)
    far = np.abs(np.quantile(found, LEVELS) - np.quantile(brute, LEVELS)) / brute.std()
    assert far.max() < 0.12
    assert abs(found.std() / brute.std() - 1) < 0.05


def test_a_bootstrap_over_launches_is_the_enumeration_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [3.0, 10.0, 4.0, 7.0]
    every = np.array([np.median(chosen) for chosen in product(values, repeat=4)])
    monkeypatch.setattr(intervals, "DRAWS", RESAMPLES)
    found = statistic_estimate(values, 40, seed=1)
    assert (found.value, found.launches, found.samples) == (5.5, 4, 40)
    assert (found.low, found.high) == tuple(np.quantile(every, [0.025, 0.975]))


def test_a_seed_gives_the_same_interval_and_another_another() -> None:
    data = launches_of(np.random.default_rng(1), 5, 50, 300, 300)
    first, again, other = (quantile_estimate(data, 0.5, seed) for seed in (3, 3, 4))
    assert first == again != other
    assert first.value == other.value
    assert (first.launches, first.samples) == (5, 250)
    assert median_interval(np.array([1.0, 5.0, 9.0])) == median_interval(np.array([1.0, 5.0, 9.0]))


def test_the_estimate_is_the_median_of_the_launches_quantiles() -> None:
    data = [np.array([1, 2, 3]), np.array([10, 20, 30, 40]), np.array([5])]
    assert [quantile_estimate(data, q, 0).value for q in (0.5, 0.9)] == [5.0, 5.0]
    assert quantile_estimate(data[:2], 0.5, 0).value == 11.0
    alone = quantile_estimate([np.arange(1000)], 0.5, 0)  # one launch: its samples alone give the interval
    assert alone.value == 499.0
    assert 440 < alone.low < 480
    assert 520 < alone.high < 560


def covers(low: float, high: float) -> bool:
    return low <= 1_000_000 <= high


def test_intervals_cover_the_truth_where_pooled_samples_do_not() -> None:
    random = np.random.default_rng(2026)
    covered = pooled = 0
    for seed in range(200):
        # Launches deviate 16 % of what samples do: as in ../shared/measuring.md, finding 3.
        data = launches_of(random, 12, 100, 1_000, 1_000)
        found = quantile_estimate(data, 0.5, seed)
        covered += covers(found.low, found.high)
        together = quantile_estimate([np.sort(np.concatenate(data))], 0.5, seed)
        pooled += covers(together.low, together.high)
    assert covered >= 176
    assert pooled < 100


def test_tail_quantiles_cover_too() -> None:
    random = np.random.default_rng(2027)
    covered = 0
    truth = 1_000_000 + 1.2815515655 * 500
    for seed in range(200):
        found = quantile_estimate(launches_of(random, 12, 300, 500, 500), 0.9, seed)
        covered += found.low <= truth <= found.high
    assert covered >= 176


def test_a_bandwidth_is_its_time_turned_over() -> None:
    assert Estimate(6, 4, 8, 5, 50).inverse(24) == Estimate(4, 3, 6, 5, 50)


def test_an_interval_never_excludes_its_value() -> None:
    constant = quantile_estimate([np.array([7, 7, 7])] * 3, 0.99, 0)
    assert (constant.low, constant.value, constant.high) == (7, 7, 7)
    found = statistic_estimate([1.0, 1.0, 9.0, 9.0, 9.0], 5, 0)
    assert found.low <= found.value <= found.high
