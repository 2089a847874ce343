"""Frames of hand-made points: exact values, flags, what is kept on disk, and what is refused."""

import math
import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ipclab.bounds.points import enriched_points
from ipclab.errors import LabError, UsageError
from ipclab.frames import derived, kept
from ipclab.frames.digests import frames_digest
from ipclab.frames.estimates import estimated
from ipclab.frames.points import VALUES, Frame, launch_rows, point_rows
from ipclab.frames.rows import narrowed
from ipclab.lab.factors import check_levels
from ipclab.paths import Paths
from ipclab.report.pages import staleness
from ipclab.stats.quantity import Quantity
from ipclab.store import door, files
from ipclab.store.files import sha256
from ipclab.store.point import TAKEN, Point
from ipclab.store.record import Record
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured, encode
from tests.frames.test_ratios import DATA
from tests.support.made import begun, framed, make_launch
from tests.support.told import reference

FLAGS = "budget;disturbed:1/2;steal;failed-launches:1"


def tidy(*measured: Measured) -> pd.DataFrame:
    return framed([row for each in measured for row in point_rows(each)], VALUES)


def row(points: pd.DataFrame, op: str, metric: str) -> pd.Series:
    found = points[(points.op == op) & (points.metric == metric)]
    assert len(found) == 1
    return found.iloc[0]


@pytest.fixture
def run(measured: Measured, tmp_path: Path) -> Record:
    made = begun(tmp_path, studies=["payload"])
    made.place([(measured.point, encode(measured))])
    made.about["finished"] = made.about["begun"]
    made.save()
    return made


def test_one_row_for_each_op_and_metric_one_column_for_each_factor(measured: Measured) -> None:
    points = tidy(measured)
    times = ["p50", "p90", "p99", "p99.9", "min", "max", "mean", "sd"]
    ours = [(op, metric) for op in ("write", "read", "write.copy") for metric in times]
    ours += [("write", metric) for metric in ("bandwidth", "minor_faults", "cpu_ns")]
    ours += [("read", "bandwidth")]
    assert sorted(zip(points.op, points.metric, strict=True)) == sorted(ours)
    factors = ["study", "point", "backend", "size_bytes", "placement", "arm"]
    assert list(points.columns) == [*factors, *VALUES]
    assert points.size_bytes.dtype == "int64"


def test_values_are_exact(measured: Measured) -> None:
    points = tidy(measured)
    mean = math.sqrt(20 * 30)
    for metric, value, unit in (
        ("p50", mean, "ns"),
        ("min", 10, "ns"),
        ("max", 40, "ns"),
        ("mean", mean, "ns"),
        ("sd", math.sqrt(200 / 3), "ns"),
        ("bandwidth", 88e9 / mean, "B/s"),
        ("minor_faults", 2, "count"),
        ("cpu_ns", math.sqrt(500 * 700), "ns"),
    ):
        found = row(points, "write", metric)
        assert (found.value, found.unit) == (pytest.approx(value), unit), metric
    # the mean of the two in the middle, then the geometric one of 8 and 5
    read = row(points, "read", "p50")
    assert read.value == pytest.approx(math.sqrt(8 * 5))
    assert (read.launches, read.samples) == (2, 3)
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
    mapping = Point("payload", "shm-mmap", 84, "same", {"arm": "mapping"})
    points = tidy(measured, Measured(mapping, measured.launches, "budget"))
    assert set(narrowed(points, {"arm": "mapping"}).point) == {mapping.id}
    assert len(set(narrowed(points, {"arm": ["mapping", "published"]}).point)) == 2
    found = DATA.value(points, op="write", arm="mapping")
    assert (found.unit, found.n) == ("ns", "2 x 6")
    assert found.value == pytest.approx(math.sqrt(20 * 30))
    assert found.sources == (f"payload/{mapping.id}/write/p50",)
    assert DATA.value(points, op="write", arm="tcp") == Quantity(None, "ns")
    with pytest.raises(LabError, match=r"2 rows have .*they differ in size_bytes, placement, arm"):
        DATA.value(points, op="write", backend="shm-mmap")
    with pytest.raises(UsageError, match=r"no column 'placment'.*did you mean 'placement'"):
        narrowed(points, {"placment": "same"})


