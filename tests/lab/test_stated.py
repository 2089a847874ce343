"""What documents state: each ratio has one definition, shares differ by points, and no interval is
empty.
"""

import re
from collections.abc import Callable

import pandas as pd
import pytest

from ipclab.claims.audit import audited, corrections
from ipclab.claims.computed import of_text
from ipclab.claims.numbers import Numbers, only
from ipclab.claims.published import TEXTS
from ipclab.claims.texts import payload
from ipclab.lab.lab import Lab
from ipclab.paths import checkout
from ipclab.stats.quantity import Quantity
from ipclab.words.numbers import Formatter
from tests.support.told import reference

EMPTY = re.compile(r"(?P<end>[−\d.,]+)\s?[–~]\s?(?P=end)\]")


def both(run: Numbers) -> Quantity:
    return payload.as_v10(run, "write") + payload.as_v10(run, "read")


# Values of the appendix, which the sentences of the claims state, too.
SAID_AGAIN: dict[str, Callable[[Numbers], Quantity]] = {
    "0.10": lambda run: only(payload.tcp(run)) / both(run),
    "0.11": lambda run: both(run) * 20,
    "0.14": lambda run: only(payload.tcp(run)) / payload.as_v10(run, "write"),
}


@pytest.fixture(scope="module")
def lab() -> Lab:
    return Lab.of(reference(), checkout(), "en")


@pytest.mark.slow
def test_a_ratio_has_one_definition_in_all_documents(lab: Lab) -> None:
    """The appendix compares transfers as v1.0 makes them; the corrected sentences once took another
    method's.
    """
    numbers, told = of_text(lab.run, "payload"), corrections(lab).set_index("claims").here
    for claim, computed in SAID_AGAIN.items():
        spec = "ms,interval" if claim == "0.11" else "x,interval"
        assert lab.words.numbers.format(computed(numbers), spec) in told[claim]
        assert "as v1.0 makes" in told[claim]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Quantity(351e6, "ns", 350.9e6, 351.2e6), "351\u00a0ms"),
        (Quantity(3.79, "1", 3.789, 3.791), "3.79×"),
        (Quantity(351e6, "ns", 340e6, 360e6), "351\u00a0ms [340–360]"),
        (Quantity(351e6, "ns", 350e6, 351.2e6), "351\u00a0ms [350–351]"),
    ],
)
def test_an_interval_that_cannot_be_told_from_its_value_is_not_printed(
    value: Quantity, text: str
) -> None:
    assert Formatter("en").format(value, "x,interval" if value.unit == "1" else "interval") == text


@pytest.mark.slow
def test_no_verdict_has_an_empty_interval_or_saves_less_than_nothing(lab: Lab) -> None:
    found = audited(lab)
    told = pd.concat([found.own_told, found.here_told, found.fair_told])
    assert not [text for text in told if EMPTY.search(text)]
    # "-279 %" for what takes 3.79 times as much
    assert not [text for text in told if re.search(r"−[1-9]\d\d%", text)]


def test_shares_differ_by_points() -> None:
    units = {claim.id: claim.bounds.unit for text in TEXTS.values() for claim in text.claims}
    assert (units["4.4"], units["4.4b"], units["4.1"]) == ("points", "points", "1")
    found = Quantity(-0.125, "points", -0.2, -0.1)
    said = [Formatter(lang).format(found, "interval") for lang in ("en", "ko", "zh")]
    assert said == [
        "−12.5\u00a0pp [−20.0–−10.0]",
        "−12.5%p [−20.0~−10.0]",
        "−12.5个百分点 [−20.0–−10.0]",
    ]
