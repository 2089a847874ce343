"""Frames of hand-made points: exact values, flags, what is kept on disk, and what is refused."""

import datetime as dt
import json
import math
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from subprocess import CompletedProcess

import pandas as pd
import pytest

from ipclab.errors import LabError, UsageError
from ipclab.frames import derived
from ipclab.frames.address import narrowed
from ipclab.frames.points import VALUES, frame, launch_rows, point_rows
from ipclab.lab.lab import lab_of
from ipclab.paths import Paths
from ipclab.render import staleness
from ipclab.stats.quantity import Quantity
from ipclab.store import run as folder
from ipclab.store.files import sha256
from ipclab.store.point import Point
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured, encode
from tests.frames.test_ratios import DATA
from tests.support.bundled import make_run
from tests.support.commands import ROOT
from tests.support.made import make_launch

FLAGS = "budget;disturbed:1/2;steal;failed-launches:1"
ABOUT = {
    "parameters": {
        "profile": "smoke",
        "studies": ["payload"],
        "sizes": None,
        "backends": None,
        "levels": {},
    },
    "seed": 1,
    "machine": {"digest": "m", "facts": {}, "reasons": {}},
    "sessions": [],
    "points": {},
    "notes": {},
}


def tidy(*measured: Measured) -> pd.DataFrame:
    return frame([row for each in measured for row in point_rows(each)], VALUES)


def row(points: pd.DataFrame, op: str, metric: str) -> pd.Series:
    found = points[(points.op == op) & (points.metric == metric)]
    assert len(found) == 1
    return found.iloc[0]


@pytest.fixture
def run(measured: Measured, tmp_path: Path) -> RunFolder:
    made = folder.create(tmp_path, "m", {**ABOUT}, dt.datetime.now(dt.UTC))
    made.place([(measured.point, encode(measured))])
    made.about["finished"] = made.about["begun"]
    made.save()
    return made


def test_one_row_for_each_op_and_metric_one_column_for_each_factor(measured: Measured) -> None:
    points = tidy(measured)
    times = ["p50", "p90", "p99", "p99.9", "min", "max", "mean", "sd"]
    ours = [(op, metric) for op in ("write", "read", "write.copy") for metric in times]
    ours += [("write", metric) for metric in ("bandwidth", "minor_faults", "cpu_ns")] + [
        ("read", "bandwidth")
    ]
    assert sorted(zip(points.op, points.metric, strict=True)) == sorted(ours)
    assert list(points.columns) == [
        "study",
        "point",
        "backend",
        "size_bytes",
        "placement",
        "arm",
        *VALUES,
    ]
    assert points.size_bytes.dtype == "int64"


def test_values_are_exact(measured: Measured) -> None:
    points = tidy(measured)
    values = {
        metric: row(points, "write", metric).value for metric in ("p50", "min", "max", "mean")
    }
    assert values == {"p50": 25, "min": 10, "max": 40, "mean": 25}
    assert row(points, "write", "sd").value == pytest.approx(math.sqrt(200 / 3))
    assert row(points, "write", "bandwidth").value == 88e9 / 25
    assert row(points, "write", "minor_faults").value == 2
    # the mean of the two in the middle, then the median of 8 and 5
    assert row(points, "read", "p50").value == 6.5
    names = ("p50", "sd", "bandwidth", "minor_faults", "cpu_ns")
    units = {metric: row(points, "write", metric).unit for metric in names}
    assert units == {
        "p50": "ns",
        "sd": "ns",
        "bandwidth": "B/s",
        "minor_faults": "count",
        "cpu_ns": "ns",
    }
    counts = {
        op: (row(points, op, "p50").launches, row(points, op, "p50").samples)
        for op in ("write", "read")
    }
    assert counts == {"write": (2, 6), "read": (2, 3)}
    told = points[points.value.notna()]
    assert ((told.low <= told.value) & (told.value <= told.high)).all()
    # of which three samples tell nothing
    assert set(points[points.value.isna()].metric) == {"p90", "p99", "p99.9"}


def test_flags_say_what_was_not_as_it_should_be(measured: Measured, point: Point) -> None:
    points = tidy(measured)
    assert row(points, "write", "p50")["flags"] == FLAGS
    assert row(points, "write", "p99")["flags"] == f"{FLAGS};few-samples"
    many = [make_launch(op=list(range(1, 2001))) for _ in range(5)]
    clean = tidy(Measured(point, many, "precise"))
    assert {row(clean, "op", metric)["flags"] for metric in ("p50", "p90", "p99", "p99.9")} == {
        "precise"
    }
    fewer = tidy(Measured(point, many[:4], "precise"))
    assert row(fewer, "op", "p99.9")["flags"] == "precise;few-samples"  # 8 samples above it


