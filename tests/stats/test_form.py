"""One quantity has one value and one interval, however it is written."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ipclab.stats.form import Ends
from ipclab.stats.intervals import statistic_estimate
from ipclab.stats.quantity import Quantity, measured, of

WAYS: dict[str, str] = {
    "the ratio": "a / b",
    "one over its inverse": "1 / (b / a)",
    "in other units": "(a * 1e-9) / (b * 1e-9)",
    "in one other unit": "(a.as_unit('1') / 1000) / b.as_unit('1') * 1000",
    "of rates": "(c / b) / (c / a)",
    "of both and a third": "(a / third) / (b / third)",
    "with what cancels": "(a * b) / (b * b)",
    "the difference": "(a - b) / b + 1",
    "a loss": "1 - (b - a) / b",
    "twice": "(a + a) / b / 2",
    "back and forth": "(a + b - b) / b",
}


class Told:
    """A run that knows one ratio."""

    def ratio(self, over: str, under: str) -> Ends | None:
        known = Ends(2.5, 2.0, 3.0)
        turned = Ends(0.4, 1 / 3, 0.5)
        return {("a/p50", "b/p50"): known, ("b/p50", "a/p50"): turned}.get((over, under))


RUN = Told()


def in_run(name: str, values: list[float]) -> Quantity:
    value = Quantity(float(np.median(values)), "ns", min(values), max(values), "3 x 1")
    return measured(value, dict(enumerate(values)), name, RUN)


A, B = in_run("a/p50", [10.0, 11.0, 14.0]), in_run("b/p50", [4.0, 6.0, 5.0])
THIRD = in_run("third/p50", [3.0, 1.0, 2.0])


@pytest.mark.parametrize("written", WAYS.values(), ids=WAYS)
def test_a_ratio_is_what_its_run_says_of_it_however_it_is_written(written: str) -> None:
    names: dict[str, Any] = {"a": A, "b": B, "c": of(7.0).as_unit("ns"), "third": THIRD}
    if "* b" in written:  # a product of two times has no unit
        names = {name: each.as_unit("1") for name, each in names.items()}
    found = eval(written, names)
    assert (found.value, *found.ends) == pytest.approx((2.5, 2.0, 3.0), rel=1e-12)


def test_units_and_constants_scale_and_keep_everything() -> None:
    ratio, factor = A / B, 3.0
    assert ((ratio * factor).as_unit("share") / factor).form == ratio.form
    assert ((A * 1e-9).as_unit("1") * 1e9).launches == pytest.approx(A.launches)
    assert Quantity(1.0, n="3 x 1", kind="computed") == (A / A)
    assert (A / B) * B == A and (A + B) - B == A


def test_what_varies_with_the_session_says_so_in_any_unit() -> None:
    """A sum of times has the wider interval of times, in seconds too; their ratio has none."""
    total, in_seconds = A + THIRD, A.as_unit("1") * 1e-9 + THIRD.as_unit("1") * 1e-9
    assert (in_seconds * 1e9).ends == pytest.approx(total.ends)
    launches = statistic_estimate([13.0, 12.0, 16.0], 0)
    assert total.ends == pytest.approx((launches.low * 0.94, launches.high * 1.06))
    share, launches = THIRD / A, statistic_estimate([0.3, 1 / 11, 2 / 14], 0)
    assert share.ends == pytest.approx((launches.low, launches.high))


def test_launches_of_two_runs_have_nothing_in_common() -> None:
    here, there = (
        measured(Quantity(2.0, "ns", 1.0, 3.0), {1: 1.0, 2: 2.0, 3: 3.0}, "a/p50", run)
        for run in (Told(), Told())
    )
    assert not (here / there).launches and (here / there).low != (here / here).low


def test_a_changed_copy_is_another_value() -> None:
    assert not replace(A, value=3.0).launches
    assert replace(A, value=20.0).form != A.form
