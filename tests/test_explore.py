"""The explorer: what it offers, what it draws and exports, without a browser."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ipclab.explore import pictures
from ipclab.explore.desk import Desk, runs
from ipclab.explore.selection import Selection, factors, settle
from ipclab.frames.points import VALUES, frame, point_rows
from ipclab.paths import Paths, checkout
from ipclab.store.bundle import opened
from ipclab.store.point import Point
from ipclab.store.samples import Measured
from tests.made import make_launch


def rows_of(backend: str, size: int, placement: str = "same", arm: str = "main", **levels: str) -> list[dict[str, Any]]:
    made = Point("round_trip", backend, size, placement, {"arm": arm, "gap_ns": 0, **levels})
    launches = [make_launch(**{"round-trip": [size, size + 1, size + 2]}) for _ in range(3)]
    return list(point_rows(Measured(made, launches, "budget")))


POINTS = frame(
    [
        *(row for backend in ("tcp", "unix") for size in (100, 1_000) for row in rows_of(backend, size)),
        *rows_of("unix", 100, "cross"),
        *rows_of("unix", 100, arm="wait", wait="spin"),
    ],
    VALUES,
)


def test_what_varies_is_a_factor() -> None:
    varied = factors(POINTS)
    assert list(varied)[:2] == ["arm", "placement"]
    assert varied["size_bytes"] == [100, 1_000]
    assert "gap_ns" not in varied


def test_what_is_held_follows_from_what_is_left() -> None:
    offered = settle(POINTS, "size_bytes", {})
    assert offered["arm"][0] == "main" and offered["placement"][0] == "same"
    offered = settle(POINTS, "size_bytes", {"arm": "wait", "placement": "cross"})
    assert offered["arm"][0] == "wait" and sorted(offered["arm"]) == ["main", "wait"]
    assert offered["placement"] == ["same"]  # the wish for two CPUs is not on offer there


def test_a_selection_keeps_order_and_mechanisms() -> None:
    chosen = Selection("round_trip", "round-trip", "p50", backends=("tcp",), held={"arm": "main", "wait": None})
    assert list(chosen.rows(POINTS).size_bytes) == [100, 1_000]
    assert set(chosen.rows(POINTS).backend) == {"tcp"}


def test_stretches_of_many_samples_keep_the_extremes() -> None:
    samples = np.arange(1, 1_000_001)
    samples[12_345] = 99_999_999
    _, low, _, high = pictures.stretches(samples)
    assert len(low) <= pictures.STRETCHES
    assert (low.min(), high.max()) == (1, 99_999_999)


@pytest.fixture(scope="module")
def desk() -> Desk:
    return Desk(str(opened(checkout(), checkout().reference).path))


@pytest.mark.slow
def test_widgets_lead_to_pictures(desk: Desk) -> None:
    before = desk.picture.value
    desk.metric.value = "p99"
    assert desk.picture.value != before
    assert desk.picture.value.startswith('<div role="img" aria-label="round_trip: round-trip p99 / size_bytes')
    for study in desk.study.options:
        desk.study.value = study
        assert "<svg" in desk.picture.value and "<table" in desk.table.value
    desk.study.value = "round_trip"


@pytest.mark.slow
def test_every_factor_can_go_across(desk: Desk) -> None:
    for name in desk.across.options:
        desk.across.value = name
        assert "<svg" in desk.picture.value, name
    assert "backend" in desk.across.options
    desk.across.value = "size_bytes"


@pytest.mark.slow
def test_fewer_mechanisms_and_other_points(desk: Desk) -> None:
    desk.backends.value = ("tcp", "unix")
    assert set(desk.rows.backend) == {"tcp", "unix"}
    before = desk.numbers.value
    desk.points.value = (1,)
    assert desk.numbers.value != before
    assert desk.numbers.value.count("<table") == 2


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["ko", "zh"])
def test_the_language_follows(desk: Desk, lang: str) -> None:
    english = desk.study.description
    desk.lang.value = lang
    assert desk.study.description != english
    desk.lang.value = "en"
    assert desk.study.description == english


@pytest.mark.slow
def test_export(desk: Desk, tmp_path: Path) -> None:
    desk.paths = Paths(tmp_path)
    files = [desk.export(kind) for kind in ("svg", "png", "csv")]
    assert files[0].read_text().lstrip().startswith("<?xml")
    assert files[1].read_bytes().startswith(b"\x89PNG")
    rows = pd.read_csv(io.StringIO(files[2].read_text()))
    assert len(rows) == len(desk.rows)
    assert set(rows.run) == {desk.labs[0].run.id}
    desk.paths = checkout()


@pytest.mark.slow
def test_two_runs_side_by_side(desk: Desk) -> None:
    one = str(desk.labs[0].run.path)
    assert Path(one) in runs(checkout())
    desk.runs.options = [("one", one), ("two", f"{one}/.")]
    desk.runs.value = tuple(path for _, path in desk.runs.options)
    assert len(desk.labs) == 2
    assert len(desk.points.options) == len(desk.rows) == 2 * (desk.rows.lab == 0).sum()