def test_quantiles_are_in_order(point: Point) -> None:
    launches = [
        make_launch(op=[(7919 * i) % 1009 + 1 for i in range(1, 5_000 + n)]) for n in range(3)
    ]
    points = tidy(Measured(point, launches, "precise"))
    values = [
        row(points, "op", metric).value for metric in ("min", "p50", "p90", "p99", "p99.9", "max")
    ]
    assert all(low <= high for low, high in pairwise(values))


def test_intervals_do_not_depend_on_what_else_was_measured(measured: Measured) -> None:
    other = Measured(
        Point("payload", "file", 84, "same", {"arm": "file"}), measured.launches, "budget"
    )
    together = tidy(other, measured)
    pd.testing.assert_frame_equal(
        together[together.point == measured.point.id].reset_index(drop=True), tidy(measured)
    )


def test_a_clock_too_coarse_gives_no_bandwidth(point: Point) -> None:
    points = tidy(Measured(point, [make_launch(op=[0, 0, 10])] * 2, "precise"))
    assert "bandwidth" not in set(points.metric)
    assert "p50" in set(points.metric)


def test_levels_narrow_a_frame_and_two_rows_are_no_value(measured: Measured) -> None:
    other = Measured(
        Point("payload", "shm-mmap", 84, "same", {"arm": "mapping"}), measured.launches, "budget"
    )
    points = tidy(measured, other)
    assert set(narrowed(points, {"arm": "mapping"}).point) == {other.point.id}
    assert len(set(narrowed(points, {"arm": ["mapping", "published"]}).point)) == 2
    found = DATA.value(points, op="write", arm="mapping")
    assert (found.value, found.unit, found.n) == (25.0, "ns", "2 x 6")
    assert found.sources == (f"payload/{other.point.id}/write/p50",)
    assert DATA.value(points, op="write", arm="tcp") == Quantity(None, "ns")
    with pytest.raises(LabError, match=r"2 rows have .*they differ in size_bytes, placement, arm"):
        DATA.value(points, op="write", backend="shm-mmap")
    with pytest.raises(UsageError, match=r"no column 'placment'.*did you mean 'placement'"):
        narrowed(points, {"placment": "same"})


def test_launches_are_kept_one_by_one(measured: Measured) -> None:
    found = pd.DataFrame(launch_rows(measured))
    medians = found[(found.op == "write") & (found.metric == "p50")]
    assert list(medians.value) == [20.0, 30.0]
    assert list(medians["flags"]) == ["", "steal"]


def test_a_frame_is_kept_beside_its_run_and_follows_from_it(
    run: RunFolder, measured: Measured
) -> None:
    first = derived.read(run, "payload", "points")
    pd.testing.assert_frame_equal(first, tidy(measured), check_dtype=False)
    kept = run.path / "frames" / "payload-points.parquet"
    content = kept.read_bytes()
    assert derived.read(run, "payload", "launches").shape[0] == len(list(launch_rows(measured)))
    first.assign(value=7777.0).to_parquet(kept)  # edited by hand
    assert 7777.0 not in set(derived.read(run, "payload", "points").value)
    assert kept.read_bytes() == content
    kept.write_bytes(content[:100])
    assert len(derived.read(run, "payload", "points")) == len(first)


def altered(run: RunFolder, kind: str, frame: pd.DataFrame) -> Path:
    """Put `frame` in the place of a kept one, its digest made to fit."""
    file = run.path / "frames" / f"payload-{kind}.parquet"
    frame.to_parquet(file)
    note = json.loads(file.with_suffix(".json").read_text())
    file.with_suffix(".json").write_text(json.dumps(note | {"sha256": sha256(file)}))
    return file


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["points", "launches"])
def test_an_altered_frame_is_never_shown_though_its_digest_fits(run: RunFolder, kind: str) -> None:
    whole = derived.read(run, "payload", kind)
    wrong = [
        whole.assign(value=whole.value.where(whole.op != "read", 4166.0)),
        whole.drop(index=3),
        pd.concat([whole, whole.assign(point="another")]),
        whole.assign(backend="shm-spin"),
        whole.assign(more=1),
        whole.drop(columns=["unit"]),
        whole.iloc[:0],
        pd.DataFrame({"x": ["2026-11-23"]}),
    ]
    for each in wrong:
        altered(run, kind, each)
        pd.testing.assert_frame_equal(derived.read(run, "payload", kind), whole)
    assert derived.verify(run) == []
    file = altered(run, kind, wrong[0])
    assert derived.verify(run, ["payload"]) == [str(file.relative_to(run.path))]
    assert derived.verify(run) == []


