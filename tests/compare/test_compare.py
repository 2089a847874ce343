"""Comparisons, drift, modes and rates on data whose answer is known; all seeded, no clock."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest

from ipclab.stats.compare import Comparison, Side, compare
from ipclab.stats.contest import against_fastest
from ipclab.stats.enough import look_needed
from ipclab.stats.family import (
    ALPHA,
    HEAT_LOOKS,
    HEAT_SHARES,
    LOOKS,
    MANY,
    MANY_SHARES,
    SHARES,
    SHORT_SHARES,
    heat_level,
    pair_level,
    range_level,
)
from ipclab.stats.intervals import UNKNOWN, rate_upper
from ipclab.stats.shape import count_modes, drift, drift_p
from tests.support.few import some

BETWEEN = 0.16  # the deviation of launches that was measured
LAST = 40
Table = np.ndarray[Any, np.dtype[np.float64]]


def rounds_of(random: np.random.Generator, effects: list[float]) -> Table:
    """Return launch medians by mechanism and round: the machine wanders, launches have luck, some
    are disturbed.
    """
    shape = len(effects), LAST
    wander = np.cumsum(random.normal(0, 0.03, LAST))
    disturbed = (random.random(shape) < 0.05) * random.exponential(0.7, shape)
    logs = (
        np.log1p(np.array(effects))[:, None] + wander + random.normal(0, BETWEEN, shape) + disturbed
    )
    return np.asarray(1e4 * np.exp(logs))


def contest(medians: Table) -> list[Comparison]:
    """Judge the fastest against each other one at every look; the undecided go on."""
    count, going = len(medians), set(range(len(medians)))
    taken, found = [0] * count, dict[int, Comparison]()
    for look in (n for n in LOOKS if n <= LAST):
        taken = [look if each in going else had for each, had in enumerate(taken)]
        sides = [
            Side(list(row[:had]), rounds=range(had))
            for row, had in zip(medians, taken, strict=True)
        ]
        best = min(range(count), key=lambda each: np.median(sides[each].medians))
        found = against_fastest(dict(enumerate(sides)), best, 0.1, UNKNOWN)
        going = {k for k, each in found.items() if each.verdict == "undecided"}
        if not going:
            break
        going.add(best)
    return list(found.values())


def flagged(found: list[Comparison]) -> int:
    return sum(each.verdict in ("faster", "slower") for each in found)


@pytest.mark.parametrize("mechanisms", some([6, 3, 12], 3))
def test_a_contest_of_identical_code_hardly_ever_has_a_wrong_verdict(mechanisms: int) -> None:
    random = np.random.default_rng([20261121, mechanisms])
    wrong = sum(flagged(contest(rounds_of(random, [0.0] * mechanisms))) > 0 for _ in range(200))
    assert wrong <= 10  # 5 %, as the level promises over all looks


def test_a_ratio_of_one_and_a_half_is_found() -> None:
    random = np.random.default_rng(12)
    found = [contest(rounds_of(random, [0.0, 0.5, 0.5, 0.5])) for _ in range(60)]
    assert sum(all(each.verdict == "slower" for each in verdicts) for verdicts in found) >= 57
    assert not any(each.verdict == "not tested" for verdicts in found for each in verdicts)


def test_unequal_ends_of_a_wandering_machine_are_no_difference() -> None:
    random = np.random.default_rng(5)
    sides = []
    for _ in range(100):
        # the machine gets slower; one point ended after eight launches
        rise = np.linspace(0, 1, 24)
        a, b = (100 * np.exp(rise[:count] + random.normal(0, 0.05, count)) for count in (8, 24))
        sides.append((list(a), list(b)))
    apart = [compare(Side(a), Side(b)) for a, b in sides]
    assert flagged(apart) > 50  # what it is there for
    by_round = [
        compare(Side(a, rounds=range(len(a))), Side(b, rounds=range(len(b)))) for a, b in sides
    ]
    assert flagged(by_round) <= 3


def test_what_is_said_to_be_detectable_is_detected() -> None:
    random = np.random.default_rng(11)

    def known(effect: float = 0.0) -> Comparison:
        a, b = (
            list(1e4 * (1 + more) * np.exp(random.normal(0, BETWEEN, 18))) for more in (0.0, effect)
        )
        return compare(Side(a), Side(b))

    typical = float(np.median([known().detectable or 0 for _ in range(100)]))
    found = [known(typical) for _ in range(100)]
    assert sum(each.verdict == "slower" for each in found) >= 85
    assert not any(each.verdict == "faster" for each in found)


def test_the_level_of_a_pair_is_that_of_the_studentized_range() -> None:
    # Upper five per cent points for infinite degrees of freedom: Harter, Ann. Math. Statist. 31,
    # 1960, 1122.
    for count, width in ((2, 2.772), (3, 3.314), (6, 4.030), (12, 4.622)):
        assert range_level(count, 0.05) == pytest.approx(math.erfc(width / 2), rel=2e-3)
    assert sum(SHARES) == pytest.approx(1)
    assert (
        pair_level(2, 8)
        == pytest.approx(ALPHA * SHARES[0], rel=1e-3)
        == pytest.approx(pair_level(2, 12), rel=1e-3)
    )


def test_all_looks_at_heats_together_err_in_five_per_cent() -> None:
    for bound, contestants, shares in (
        (0.05, MANY, HEAT_SHARES),
        (0.10, MANY - 1, SHORT_SHARES),
        (0.10, MANY, MANY_SHARES),
    ):
        assert sum(shares) == pytest.approx(1)
        level = partial(heat_level, 2, bound=bound, contestants=contestants)
        for heats, share in zip(HEAT_LOOKS, shares, strict=True):
            assert level(heats) == pytest.approx(ALPHA * share, rel=1e-3)
        assert level(2) == level(3) < level(4) == level(5)


def test_a_pair_that_is_far_apart_but_hardly_known_is_soon_told_apart() -> None:
    # Of three heats an interval is several times as wide as of five: that is foreseen.
    assert look_needed(3, 2.0, MANY - 1, MANY - 1, 0.10) == 5
    assert look_needed(3, 2.0, 19, 19, 0.10) == 8  # many have more of the error at three
    assert look_needed(5, 2.0, 19, 19, 0.10) > 5
    assert look_needed(3, 1e3, 19, 19, 0.10) == math.inf
    assert look_needed(60, 1.1, 19, 19, 0.10) == math.inf
    # The three that are left of many spend the error as the many did, and are judged.
    assert (look_needed(3, 2.0, 3, 19, 0.10), look_needed(3, 2.0, 3, 3, 0.10)) == (12, 5)


@pytest.mark.parametrize(
    ("second", "verdict", "reason"),
    [
        ([80, 81, 82, 79, 80.5, 81.5, 80.2, 80.3], "faster", "interval-below-1"),
        ([120, 121, 122, 119, 120.5, 121.5, 120.2, 120.3], "slower", "interval-above-1"),
        ([100.2, 99.8, 100.1, 99.9, 100.3, 99.7, 100.05, 99.95], "same", "within-bound"),
        ([102.0, 101.9, 102.1, 102.3, 101.8, 102.2, 102.05, 102.15], "same", "small-difference"),
        ([80, 130, 95, 110, 99, 104, 90, 120], "undecided", "wide-interval"),
        ([120], "not tested", "few-launches"),
        ([], "not tested", "no-launches"),
        ([120.0] * 8, "undecided", "no-variance"),
        ([120, math.nan, 122, 119, 121, 120, 120, 121], "undecided", "not-a-time"),
        ([120, math.inf, 122, 119, 121, 120, 120, 121], "undecided", "not-a-time"),
        ([120, 0, 122, 119, 121, 120, 120, 121], "undecided", "not-a-time"),
    ],
)
def test_each_verdict_has_its_reason(second: list[float], verdict: str, reason: str) -> None:
    first = [100, 100.1, 99.9, 100.2, 99.8, 100.3, 100.05, 99.95]
    found = compare(Side(first), Side(second))
    assert (found.verdict, found.reason) == (verdict, reason)
    assert found.launches == (8, len(second))
    if found.verdict in ("faster", "slower", "same"):
        assert found.low is not None and found.high is not None and found.ratio is not None
        assert found.low <= found.ratio <= found.high
        assert found.detectable is not None and found.detectable >= 0.05
    opposite = {"faster": "slower", "slower": "faster"}
    assert compare(Side(second), Side(first)).verdict == opposite.get(verdict, verdict)


def test_only_rounds_that_both_have_are_compared() -> None:
    first = Side([100.0, 101, 102, 500], rounds=[1, 2, 3, 9])
    second = Side([103.0, 104, 900, 102], rounds=[2, 3, 7, 1])
    assert compare(first, second).launches == (3, 3)
    assert compare(first, Side([1.0, 2.0], rounds=[11, 12])).reason == "no-launches"


def test_other_conditions_are_not_comparable() -> None:
    first = Side([100, 101, 99, 100.5], {"placement": "same", "wait": "block", "page": 4096})
    second = Side([200, 201, 199, 200.5], {"placement": "cross", "wait": "block"})
    found = compare(first, second)
    assert (found.verdict, found.reason) == ("not comparable", "differs:page,placement")
    assert found.ratio is None


def test_more_mechanisms_raise_the_bar() -> None:
    random = np.random.default_rng(1)
    a, b = (Side(list(100 * np.exp(random.normal(mean, 0.1, 12)))) for mean in (0, 0.3))
    alone, one_of_many = compare(a, b), compare(a, b, mechanisms=12)
    assert alone.low and one_of_many.low and one_of_many.low < alone.low
    assert one_of_many.level < alone.level


def test_rates_have_exact_bounds() -> None:
    known = {(0, 10): 0.30850, (10, 10): 1, (0, 0): 1, (3, 3000): 0.00292, (1500, 3000): 0.51806}
    assert {at: rate_upper(*at) for at in known} == pytest.approx(known, abs=1e-5)


def test_drift_and_its_absence() -> None:
    random = np.random.default_rng(4)
    rising = list(100 + np.arange(20) + random.normal(0, 1, 20))
    assert drift(rising) == pytest.approx(19 / 109.5, rel=0.1) and drift_p(rising) < 1e-5
    assert sum(drift_p(list(random.normal(100, 5, 12))) < 0.05 for _ in range(200)) <= 16
    for none in ([1.0, 2.0, 3.0], [5.0] * 9, [1.0, math.nan, 2.0, 3.0, 4.0]):
        assert drift_p(none) == 1


def test_modes_are_counted() -> None:
    random = np.random.default_rng(8)
    parts = [(5_000, 0.05, 3000), (40_000, 0.1, 1500), (9_000, 0.06, 300)]
    times = np.concatenate(
        [np.exp(random.normal(math.log(at), width, n)) for at, width, n in parts]
    ).astype(np.int64)
    assert count_modes(times) == len(parts)


@pytest.mark.parametrize(
    "times",
    [
        np.full(200, 5),
        np.array([7]),
        np.random.default_rng(1).lognormal(9, 0.5, 2000),
        np.exp(9 + 0.05 * np.random.default_rng(1).standard_t(2, 3000)),
        np.random.default_rng(1).exponential(1000, 3000) + 100,
        np.array([100, 200] * 10),
    ],
)
def test_one_mode_stays_one(times: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> None:
    assert count_modes(times) == 1
