"""What is one state of several is told with both, on the first page too, and headed by none."""

from typing import Any

import pandas as pd
import pytest

from ipclab.lab.lab import Lab, lab_of
from ipclab.paths import checkout
from ipclab.report.appendix.steadiness import told, unsteady
from tests.support.told import reference

STEADY: dict[str, Any] = {
    "study": "round_trip",
    "point": "p",
    "op": "round-trip",
    "metric": "p50",
    "unit": "ns",
    "backend": "unix",
    "size_bytes": 100,
    "placement": "cross",
    "value": 28_700.0,
    "low": 24_900.0,
    "high": 47_800.0,
    "launches": 5,
    "samples": 100,
    "flags": "",
    "fast": 28_700.0,
    "slow": 28_700.0,
    "why": "",
}


@pytest.fixture(params=["en", "ko", "zh"])
def lab(request: pytest.FixtureRequest) -> Lab:
    return lab_of(reference(), checkout(), request.param)


def rows(*more: dict[str, Any]) -> pd.DataFrame:
    return pd.DataFrame([STEADY | levels for levels in more])


def test_a_steady_median_has_an_interval_and_another_both_states(lab: Lab) -> None:
    steady, shaken = rows({}), rows({"slow": 49_400.0, "why": "arms limit"})
    assert "24.9" in told(lab, steady) and "47.8" in told(lab, steady)
    assert "28.7" in told(lab, shaken) and "49.4" in told(lab, shaken)
    assert "47.8" not in told(lab, shaken)
    assert told(lab, steady[:0]) == ""


def test_the_first_page_names_three_and_counts_the_rest(lab: Lab) -> None:
    five = [{"value": 1000.0 * n, "slow": 9e4, "why": "launches"} for n in range(1, 6)]
    said = unsteady(lab, rows({}, *five)).data
    assert said.count("90.0\u00a0µs") == 3 and "unix" in said
    assert unsteady(lab, rows({}, {})) is None
