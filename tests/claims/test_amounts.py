"""Amounts as people write them in rules."""

import pytest

from ipclab.claims.amounts import RuleError, amount
from ipclab.claims.comparison import Bounds

AMOUNTS = {
    "50 µs": (50e3, "ns"),
    "50μs": (50e3, "ns"),
    "6 usec": (6e3, "ns"),
    "-2 ms": (-2e6, "ns"),
    "2 GiB/s": (2 * 2**30, "B/s"),
    "125 MB/s": (125e6, "B/s"),
    "2.5 Gbit/s": (2.5e9 / 8, "B/s"),
    "300 Mbps": (300e6 / 8, "B/s"),
    "1.2M msg/s": (1.2e6, "1/s"),
    "40kreq/s": (4e4, "1/s"),
    "1.2M ops/sec": (1.2e6, "1/s"),
    "250k": (250e3, "1"),
    "10 %": (0.1, "share"),
}


@pytest.mark.parametrize("text", AMOUNTS)
def test_an_amount_is_taken_as_people_write_it_in_si_units(text: str) -> None:
    found = amount(text)
    assert (found.value, found.unit) == (pytest.approx(AMOUNTS[text][0]), AMOUNTS[text][1])


def test_thousands_are_grouped_by_commas() -> None:
    bounds = Bounds.read("at_least 162,441 msg/s")
    assert (bounds.low, bounds.unit) == (162_441, "1/s")


@pytest.mark.parametrize("text", ["50 µm", "1.2Mi", "3 MiB/ms", "1,62 msg/s"])
def test_another_unit_is_named_with_those_that_there_are(text: str) -> None:
    with pytest.raises(RuleError, match="is no number with a unit"):
        Bounds.read(f"at_least {text}")
