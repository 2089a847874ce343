"""Where a ratio is printed, the quotient of its two medians lies in its interval, or is told."""

from math import inf, isfinite
from typing import Any

import pytest

from ipclab.stats.form import ONE, Ends
from ipclab.stats.quantity import Quantity, measured
from ipclab.words.numbers import Formatter
from ipclab_answers.choose.judged_ratio import compared
from ipclab_report.lab import ReportLab
from tests.support.told import READ, Told, reference

STUDIES = (
    "00_appendix",
    "01_payload",
    "02_shared_dict",
    "03_multiplexer",
    "04_round_trip",
    "05_file_io",
    "06_stream",
    "08_objects",
)


OVER = measured(Quantity(8.0, "ns", 2.0, 9.0), {1: 2.0, 2: 8.0, 3: 9.0}, "over")
UNDER = measured(Quantity(0.3, "ns", 0.2, 0.4), {1: 0.2, 2: 0.3, 3: 0.4}, "under")


def test_a_quotient_outside_of_its_interval_is_told_with_the_states() -> None:
    ratio = compared(OVER, UNDER, Ends(16.4, 10.5, 25.7))
    assert ratio.quotient == pytest.approx(8 / 0.3)
    for scaled in (ratio, (ratio * 2).as_unit("1") / 2, ratio.as_unit("share").as_unit("1")):
        assert Formatter("en").format(scaled, "x,interval") == (
            "16.4× [10.5–25.7] (quotient of the medians 26.7×: several states, 10.0× to 26.7×)"
        )
    less = Formatter("en").format((ratio - 1).as_unit("share"), "pct,int,interval")
    assert less == (
        "1,540% [950–2,470] (quotient of the medians 2,567%: several states, 900% to 2,567%)"
    )


def test_a_quotient_that_lies_in_its_interval_is_not_told() -> None:
    for ends in (Ends(16.4, 10.5, 27.0), Ends(16.4, 0.1, 25.7), Ends(16.4, -inf, inf)):
        ratio = compared(OVER, UNDER, ends)
        assert ratio.quotient is None
        assert "several states" not in Formatter("en").format(ratio, "x,interval")


def test_a_quotient_is_not_told_beside_the_same_digits() -> None:
    close = compared(OVER, UNDER, Ends(26.5, 26.4, 26.66))
    apart = compared(OVER, UNDER, Ends(26.5, 26.4, 26.6))
    assert Formatter("en").format(close, "x,interval") == "26.5× [26.4–26.7]"
    assert "quotient of the medians 26.7×" in Formatter("en").format(apart, "x,interval")


class Printed(Told):
    """A notebook, and each quantity that it prints with its text."""

    def __init__(self, name: str) -> None:
        super().__init__(name, READ, reference())
        self.printed = list[tuple[Quantity, str, str]]()

    def _made(self) -> list[tuple[Any, str, Any]]:
        written = Formatter.format

        def noted(formatter: Formatter, quantity: Quantity, spec: str = "") -> str:
            text = written(formatter, quantity, spec)
            self.printed.append((quantity, spec, text))
            return text

        kept = [each for each in super()._made() if each[:2] != (ReportLab, "table")]
        return [*kept, (Formatter, "format", noted)]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", STUDIES)
def test_every_ratio_of_a_document_can_be_divided_by_its_reader(name: str) -> None:
    page = Printed(name)
    with page:
        printed = [*page.printed]
    ratios, wrong = 0, []
    for quantity, spec, text in printed:
        if (quotient := _quotient(quantity)) is None or {"bare", "span"} & {*spec.split(",")}:
            continue
        ratios += 1
        low, high = quantity.ends
        told = "several states" in text or _shown(quotient) in map(
            _shown, (quantity.value, low, high)
        )
        if not (low <= quotient <= high or told):
            wrong.append((quantity, quotient, text))
    assert wrong == []
    assert ratios


def _shown(value: float) -> str:
    return Formatter("en").format(Quantity(value), "x")


def _quotient(quantity: Quantity) -> float | None:
    """Return the quotient of the two medians whose ratio a quantity is; None for any other one."""
    if not isinstance(quantity.value, float) or "form" not in vars(quantity):
        return None
    terms = [(term, factor) for term, factor in quantity.form.items() if term != ONE]
    powers = sorted(power for term, _ in terms for _, power in term)
    if len(terms) != 1 or powers != [-1, 1] or not all(map(isfinite, quantity.ends)):
        return None
    under, over = (part.ends.value for part, _ in sorted(terms[0][0], key=lambda each: each[1]))
    return quantity.form.get(ONE, 0.0) + terms[0][1] * over / under
