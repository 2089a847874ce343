"""The ratio of two that took part in the same heats: `benchmarks/paired.py` weighs its interval."""

import math
from itertools import combinations

import numpy as np
import pytest

from ipclab.stats import paired
from ipclab.stats.compare import SLOWER, Side, compare
from ipclab.stats.intervals import UNKNOWN, Scatter
from ipclab.stats.sessions import SESSION_HEATS


def test_pairs_that_scatter_alike_share_their_scatter() -> None:
    random = np.random.default_rng(3)
    times = random.normal(0, 0.02, (12, 6))
    common = paired.scatter(one - other for one, other in combinations(times, 2))
    assert common.freedom == pytest.approx(12 - 1)
    assert math.isclose(math.sqrt(common.variance), 0.02 * math.sqrt(2), rel_tol=0.15)
    alone, together = (
        paired.interval(times[0] - times[1], 0.001, known) for known in (UNKNOWN, common)
    )
    assert together[1] - together[0] < alone[1] - alone[0]


def test_few_contestants_say_less_of_the_scatter_than_their_pairs() -> None:
    times = np.random.default_rng(3).normal(0, 0.02, (5, 6))
    differences = (one - other for one, other in combinations(times, 2))
    assert paired.scatter(differences).freedom == pytest.approx(5 - 1)


def test_pairs_of_different_scatter_are_hardly_steadied() -> None:
    random = np.random.default_rng(4)
    times = random.normal(0, 0.02, (12, 6)) * np.exp(random.normal(0, 2, (12, 1)))
    common = paired.scatter(one - other for one, other in combinations(times, 2))
    assert common.freedom < paired.MOST_FREEDOM / 4


def test_three_contestants_and_copies_say_nothing_of_the_scatter() -> None:
    times = np.random.default_rng(5).normal(0, 0.02, (4, 6))
    three = (one - other for one, other in combinations(times[:3], 2))
    assert paired.scatter(three) == UNKNOWN
    assert paired.scatter([np.zeros(6)] * 6) == UNKNOWN


def test_few_heats_are_steadied_by_four_times_their_own_freedom_at_most() -> None:
    common = Scatter(paired.MOST_FREEDOM, 0.02**2)
    for heats, freedom in ((3, 2 + 8), (5, 4 + 16), (6, 5 + 20), (12, 11 + 20)):
        assert paired.steadied(np.linspace(0, 1, heats), common).freedom == freedom
    assert paired.steadied(np.linspace(0, 1, 3), UNKNOWN).freedom == 2


def test_sides_without_a_heat_in_common_are_compared_session_by_session() -> None:
    one = {
        session * SESSION_HEATS + heat: 100.0 + session for session in range(3) for heat in (1, 3)
    }
    other = {session * SESSION_HEATS + 2: 2 * (100.0 + session) for session in range(3)}
    assert paired.log_ratios(one, other) == pytest.approx([math.log(2)] * 3)
    assert [*paired.in_common(one, other).first] == [0, SESSION_HEATS, 2 * SESSION_HEATS]
    of_two = {heat: time for heat, time in other.items() if heat < 2 * SESSION_HEATS}
    assert not paired.in_common(one, of_two).first  # two sessions say nothing
    other[1] = 300.0  # a heat of both is what they share
    assert [*paired.in_common(one, other).first] == [1]
    slower = {heat: 210.0 + heat % 5 for heat in (2, SESSION_HEATS + 4, 2 * SESSION_HEATS + 6)}
    first, second = (Side([*heats.values()], heats=heats) for heats in (one, slower))
    found = compare(first, second)
    assert (found.verdict, found.paired, found.launches) == (SLOWER, True, (3, 3))


def test_three_heats_say_what_tables_of_t_say() -> None:
    """Two degrees of freedom: t is 4.303 at 97.5 %, and 2.920 at 95 %."""
    heats = np.array([0.0, 1.0, 2.0])
    half = 4.303 / math.sqrt(3)
    assert paired.interval(heats, 0.05) == pytest.approx((1 - half, 1 + half), rel=1e-3)
    found = paired.detectable(heats, 0.05, UNKNOWN)
    assert found == pytest.approx((4.303 + 2.920) / math.sqrt(3), rel=1e-3)
