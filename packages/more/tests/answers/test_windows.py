"""The window that a need may take: at the measured gaps next to its own, within its CPUs."""

from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner

from ipclab.errors import UsageError
from ipclab.frames import derived
from ipclab.stats.quantity import Quantity
from ipclab_more import commands
from ipclab_more.choose import runs
from ipclab_more.choose.need import Need, need_of
from ipclab_more.choose.windows import COLUMNS, advised_window, windows

MEASURED = [  # gap, window, round trip, CPU time, period (all ns)
    (10_000, 0, 50_000, 30_000, 60_000), (10_000, 30_000, 2_000, 12_000, 12_000),
    (100_000, 0, 60_000, 32_000, 160_000), (100_000, 30_000, 55_000, 96_000, 160_000),
    (100_000, 200_000, 3_000, 103_000, 103_000), (1_000_000, 0, 90_000, 40_000, 1_090_000),
]  # fmt: skip


@pytest.fixture
def lab(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a lab whose run holds one mechanism's windows."""
    monkeypatch.setattr(derived, "studies_measured", lambda run: run)
    monkeypatch.setattr(runs, "best", lambda paths, study: [])
    monkeypatch.setattr("ipclab_more.choose.windows.check_limits", lambda run, studies: None)
    columns = ["gap_ns", "spin_ns", "value", "cpu", "period"]
    rows = pd.DataFrame(MEASURED, columns=columns).assign(backend="ring")
    for name in ("cpu", "period"):
        rows[name] = rows[name].map(lambda value: Quantity(float(value), "ns"))
    cells: Any = [Quantity(float(value), "ns") for value in rows.value]
    return SimpleNamespace(
        run=["spin"],
        paths=None,
        points=lambda study, **levels: rows.assign(cell=cells),
        cells=lambda points, **more: points,
        level=lambda name, level: str(level),
    )


def need(rate: float, cpus: float = 0.0, way: str = "round-trip") -> Need:
    return Need({100: 1.0}, way, rate=rate, cpus=cpus)


@pytest.mark.parametrize(
    ("rate", "cpus", "found"),
    [
        (20_000, 0.7, [("10000", "0"), ("100000", "30000")]),
        (20_000, 0.3, [("100000", "0")]),
        (20_000, 0.1, []),
        (10_000, 0, [("100000", "200000")]),
        (1e6, 0, [("10000", "30000")]),
        (10, 0, [("1000000", "0")]),
    ],
)
def test_the_gaps_on_both_sides_are_told_with_the_fastest_that_keeps_to_the_cpus(
    lab: Any, rate: float, cpus: float, found: list[tuple[str, str]]
) -> None:
    told = windows(lab, need(rate, cpus))
    assert [*zip(told.gap, told.window, strict=True)] == found
    assert list(told) == COLUMNS


@pytest.mark.parametrize(
    ("rate", "cpus", "sentence", "window", "busiest"),
    [
        (20_000, 0, "between", "30000", 1.0),  # 55 us at most, 0 takes 60 us
        (20_000, 0.5, "between", "0", 0.5),
        (10_000, 0, "at", "200000", 1.0),
        (10_000, 0.3, "at", "0", 0.2),
    ],
)
def test_the_window_to_take_keeps_to_the_cpus_at_both_gaps(
    lab: Any, rate: float, cpus: float, sentence: str, window: str, busiest: float
) -> None:
    told = advised_window(lab, need(rate, cpus))
    assert told
    name, values = told
    assert (name, values["window"], values["backend"]) == (sentence, window, "ring")
    assert values["cpus"].value == busiest
    if name == "between":
        assert (values["below"], values["above"]) == ("10000", "100000")
        assert values["time"].value < values["later"].value


def test_a_budget_that_no_window_keeps_to_is_told(lab: Any) -> None:
    told = advised_window(lab, need(20_000, 0.1))
    assert told
    assert (told[0], told[1]["gap"], told[1]["most"]) == ("none", "50000", "0.1")


def test_without_a_gap_or_the_study_nothing_is_told(lab: Any) -> None:
    for asked in (need(0.0), need(1_000, way="one-way")):
        assert windows(lab, asked).empty
        assert advised_window(lab, asked) is None
    lab.run = ["round_trip"]
    assert windows(lab, need(1_000)).empty
    assert advised_window(lab, need(1_000)) is None


def test_the_windows_may_be_of_another_run_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derived, "studies_measured", lambda run: run.studies)
    this, alien, other = (
        SimpleNamespace(studies=studies, machine=machine)
        for studies, machine in ((["round_trip"], "a"), (["spin"], "b"), (["spin"], "a"))
    )
    monkeypatch.setattr(runs, "best", lambda paths, study: [alien, other])
    found: Any = [runs.beside(None, run, "spin") for run in (this, other)]  # type: ignore[arg-type]
    assert found == [other, other]


def test_a_gap_is_a_rate_of_round_trips() -> None:
    told = need_of({"size": 100, "gap": "50us", "cpus": 0.5})
    assert told == need_of({"size": 100, "way": "round-trip", "rate": 20_000.0, "cpus": 0.5})
    assert told.levels()["gap_ns"] == 50_000


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        ({"gap": "50"}, "gap = '50' is not possible: '50' is no time: write 50us or 1ms"),
        ({"gap": "0us"}, "gap = '0us' is not possible: give a time above 0"),
        ({"gap": "50us", "rate": 20}, "a gap and a rate: one is one over the other"),
        ({"gap": "50us", "way": "state"}, "a gap of way = state"),
    ],
)
def test_a_gap_that_cannot_be_meant_is_told_why(sides: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        need_of({"size": 100, **sides})


def test_the_flags_are_a_gap_and_a_cpu_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Need] = []

    def stop(paths: object, wanted: Need, name: str) -> None:
        seen.append(wanted)
        raise SystemExit(0)

    monkeypatch.setattr(runs, "runs_for", stop)
    flags = ["--size", "100", "--gap", "50us", "--cpu-budget", "0.5"]
    assert CliRunner().invoke(commands.choose, flags).exit_code == 0
    assert seen == [need_of({"size": 100, "gap": "50us", "cpus": 0.5})]
