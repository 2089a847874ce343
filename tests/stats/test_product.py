"""A ratio has one value and one interval, however it is written, also in Series of quantities."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from ipclab.stats.intervals import SESSION_ERROR, statistic_estimate
from ipclab.stats.product import Ends, Product, raised
from ipclab.stats.quantity import Quantity, measured, of

WAYS: dict[str, str] = {
    "the ratio": "a / b",
    "one over its inverse": "1 / (b / a)",
    "in other units": "(a * 1e-9) / (b * 1e-9)",
    "in one other unit": "(a.as_unit('1') / 1000) / b.as_unit('1') * 1000",
    "of rates": "(c / b) / (c / a)",
    "of both and a third": "(a / third) / (b / third)",
    "with what cancels": "(a * b) / (b * b)",
    "twice": "(a + a) / b / 2",
}
MILLIONTH = 1e-6
SUMS = ("(a - b) / b + 1", "1 - (b - a) / b", "(a + b - b) / b", "a / (a + b) * ((a + b) / b)")


class Told:
    """A run that knows one ratio."""

    def ratio(self, over: str, under: str) -> Ends | None:
        known = Ends(2.5, 2.0, 3.0)
        turned = Ends(0.4, 1 / 3, 0.5)
        return {("a/p50", "b/p50"): known, ("b/p50", "a/p50"): turned}.get((over, under))


RUN = Told()


def in_run(name: str, values: list[float], run: Told = RUN) -> Quantity:
    found = statistic_estimate(values, 0)
    value = Quantity(found.value, "ns", found.low, found.high, "3 x 1")
    return measured(value, dict(enumerate(values)), name, run)


A, B = in_run("a/p50", [10.0, 11.0, 14.0]), in_run("b/p50", [4.0, 6.0, 5.0])
THIRD = in_run("third/p50", [3.0, 1.0, 2.0])
NAMES: dict[str, Any] = {"a": A, "b": B, "c": of(7.0).as_unit("ns"), "third": THIRD}


@pytest.mark.parametrize("written", WAYS.values(), ids=WAYS)
def test_a_ratio_is_what_its_run_says_of_it_however_it_is_written(written: str) -> None:
    names = dict(NAMES)
    if "* b" in written:  # a product of two times has no unit
        names = {name: each.as_unit("1") for name, each in NAMES.items()}
    found = eval(written, names)
    assert (found.value, *found.ends) == pytest.approx((2.5, 2.0, 3.0), rel=1e-12)


@pytest.mark.parametrize("written", SUMS)
def test_what_is_computed_of_printed_values_is_what_is_printed(written: str) -> None:
    """Sums too have the values that a reader gets from the values beside them."""
    own = {"a": in_run("own", [10.0, 11.0, 14.0]), "b": B}
    assert eval(written, own).value == pytest.approx(A.value / B.value, rel=1e-12)


def test_a_sum_is_that_of_its_parts_and_varies_as_they_do_together() -> None:
    total, gone = A + THIRD, A - THIRD
    assert total.value == pytest.approx(A.value + THIRD.value, rel=1e-12)
    assert gone.value == pytest.approx(A.value - THIRD.value, rel=1e-12)
    assert (THIRD / total).value == pytest.approx(THIRD.value / total.value, rel=1e-12)
    alike = measured(A, A.launches, "alike", RUN) - A
    assert alike.value == alike.low == alike.high == 0


def test_units_and_constants_scale_and_keep_everything() -> None:
    ratio, factor = A / B, 3.0
    assert ((ratio * factor).as_unit("share") / factor).product == ratio.product
    assert ((A * 1e-9).as_unit("1") * 1e9).launches == pytest.approx(A.launches)
    assert Quantity(1.0, n="3 x 1", kind="computed") == (A / A)
    assert (A / B) * B == A and (A - A).value == 0
    assert (ratio - 1).ends == tuple(end - 1 for end in ratio.ends)


def test_a_sum_of_times_has_the_term_of_sessions_and_a_ratio_has_none() -> None:
    total, in_seconds = A + THIRD, A.as_unit("1") * 1e-9 + THIRD.as_unit("1") * 1e-9
    assert (in_seconds * 1e9).ends == pytest.approx(total.ends)
    found = statistic_estimate([*total.launches.values()], 0, session=SESSION_ERROR)
    assert total.ends == pytest.approx((found.low, found.high))
    share = THIRD / A
    found = statistic_estimate([0.3, 1 / 11, 2 / 14], 0)
    assert (share.value, *share.ends) == pytest.approx((found.value, found.low, found.high))


def test_launches_of_two_runs_have_nothing_in_common() -> None:
    here, there = (in_run("a/p50", [1.0, 2.0, 3.0], run) for run in (Told(), Told()))
    assert not (here / there).launches and (here / there).low != (here / here).low


def test_a_changed_copy_is_another_value() -> None:
    assert not replace(A, value=3.0).launches
    assert replace(A, value=20.0).product != A.product


def test_series_align_by_index_and_divide_their_quantities() -> None:
    writes, reads = pd.Series({"x": A, "y": B}), pd.Series({"y": B, "x": B, "z": THIRD})
    gains = writes / reads
    assert gains["x"] == A / B and gains["y"] == B / B
    assert not gains["z"]  # that no write was measured of
    assert (writes * 2)["x"] == A * 2
    over: Any = A  # pandas-stubs know no series of quantities
    assert (over / writes)["y"] == A / B
    assert (writes - reads)["y"].value == 0


def test_over_nothing_there_is_no_number() -> None:
    assert Product(0.0).inverse().number == float("inf")


@pytest.mark.parametrize("unit", ["ns", "1"])  # whose means are geometric and arithmetic
@pytest.mark.parametrize("written", ["a / b * 3 + c / b", "a / b * 3 - 1", "a / b * c / b + c / b"])
def test_what_is_computed_differs_between_launches_as_its_parts_do(unit: str, written: str) -> None:
    """To first order, which is all there is of millionths."""
    steps = {"a": (10.0, 3, -1, -4), "b": (5.0, 2, -6, 1), "c": (3.0, -1, -2, 5)}
    parts, expected = {}, []
    for name, (middle, *millionths) in steps.items():
        values = [middle * (1 + step * MILLIONTH) for step in millionths]
        whole = Quantity(middle, unit, middle / 2, middle * 2, "3 x 1")
        parts[name] = measured(whole, dict(enumerate(values)), f"{name}/moved", RUN)
    for launch in range(3):
        expected.append(
            eval(written, {name: each.launches[launch] for name, each in parts.items()})
        )
    found = eval(written, dict(parts)).launches
    assert [*found.values()] == pytest.approx(expected, rel=1e-9)


def test_a_square_reaches_down_to_nothing_where_its_root_may_be_nothing() -> None:
    assert raised(Ends(-2.5, -3.0, -2.0), 2) == (6.25, 4.0, 9.0)
    assert raised(Ends(0.5, -1.0, 2.0), 2) == (0.25, 0.0, 4.0)
    assert raised(Ends(0.5, -1.0, 2.0), 3) == (0.125, -1.0, 8.0)
