"""Where a ratio is printed, the quotient of its two medians lies in its interval, or is told."""

from math import inf

import pytest

from ipclab.stats.form import Ends
from ipclab.stats.quantity import Quantity, measured
from ipclab.words.numbers import Formatter
from ipclab_more.choose.judged_ratio import ratio_judged

OVER = measured(Quantity(8.0, "ns", 2.0, 9.0), {1: 2.0, 2: 8.0, 3: 9.0}, "over")
UNDER = measured(Quantity(0.3, "ns", 0.2, 0.4), {1: 0.2, 2: 0.3, 3: 0.4}, "under")


def test_a_quotient_outside_of_its_interval_is_told() -> None:
    ratio = ratio_judged(OVER, UNDER, Ends(16.4, 10.5, 25.7))
    assert ratio.quotient == pytest.approx(8 / 0.3)
    for scaled in (ratio, (ratio * 2).as_unit("1") / 2, ratio.as_unit("share").as_unit("1")):
        told = Formatter("en").format(scaled, "x,interval")
        assert told == "16.4× [10.5–25.7] (quotient of the medians: 26.7×)"
    less = Formatter("en").format((ratio - 1).as_unit("share"), "pct,int,interval")
    assert less == "1,540% [950–2,470] (quotient of the medians: 2,567%)"


def test_a_quotient_that_lies_in_its_interval_is_not_told() -> None:
    for ends in (Ends(16.4, 10.5, 27.0), Ends(16.4, 0.1, 25.7), Ends(16.4, -inf, inf)):
        ratio = ratio_judged(OVER, UNDER, ends)
        assert ratio.quotient is None
        assert "quotient" not in Formatter("en").format(ratio, "x,interval")


def test_bytes_have_no_quotient() -> None:
    over = measured(Quantity(8.0, "B", 2.0, 9.0), {1: 2.0, 2: 8.0, 3: 9.0}, "bytes over")
    under = measured(Quantity(0.3, "B", 0.2, 0.4), {1: 0.2, 2: 0.3, 3: 0.4}, "bytes under")
    assert ratio_judged(over, under, Ends(16.4, 10.5, 25.7)).quotient is None


def test_a_quotient_is_not_told_beside_the_same_digits() -> None:
    close = ratio_judged(OVER, UNDER, Ends(26.5, 26.4, 26.66))
    apart = ratio_judged(OVER, UNDER, Ends(26.5, 26.4, 26.6))
    assert Formatter("en").format(close, "x,interval") == "26.5× [26.4–26.7]"
    assert "quotient of the medians: 26.7×" in Formatter("en").format(apart, "x,interval")