def test_altered_frames_that_cannot_be_put_right_are_an_error(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = derived.read(run, "payload", "points")
    altered(run, "points", whole.assign(value=1.0))

    def full(*_: object) -> None:
        raise LabError("cannot write")

    monkeypatch.setattr(derived, "write_whole", full)
    with pytest.raises(
        LabError, match=r"payload-points.parquet is not what its points give: it cannot be written"
    ):
        derived.verify(run)


def test_contests_follow_from_launches(tmp_path: Path) -> None:
    run = make_run(tmp_path)
    whole = derived.read(run, "round_trip", "contests")
    assert len(whole) and set(whole.other) - {""}
    file = run.path / "frames" / "round_trip-contests.parquet"
    whole.assign(verdict="same", best=4.37).to_parquet(file, compression="zstd", index=False)
    note = json.loads(file.with_suffix(".json").read_text())
    file.with_suffix(".json").write_text(json.dumps(note | {"sha256": sha256(file)}))
    pd.testing.assert_frame_equal(derived.read(run, "round_trip", "contests"), whole)


def test_frames_that_agree_are_not_derived_again(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = derived.read(run, "payload", "points")
    monkeypatch.setattr(derived, "_in_memory", {})
    monkeypatch.setattr(derived, "_derived", None)
    pd.testing.assert_frame_equal(derived.read(run, "payload", "points"), whole)


def test_frames_that_a_report_has_derived_are_taken_as_they_are_and_no_others(
    run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert derived.verify(run) == []
    whole = derived.read(run, "payload", "points")
    monkeypatch.setenv(derived.PROVED, " ".join(derived.proved))
    with monkeypatch.context() as patch:
        patch.setattr(derived, "_in_memory", {})
        for unused in ("_agree", "_derived", "contests"):
            patch.setattr(derived, unused, None)
        pd.testing.assert_frame_equal(derived.read(run, "payload", "points"), whole)
    altered(run, "points", whole.assign(value=1.0))
    monkeypatch.setattr(derived, "_in_memory", {})
    pd.testing.assert_frame_equal(derived.read(run, "payload", "points"), whole)


def test_a_check_does_not_approve_altered_frames(
    run: RunFolder, paths: Paths, ipclab: Callable[..., "CompletedProcess[str]"], tmp_path: Path
) -> None:
    staleness.write_manifest(paths, [run], tmp_path / "out", [])
    assert ipclab("check", "--out", "out").returncode == 0
    altered(run, "points", derived.read(run, "payload", "points").assign(value=1.0))
    done = ipclab("check", "--out", "out")
    assert (done.returncode, done.stdout) == (
        1,
        "data: frames/payload-points.parquet was not what its points give\n",
    )
    assert "make report" in done.stderr


def test_a_run_without_a_study_has_an_empty_frame(run: RunFolder) -> None:
    assert derived.measured(run) == ["payload"]
    lab = lab_of(run, Paths(ROOT), "en")
    assert lab.points("round_trip", arm="main", placement="same").empty
    assert not lab.value("round_trip", arm="main", placement="same", size_bytes=100)
    with pytest.raises(UsageError, match=r"unknown study 'paylod'.*did you mean 'payload'"):
        lab.points("paylod")


def test_an_altered_sample_is_refused(run: RunFolder, measured: Measured) -> None:
    file = run.path / run.file(measured.point)
    assert len(derived.read(run, "payload", "points"))  # frames are kept beside the samples
    file.write_bytes(file.read_bytes()[:40])
    for read in (derived.read, lambda *_: derived.verify(run)):
        with pytest.raises(LabError, match="is not what was measured"):
            read(run, "payload", "points")


def test_an_interval_of_a_count_ends_at_nothing_at_the_latest() -> None:
    """One of five launches took no fault, and a range is stretched beyond what was found."""
    point = Point("payload", "shm-mmap", 0, "same")
    launches = [make_launch((), {"minor_faults": count}, write=[1]) for count in (6, 0, 6, 6, 6)]
    faults = row(tidy(Measured(point, launches, "budget")), "write", "minor_faults")
    assert (faults.low, faults.value, faults.high) == (0, 6, 6)
