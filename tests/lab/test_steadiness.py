"""What is one state of several is told with both, on the first page too, and headed by none."""

from typing import Any

import pandas as pd
import pytest

from ipclab.lab.lab import Lab
from ipclab.paths import checkout
from ipclab.report.appendix.steadiness import told, unsteady
from ipclab.report.lab import lab_of
from ipclab.store.run import RunFolder
from tests.support.changed import Run
from tests.support.told import Told, forget_judged, measured, reference

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


def only(*backends: str) -> Any:
    """Return how frames of the reference run are read where it measured `backends` alone."""

    def read(_run: RunFolder, study: str, kind: str) -> pd.DataFrame:
        frame = measured(study, kind)
        if kind == "contests" and study != "calibration":
            return frame.iloc[:0]
        return frame[frame.backend.isin(backends)] if study in ("round_trip", "stream") else frame

    return read


@pytest.mark.slow
def test_the_least_median_across_cpus_is_no_fastest_where_it_is_a_state() -> None:
    forget_judged()
    with Told("04_round_trip", Run("round_trip", {("backend", "unix"): 0.1})) as notebook:
        values = notebook.values
        said = " ".join(notebook.shown)
    forget_judged()
    assert values["quickest"]["cross"] == "unix" and values["beating"] > 0
    assert "It is the fastest" not in said and "not shown to be slower" not in said
    assert "It cannot be called the fastest: it takes less time than the limit" in said


@pytest.mark.slow
def test_of_one_mechanism_nothing_is_compared() -> None:
    with Told("04_round_trip", only("unix")) as notebook:
        trips = " ".join(notebook.shown)
    with Told("06_stream", only("unix")) as notebook:
        streams = " ".join(notebook.shown)
        assert notebook.values["filled"] == 1
    for said in ("fastest", "pairs of mechanisms", "Side by side", "not measured"):
        assert said not in trips
    for said in ("at its best", "the lead of", "not measured"):
        assert said not in streams


@pytest.mark.slow
def test_what_was_never_full_is_no_evidence_against_loss() -> None:
    with Told("06_stream", lambda _run, study, kind, *_: measured(study, kind)) as notebook:
        values = notebook.values
    assert values["filled"] + values["never_full"] == len(values["full"])
    ends = values["ends"]
    assert values["filled"] == (ends.drops | ends.blocks).sum()
    rates = values["at_small"]
    rates = rates[rates.placement == values["last"]].set_index("backend").value
    of_memory = rates.index.isin(values["shared"])
    assert values["top"] == rates[of_memory].idxmax()
    assert values["second"] == rates[~of_memory].idxmax()
