"""The explorer: what it offers, what it draws and exports, without a browser."""

import csv
import io
import time
from pathlib import Path

import numpy as np
import pytest

from ipclab.explore import panels
from ipclab.explore.desk import Desk, runs
from ipclab.explore.selection import BACKEND, Selection, factors, metrics, ops, settle, studies
from ipclab.facts.rows import Rows, tidy
from ipclab.paths import Paths, checkout
from ipclab.store.point import Point
from ipclab.store.samples import Measured
from tests.made import make_launch

REFERENCE = next(checkout().reference.glob("*/run.json")).parent


def point(backend: str, size: int, placement: str = "same", arm: str = "main", **levels: str) -> Measured:
    made = Point("round_trip", backend, size, placement, {"arm": arm, "gap_ns": 0, **levels})
    return Measured(made, [make_launch(**{"round-trip": [size, size + 1, size + 2]}) for _ in range(3)], "budget")


ROWS = tidy(
    [
        *(point(backend, size) for backend in ("tcp", "unix") for size in (100, 1_000)),
        point("unix", 100, "cross"),
        point("unix", 100, arm="wait", wait="spin"),
    ]
)


def test_what_a_study_offers() -> None:
    assert studies(ROWS) == ["round_trip"]
    assert ops(ROWS, "round_trip") == ["round-trip"]
    assert metrics(ROWS, "round_trip", "round-trip")[0] == "p50"
    varied = factors(ROWS.all("round-trip"))
    assert list(varied)[:2] == ["arm", "placement"]
    assert varied["size_bytes"] == [100, 1_000]
    assert "gap_ns" not in varied


def test_what_is_held_follows_from_what_is_left() -> None:
    held, offered = settle(ROWS, "round_trip", "round-trip", "p50", "size_bytes", {})
    assert held["arm"] == "main"
    assert held["placement"] == "same"
    assert "wait" not in held
    held, offered = settle(ROWS, "round_trip", "round-trip", "p50", "size_bytes", {"arm": "wait", "placement": "cross"})
    assert (held["arm"], held["placement"]) == ("wait", "same")  # the wish for two CPUs is not on offer there
    assert offered["arm"] == ["main", "wait"]


def test_a_selection_keeps_order_and_mechanisms() -> None:
    chosen = Selection("round_trip", "round-trip", "p50", held={"arm": "main", "placement": "same"}, backends=("tcp",))
    assert [row.point.size_bytes for row in chosen.rows(ROWS)] == [100, 1_000]
    assert {row.point.backend for row in chosen.rows(ROWS)} == {"tcp"}


def test_a_curve_is_exact_at_its_ends() -> None:
    samples = np.random.Generator(np.random.PCG64(1)).integers(10, 10_000, 50_000)
    values, shares = panels.curve(samples)
    assert len(values) <= panels.CURVE_POINTS
    assert (values[0], values[-1]) == (samples.min(), samples.max())
    assert shares[-1] == 1.0
    at = len(values) // 2
    assert shares[at] == pytest.approx(np.mean(samples <= values[at]), abs=1e-3)


def test_stretches_keep_the_extremes() -> None:
    samples = np.arange(1, 40_001)
    samples[12_345] = 9_999_999
    _, low, _, high = panels.stretches(samples)
    assert len(low) <= panels.DOTS
    assert high.max() == 9_999_999
    assert low.min() == 1


@pytest.fixture(scope="module")
def desk() -> Desk:
    return Desk(str(REFERENCE))


def test_widgets_lead_to_pictures(desk: Desk) -> None:
    before = desk.picture.value
    desk.metric.value = "p99"
    assert desk.picture.value != before
    assert desk.picture.value.startswith('<div role="img" aria-label="round_trip: round-trip p99 / size_bytes')
    for study in desk.study.options:
        desk.study.value = study
        assert "<svg" in desk.picture.value
        assert "<table" in desk.table.value
    desk.study.value = "round_trip"


def test_every_factor_can_go_across(desk: Desk) -> None:
    for name in desk.across.options:
        desk.across.value = name
        assert "<svg" in desk.picture.value, name
    assert BACKEND in desk.across.options
    desk.across.value = "size_bytes"


def test_fewer_mechanisms_and_other_points(desk: Desk) -> None:
    desk.backends.value = ("tcp", "unix")
    assert {row.point.backend for _, row in desk._rows()} == {"tcp", "unix"}
    before = desk.numbers.value
    desk.points.value = (1,)
    assert desk.numbers.value != before
    assert desk.numbers.value.count("<table") == 2


@pytest.mark.parametrize("lang", ["ko", "zh"])
def test_the_language_follows(desk: Desk, lang: str) -> None:
    english = desk.study.description
    desk.lang.value = lang
    assert desk.study.description != english
    desk.lang.value = "en"
    assert desk.study.description == english


def test_export(desk: Desk, tmp_path: Path) -> None:
    desk.paths = Paths(tmp_path)
    files = [desk.export(kind) for kind in ("svg", "png", "csv")]
    assert files[0].read_text().lstrip().startswith("<?xml")
    assert files[1].read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader(io.StringIO(files[2].read_text())))
    assert len(rows) == len(desk._rows())
    assert {row["run"] for row in rows} == {REFERENCE.name}
    desk.paths = checkout()


def test_two_runs_side_by_side(desk: Desk) -> None:
    assert REFERENCE in runs(checkout())
    desk.runs.options = [("one", str(REFERENCE)), ("two", str(REFERENCE) + "/.")]
    desk.runs.value = tuple(path for _, path in desk.runs.options)
    assert len(desk.shown) == 2
    assert len(desk.points.options) == 2 * len(desk.shown[0].rows)


def test_ten_million_samples_make_pictures_of_few_marks() -> None:
    samples = np.random.Generator(np.random.PCG64(2)).integers(100, 100_000, 10_000_000)
    began = time.process_time()
    values, _ = panels.curve(samples)
    marks = panels.stretches(samples)
    assert len(values) <= panels.CURVE_POINTS
    assert len(marks[0]) <= panels.DOTS
    assert time.process_time() - began < 60  # a quadratic algorithm would never end


def test_no_rows_draw_nothing() -> None:
    from ipclab.lab import style

    with style.canvas("en", 4, 3) as canvas:
        panels.across([], Selection("round_trip", "x", "p50"), canvas)
        assert style.svg(canvas)
    assert Rows().all("x") == []
