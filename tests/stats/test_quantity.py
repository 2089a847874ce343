"""Arithmetic of intervals: exact cases, and what was not measured."""

import numpy as np
import pytest

from ipclab.stats import judge
from ipclab.stats.intervals import mean_of
from ipclab.stats.quantity import Quantity, measured, missing, of, total

A, B = Quantity(10.0, "ns", 9.0, 12.0, "5 x 100"), Quantity(4.0, "ns", 3.0, 5.0, "7 x 50")


def test_sums_and_differences_combine_the_distances_to_the_ends() -> None:
    found = A + B
    assert (found.value, found.unit, found.n) == (14.0, "ns", "5 x 100")
    assert found.ends == (14 - np.hypot(1, 1), 14 + np.hypot(2, 1))
    assert (A - B).ends == (6 - np.hypot(1, 1), 6 + np.hypot(2, 1))
    assert total([A, B, B]).value == 18.0


def test_ratios_do_so_on_the_logarithmic_scale() -> None:
    found = A / B
    assert (found.value, found.unit) == (2.5, "1")
    down = np.hypot(np.log(10 / 9), np.log(5 / 4))
    assert found.ends[0] == pytest.approx(2.5 * np.exp(-down))
    assert (B / A).ends[1] == pytest.approx(1 / found.ends[0])
    assert (A * 2).ends == pytest.approx((18.0, 24.0))


def test_exact_numbers_stay_exact_and_missing_ones_missing() -> None:
    assert (of(6) / 3 - 1) == Quantity(1.0, "1", kind="computed")
    for found in (A + missing("ns"), missing("ns") / A, 1 / missing()):
        assert not found
        assert judge.side(found, 1) == judge.MISSING


def test_units_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(ValueError, match="ns and B cannot be added"):
        A + Quantity(1, "B")
    with pytest.raises(ValueError, match="cannot be combined"):
        A * Quantity(1, "B")


def test_nothing_is_known_of_a_ratio_over_zero() -> None:
    assert (A / Quantity(1.0, "ns", -1.0, 2.0)).ends == (-np.inf, np.inf)
    assert judge.side(A / Quantity(1.0, "ns", -1.0, 2.0), 1) == judge.NOT_TESTED


def test_the_judge_says_what_an_interval_supports() -> None:
    assert [judge.side(A, bound) for bound in (8, 10, 13)] == ["above", "undecided", "below"]
    said = [judge.within(A, *ends) for ends in ((9, 12), (10, 20), (13, 20), (1, 8))]
    assert said == ["inside", "undecided", "below", "above"]


def in_heats(values: list[float]) -> Quantity:
    """Return a quantity with these values in heats 1, 2 and so on."""
    made = Quantity(mean_of(values), "ns", min(values) / 2, max(values) * 2, "4 x 1")
    return measured(made, dict(enumerate(values, 1)), str(values))


def test_what_shares_launches_is_computed_launch_by_launch() -> None:
    whole, part = in_heats([100, 200, 400, 300]), in_heats([61, 121, 245, 182])
    share = part / whole
    assert share.value == pytest.approx(0.6083, abs=1e-3)
    assert share.low is not None and share.high is not None
    assert 0.60 < share.low < share.high < 0.62
    assert (whole - part).value == pytest.approx(whole.value - part.value)
    assert np.mean([*(whole - part).launches.values()]) == pytest.approx((whole - part).value)
    apart = Quantity(2.0, "ns", 1.0, 4.0)
    assert not (part / apart).launches  # independent: the ends of both count
    assert (part / apart).ends[1] > 100


def test_an_exact_number_only_shifts_what_was_measured() -> None:
    found = Quantity(350.0, "ns", kind="computed") + in_heats([1.0, 1.1, 1.0, 1.2])
    assert (found.value, found.ends) == (350 + mean_of([1.0, 1.1, 1.0, 1.2]), (350.5, 352.4))
