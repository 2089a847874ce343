"""Amounts as people write them in rules."""

import pytest

from ipclab.claims.amounts import RuleError, amount
from ipclab.claims.comparison import Bounds, Rule


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("50 µs", 50e3, "ns"),
        ("50μs", 50e3, "ns"),
        ("50 us", 50e3, "ns"),
        ("2 GiB/s", 2 * 2**30, "B/s"),
        ("3 MiB/s", 3 * 2**20, "B/s"),
        ("1.2M msg/s", 1.2e6, "1/s"),
        ("1.2 Mmsg/s", 1.2e6, "1/s"),
        ("40k msg/s", 4e4, "1/s"),
        ("162,441 msg/s", 162_441, "1/s"),
        ("250k req/s", 250e3, "1/s"),
        ("1.2M ops/sec", 1.2e6, "1/s"),
        ("250k", 250e3, "1"),
        ("6 usec", 6e3, "ns"),
        ("6 µsec", 6e3, "ns"),
        ("2.5 Gbit/s", 2.5e9 / 8, "B/s"),
        ("300 Mbps", 300e6 / 8, "B/s"),
    ],
)
def test_an_amount_is_taken_as_people_and_we_write_it(text: str, value: float, unit: str) -> None:
    bounds = Rule.read(f"stream.received[backend=unix] at_least {text}").bounds
    assert bounds.low == pytest.approx(value) and bounds.unit == unit


@pytest.mark.parametrize("text", ["50 µm", "1.2Mi", "2 Gmsg", "3 MiB/ms", "1,62 msg/s"])
def test_another_unit_is_named_with_those_that_there_are(text: str) -> None:
    with pytest.raises(RuleError, match="is no number with a unit"):
        Bounds.read(f"at_least {text}")


def test_amounts_are_in_si_units() -> None:
    found = [amount(text) for text in ("125 MB/s", "10 %", "-2 ms")]
    assert [(one.value, one.unit) for one in found] == [
        (125e6, "B/s"),
        (0.1, "share"),
        (-2e6, "ns"),
    ]