def test_rows_that_come_in_parts_are_the_same_frame(
    measured: Measured, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = replace(measured, point=replace(measured.point, levels={"entries": 10, "arm": "x"}))
    at_once = tidy(measured, other)
    monkeypatch.setattr("ipclab.frames.points.ROWS", 1)
    in_parts = Frame(VALUES)
    for each in (measured, other):
        in_parts.add(point_rows(each))
    pd.testing.assert_frame_equal(estimated(in_parts.whole()), at_once)
    assert at_once.size_bytes.dtype == "int64"


def test_no_factor_may_be_called_as_a_column_of_frames_is() -> None:
    run = reference()
    for study in derived.studies_measured(run):
        columns = {*enriched_points(run, study), *derived.read_frame(run, study, "launches")}
        assert columns - {*run.questions.of(study).levels, "op"} <= TAKEN


def test_what_a_launch_notes_has_the_unit_of_its_name(point: Point) -> None:
    launch = make_launch(write=[10, 20, 30])
    launch.facts |= {"peak_rss_bytes": 4096, "files": 3}
    units = {row["metric"]: row["unit"] for row in point_rows(Measured(point, [launch], "budget"))}
    assert (units["peak_rss_bytes"], units["files"]) == ("B", "count")


def test_launches_are_kept_one_by_one(measured: Measured) -> None:
    found = pd.DataFrame(launch_rows(measured))
    medians = found[(found.op == "write") & (found.metric == "p50")]
    assert list(medians.value) == [20.0, 30.0]
    assert list(medians["flags"]) == ["", "steal"]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of kept frames, a new one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(derived, "_in_memory", {})
    return tmp_path / "cache" / "ipclab" / "frames"


def test_frames_are_kept_in_the_users_cache_and_not_derived_again(
    run: Record, measured: Measured, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(run.path.rglob("*"))
    first = derived.read_frame(run, "payload", "points")
    pd.testing.assert_frame_equal(first, tidy(measured), check_dtype=False)
    assert sorted(run.path.rglob("*")) == before
    kept_files = sorted(cache.iterdir())
    assert [file.name.split("-")[1] for file in kept_files] == ["contests", "launches", "points"]
    assert {file.name.split("-")[0] for file in kept_files} == {frames_digest(run, "payload")}
    modes = {oct(path.stat().st_mode & 0o777) for path in kept_files}
    assert (oct(cache.stat().st_mode & 0o777), modes) == ("0o700", {"0o600"})
    monkeypatch.setattr(derived, "_in_memory", {})  # as in a new process
    monkeypatch.setattr(derived, "_derived", None)
    pd.testing.assert_frame_equal(derived.read_frame(run, "payload", "points"), first)
    assert len(derived.read_frame(run, "payload", "launches")) == len([*launch_rows(measured)])


def test_who_asks_while_another_derives_waits_for_it(
    run: Record, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual, derives, looks = derived._derived, list[str](), list[RunFolder]()
    begun = Barrier(2)

    def slowly(run: RunFolder, study: str) -> Mapping[str, bytes]:
        derives.append(study)
        time.sleep(0.5)
        return usual(run, study)

    def looked(run: RunFolder, *_: object) -> None:
        looks.append(run)
        time.sleep(0.5)

    def asked(_: int) -> pd.DataFrame:
        begun.wait(30)
        return derived.read_frame(run, "payload", "points")

    monkeypatch.setattr(derived, "_derived", slowly)
    monkeypatch.setattr(door, "refuse_contradictions", looked)
    monkeypatch.setattr(door, "_whole", set())
    with ThreadPoolExecutor(2) as both:
        one, other = both.map(asked, range(2))
    pd.testing.assert_frame_equal(one, other)
    assert (derives, len(looks)) == (["payload"], 1)


def test_who_waits_too_long_for_another_derives_as_well(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "PATIENCE", 0.1)
    with files.once("ab12"), files.once("ab34"):  # one lock for both
        assert [path.name for path in (cache.parent / "making").iterdir()] == ["ab.lock"]


def test_a_kept_frame_that_is_not_whole_is_derived_again(
    run: Record, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = derived.read_frame(run, "payload", "points")
    (file,) = cache.glob("*-points-*")
    content = file.read_bytes()
    file.write_bytes(content[:100])
    monkeypatch.setattr(derived, "_in_memory", {})
    pd.testing.assert_frame_equal(derived.read_frame(run, "payload", "points"), first)
    assert file.read_bytes() == content


def test_other_points_or_other_code_make_other_frames(
    run: Record, measured: Measured, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = derived.read_frame(run, "payload", "points")
    slower = make_launch(write=[80, 80], read=[9], write__copy=[1])
    run.place([(measured.point, encode(Measured(measured.point, [slower], "budget")))])
    assert row(derived.read_frame(run, "payload", "points"), "write", "p50").value == 80
    assert row(first, "write", "p50").value == pytest.approx(math.sqrt(20 * 30))
    assert len(list(cache.iterdir())) == 6
    monkeypatch.setattr("ipclab.frames.digests._code", lambda: "other code")
    derived.read_frame(run, "payload", "points")
    assert len(list(cache.iterdir())) == 9


def test_the_frames_that_were_not_used_for_longest_make_room(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "MOST_BYTES", 250)
    for place, digest in enumerate("abc"):
        kept.keep_frames(digest, {"points": bytes(100)})
        for file in cache.glob(f"{digest}-*"):
            os.utime(file, (place, place))
    assert [name for name in "abc" if kept.kept_frame(name, "points")] == ["b", "c"]


@pytest.mark.parametrize("mode", [0o755, 0o500])
def test_a_folder_of_others_or_one_that_cannot_be_written_is_no_cache(
    run: Record, measured: Measured, cache: Path, mode: int
) -> None:
    cache.mkdir(parents=True)
    cache.chmod(mode)
    first = derived.read_frame(run, "payload", "points")
    pd.testing.assert_frame_equal(first, tidy(measured), check_dtype=False)
    if mode == 0o755:  # root writes into any folder
        assert not list(cache.iterdir())


def test_an_altered_sample_is_refused(run: Record, measured: Measured) -> None:
    file = run.path / run.file(measured.point)
    assert len(derived.read_frame(run, "payload", "points"))  # frames are kept
    file.write_bytes(file.read_bytes()[:40])
    with pytest.raises(LabError, match="is not what was measured"):
        derived.read_frame(run, "payload", "points")


def test_a_check_refuses_samples_that_no_clock_gives_though_their_digests_fit(
    run: Record, measured: Measured, paths: Paths, ipclab: Any, tmp_path: Path
) -> None:
    staleness.write_manifest(paths, [run], tmp_path / "out", [])
    assert ipclab("check", "--out", "out").returncode == 0
    name = run.file(measured.point)
    table = pq.read_table(run.path / name)
    negative = table.set_column(2, "ns", pa.array(-table["ns"].to_numpy()))
    pq.write_table(negative, run.path / name)
    run.about["files"][name] = sha256(run.path / name)
    run.save()
    done = ipclab("check", "--out", "out")
    assert done.returncode == 1
    assert "is not a point's file" in done.stdout


def test_an_interval_of_a_count_ends_at_nothing_at_the_latest() -> None:
    """One of five launches took no fault: what can be 0 has its arithmetic mean."""
    point = Point("payload", "shm-mmap", 0, "same")
    launches = [make_launch((), {"minor_faults": count}, write=[1]) for count in (6, 0, 0, 0, 6)]
    faults = row(tidy(Measured(point, launches, "budget")), "write", "minor_faults")
    assert (faults.low, faults.value) == (0, pytest.approx(2.4)) and faults.high > 6


def test_what_an_older_run_does_not_know_is_known_of_the_installed_study(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("ipclab.lab.factors.usual_levels", lambda study: {"arm": ("paced",)})
    asked = SimpleNamespace(of=lambda study: SimpleNamespace(levels={"arm": ("main",)}))
    run: Any = SimpleNamespace(questions=asked)
    held = pd.DataFrame({"op": ["write"], "metric": ["mean"]})
    check_levels(run, "payload", held, {"arm": "paced"})
    with pytest.raises(UsageError, match=r"did you mean 'paced'\?$"):
        check_levels(run, "payload", held, {"arm": "pacd"})
