"""Amounts as people write them, and functions where they have no value."""

import pytest

from ipclab.claims.lines import Lines
from ipclab.claims.rules import read_rule, read_sum
from ipclab.errors import UsageError
from ipclab.prose.language import RuleError, amount

CLAIM = """
[[claim]]
id = "O-1"
language = "en"
text = "A round trip takes 3 ms."
rule = "round_trip.round-trip[backend=unix] at_most 3 ms"
published = { "round_trip.round-trip[backend=unix]" = "3 ms" }
"""


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
        ("7 msg/s", 7, "1/s"),
    ],
)
def test_an_amount_is_taken_as_people_and_we_write_it(text: str, value: float, unit: str) -> None:
    read = amount(text)
    assert (read.value, read.unit) == (pytest.approx(value), unit)
    rule = read_rule(f"stream.received[backend=unix] / {text} * {text} at_least {text}")
    assert rule.low == pytest.approx(value) and rule.unit == unit


@pytest.mark.parametrize("text", ["50 µm", "1.2M", "2 Gmsg", "3 MiB/ms"])
def test_another_unit_is_named_with_those_that_there_are(text: str) -> None:
    with pytest.raises(RuleError, match="is no number with a unit"):
        amount(text)


@pytest.mark.parametrize("text", ["sqrt(0-1)", "log(0)", "log(0 - 2)", "1 + log(sqrt(0))"])
def test_a_function_is_refused_where_it_has_no_value(text: str) -> None:
    with pytest.raises(RuleError, match="has no value at"):
        read_sum(text)


def test_the_root_of_nothing_is_nothing() -> None:
    assert read_sum("sqrt(0)").addresses == ()


def test_no_published_time_is_below_0() -> None:
    assert Lines(CLAIM, "mine.toml").parsed().claims
    with pytest.raises(UsageError, match=r"mine.toml, line 7: .*'-3 ms' is below 0"):
        Lines(CLAIM.replace('= "3 ms" }', '= "-3 ms" }'), "mine.toml").parsed()
