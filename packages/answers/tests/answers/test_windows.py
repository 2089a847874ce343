"""The window that a need may take: at the measured gaps next to its own, within its CPUs."""

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from ipclab.frames import derived
from ipclab.stats.quantity import Quantity
from ipclab_answers.choose.need import Need
from ipclab_answers.choose.windows import COLUMNS, windows

MEASURED = [  # gap, window, round trip, CPU time, period (all ns)
    (10_000, 0, 50_000, 30_000, 60_000), (10_000, 30_000, 2_000, 12_000, 12_000),
    (100_000, 0, 60_000, 32_000, 160_000), (100_000, 30_000, 55_000, 96_000, 160_000),
    (100_000, 200_000, 3_000, 103_000, 103_000), (1_000_000, 0, 90_000, 40_000, 1_090_000),
]  # fmt: skip


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a lab whose run holds one mechanism's windows."""
    monkeypatch.setattr(derived, "studies_measured", lambda run: run)
    columns = ["gap_ns", "spin_ns", "value", "cpu", "period"]
    rows = pd.DataFrame(MEASURED, columns=columns).assign(backend="ring")
    cells: Any = [Quantity(float(value), "ns") for value in rows.value]
    return SimpleNamespace(
        run=["spin"],
        points=lambda study, **levels: rows.assign(cell=cells),
        cells=lambda points, **more: points,
        level=lambda name, level: str(level),
    )


def need(rate: float, cpus: float = 0.0, way: str = "round-trip") -> Need:
    return Need({100: 1.0}, way, rate=rate, cpus=cpus)


@pytest.mark.parametrize(
    ("rate", "cpus", "found"),
    [
        (20_000, 0, [("10000", "30000"), ("100000", "200000")]),
        (20_000, 0.7, [("10000", "0"), ("100000", "30000")]),
        (20_000, 0.3, [("100000", "0")]),
        (10_000, 0, [("100000", "200000")]),
        (1e6, 0, [("10000", "30000")]),
        (10, 0, [("1000000", "0")]),
        (20_000, 0.1, []),
    ],
)
def test_the_gaps_on_both_sides_are_told_with_the_fastest_that_keeps_to_the_cpus(
    lab: Any, rate: float, cpus: float, found: list[tuple[str, str]]
) -> None:
    told = windows(lab, need(rate, cpus))
    assert [*zip(told.gap, told.window, strict=True)] == found
    assert list(told) == COLUMNS


def test_without_a_gap_or_the_study_nothing_is_told(lab: Any) -> None:
    assert windows(lab, need(0.0)).empty
    assert windows(lab, need(1_000, way="one-way")).empty
    lab.run = ["round_trip"]
    assert windows(lab, need(1_000)).empty
