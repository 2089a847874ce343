"""The file-reading study: roles, sweeps, what a launch of the engine is told and proves."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from ipclab.backends import native_shm
from ipclab.errors import LabError
from ipclab.machine.placement import Placement
from ipclab.spawn.proof import PayloadError
from ipclab.store.point import Point
from ipclab.studies.file_io import engine, study, sweeps
from ipclab.studies.file_io.sets import FileSet, file_sets, own_sets, set_of
from ipclab.studies.file_io.study import DRAWS, FileIoStudy
from ipclab.studies.file_io.sweeps import roles_of_mix
from ipclab.studies.interface import Sweep
from ipclab.studies.profile import PROFILES
from tests.studies.test_file_sets import tiny
from tests.support.measured import FREE

STUDY = FileIoStudy()
KIB, MIB = 1 << 10, 1 << 20


def test_role_mixes_are_read() -> None:
    assert roles_of_mix("1R+3C") == ["read", "compute", "compute", "compute"]
    assert Counter(roles_of_mix("12RnC+12C")) == {"read-then-compute": 12, "compute": 12}
    assert roles_of_mix("2CnR") == ["compute-then-read"] * 2


@pytest.mark.parametrize(
    ("profile", "cores"),
    [("smoke", 1), ("quick", 2), ("standard", 3), ("full", 256), ("published", 2)],
)
def test_every_experiment_scales_with_the_cores(
    profile: str, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "cores", lambda: cores)
    points = STUDY.points(PROFILES[profile], Sweep())
    assert len({point.id for point in points}) == len(points)
    assert {point.levels["arm"] for point in points} == {
        "overlap",
        "serial",
        "call",
        "flight",
        "soon",
        "roles",
        "map",
        "fault",
        "massive",
        "general",
    }
    counted = {int(point.levels["threads"]) for point in points}
    multiples = (1, 2, 4) if profile == "full" else (1, 2)
    scaled = {min(multiple * cores, 1024) for multiple in multiples}
    as_texts = PROFILES[profile].as_texts
    assert as_texts or scaled <= counted
    published = counted - {1, 2} - scaled
    assert as_texts or all(count <= 2 * cores for count in published)
    for point in points:
        levels = point.levels
        assert len(roles_of_mix(str(levels["roles"]))) == levels["threads"]
        assert (levels["direct"] == "yes") <= (
            levels["cache"] == "cold" and point.backend != "mmap"
        )
        assert sweeps.in_flight(point) <= 896
        assert str(levels["cache"]) in point.block
        assert point.size_bytes == file_sets(profile)[str(levels["set"])].bytes
    drawn = [point for point in points if sweeps.in_timeline(point)]
    assert as_texts or {str(point.levels["arm"]) for point in drawn} == {"serial", "roles", "map"}


def test_a_sweep_of_sizes_reads_files_of_these_sizes_in_every_experiment() -> None:
    found = STUDY.points(PROFILES["smoke"], Sweep((MIB, 100, 4 * KIB)))
    read: dict[str, set[str]] = {}
    for point in found:
        read.setdefault(str(point.levels["arm"]), set()).add(str(point.levels["set"]))
    least, page, large = "size-100", "size-4096", f"size-{MIB}"
    assert read == {
        **{"overlap": {large}, "serial": {least, large}, "flight": {least}, "roles": {least}},
        **{"call": {least, page, large}, "soon": {least, page, large}},
        **{"map": {least, page, large}, "fault": {page, large}},  # faults: from a page
    }
    rounds = {(point.levels["set"], point.levels["rounds"]) for point in found}
    assert {each for each in rounds if int(each[1]) > 1} == {(least, 50), (page, 50)}
    for point in found:
        files = msgspec.convert(
            STUDY.roles(point, STUDY.effort(PROFILES["smoke"]), FREE, 5)[0].arguments["files"],
            FileSet,
        )
        assert files.sizes.tolist() == [int(files.name.removeprefix("size-"))] * 40
        assert files.bytes == point.size_bytes


@pytest.mark.parametrize(
    ("profile", "size", "count"),
    [
        ("smoke", 1, 40),
        ("smoke", 2 * MIB, 32),
        ("quick", 100 * MIB, 2),
    ],
)
def test_how_many_files_follows_from_a_budget(profile: str, size: int, count: int) -> None:
    own = STUDY.own(PROFILES[profile])
    budget, most = own["bytes_of_size"], own["files_of_size"]
    (files,) = own_sets(profile, [size], budget, most).values()
    assert (files.count, files.bytes) == (count, count * size)
    assert files.on_disk <= budget
    assert set_of(files.name, files.bytes) == files


def result(files: int = 3) -> dict[str, Any]:
    """Return what the engine would: two threads, of which one reads."""
    thread = {
        "elapsed_ns": 100,
        "execution_ns": 60,
        "io_wait_ns": 20,
        "work_wait_ns": 15,
        "preempted_ns": 5,
    }
    counted = dict.fromkeys(engine.COUNTS, 2)
    tasks = {
        f"{name}_ns": np.full(files, 10, np.int64).tobytes() for name in ("open", "read", "latency")
    }
    return {
        "elapsed_ns": 500,
        "first_compute_ns": 50,
        "read_end_ns": 400,
        "files": files,
        "bytes": files * 100,
        "errors": [],
        "tasks": {**tasks, "fault_ns": np.zeros(files, np.int64).tobytes()},
        "threads": [
            {**thread, **counted, "bytes": 300, "role": "read"},
            {**thread, **counted, "bytes": 0},
        ],
    }


def test_a_result_is_taken_only_when_every_file_was_read_once() -> None:
    engine.check_reads(result(), tiny("a"))
    with pytest.raises(PayloadError, match="2 files and 200 bytes were read"):
        engine.check_reads(result(2), tiny("a"))
    torn = result() | {"errors": [(1, 2, "open")]}
    with pytest.raises(
        LabError,
        match="1 of 3 files could not be read: No such file or directory during open of file 1",
    ):
        engine.check_reads(torn, tiny("a"))


def test_states_are_shares_of_all_threads_and_times_are_thinned_evenly() -> None:
    found = engine.counters(result()["threads"], 3)
    shares = {name: value for name, value in found.items() if name.endswith("_share")}
    assert shares == {
        "execution_share": 0.6,
        "io_wait_share": 0.2,
        "work_wait_share": 0.15,
        "preempted_share": 0.05,
    }
    assert (found["minor_faults"], found["bytes_per_file"]) == (4.0, 100.0)
    kept = engine.samples(result(1000) | {"tasks": {"read_ns": np.arange(1, 1001).tobytes()}}, 3)
    assert kept["file.read"].tolist() == [1, 501, 1000]
    whole = engine.samples(result(), 1000)
    assert list(whole) == [
        "elapsed",
        "elapsed.first-compute",
        "elapsed.read-end",
        "file.open",
        "file.read",
        "file.latency",
    ]


def a_point(**levels: str | int) -> Point:
    wanted = {"arm": "soon", "cache": "cold", "set": "exp-small", **levels}
    points = STUDY.points(PROFILES["smoke"], Sweep())
    return next(point for point in points if wanted.items() <= point.levels.items())


def test_what_the_engine_is_told() -> None:
    point = a_point(arm="map", cache="cold", advice="willneed")
    role = STUDY.roles(point, STUDY.effort(PROFILES["smoke"]), FREE, 5)[0]
    told = role.arguments["plan"]
    assert (told["method"], told["advice"], told["checksum_rounds"], told["direct"]) == (
        "mmap",
        "willneed",
        50,
        False,
    )
    assert msgspec.convert(role.arguments["files"], FileSet) == file_sets("smoke")["exp-small"]
    assert told["cpus"] == []
    json.dumps(role.arguments)
    timed = STUDY.roles(a_point(), STUDY.effort(PROFILES["smoke"]), FREE, 5)[0]
    assert msgspec.convert(timed.arguments["files"], FileSet).compute == DRAWS[400_000]
    # threads that are placed are told their CPUs
    cross = Placement("cross", (frozenset({3}), frozenset({5})), "core")
    points = STUDY.points(PROFILES["smoke"], Sweep())
    point = next(each for each in points if each.placement == "cross")
    assert STUDY.roles(point, PROFILES["smoke"], cross, 1)[0].arguments["plan"]["cpus"] == [3, 5]


def test_only_cold_files_are_waited_for_by_intent() -> None:
    points = FileIoStudy().points(PROFILES["quick"], Sweep())
    expected = {(point.levels["cache"], FileIoStudy().expected(point)) for point in points}
    assert expected == {("cold", ("pressure-io",)), ("warm", ())}


def test_checksums_of_all_ways_must_agree() -> None:
    sums: dict[str, str] = {}
    study.agree(sums, a_point(), "5")
    study.agree(sums, a_point(arm="map"), "5")
    study.agree(sums, a_point(), None)  # not every launch has one
    study.agree(sums, a_point(set="exp-large"), "6")
    with pytest.raises(PayloadError, match="checksums of two ways to read differ"):
        study.agree(sums, a_point(), "6")


def test_what_a_machine_lacks_is_said_with_its_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study, "_native_lacks", lambda question, *arguments: None)
    monkeypatch.setattr(study, "_filesystem", lambda place: "ext4")
    every = STUDY.points(PROFILES["smoke"], Sweep())
    assert {STUDY.missing(point, tmp_path) for point in every} == {None}
    monkeypatch.setattr(study, "_filesystem", lambda place: "tmpfs")
    why = {point.levels["cache"]: STUDY.missing(point, tmp_path) for point in every}
    assert why == {"cold": study.NO_COLD, "warm": None}
    monkeypatch.setattr(study, "_filesystem", lambda place: "ext4")
    lacking = {"io_uring_missing": "no io_uring", "direct_missing": "no O_DIRECT"}
    monkeypatch.setattr(study, "_native_lacks", lambda question, *arguments: lacking[question])
    assert {
        point.backend: STUDY.missing(point, tmp_path)
        for point in every
        if point.levels["cache"] == "warm"
    } == {**{"sync": None, "overlapped": "no io_uring", "mmap": None}}
    cold = {
        point.backend: STUDY.missing(point, tmp_path)
        for point in every
        if point.levels["direct"] == "yes"
    }
    assert cold == {"sync": "no O_DIRECT", "overlapped": "no io_uring"}
    monkeypatch.setattr(study, "memory_available", lambda source: 0)
    assert "take a smaller profile" in str(
        STUDY.missing(next(p for p in every if p.backend == "mmap"), tmp_path)
    )
    monkeypatch.setattr(native_shm, "find_spec", lambda name: None)
    assert STUDY.missing(every[0], tmp_path) == native_shm.native_missing()


def test_half_of_the_free_memory_holds_the_files_that_are_in_flight_and_warm_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    warm = a_point(arm="map", cache="warm")
    files = file_sets("smoke")["exp-small"]
    flying = sorted(files.sizes.tolist())[-sweeps.in_flight(warm) :]
    need = sum(flying) + files.on_disk
    for free, told in ((2 * need, False), (2 * need - 1, True)):
        monkeypatch.setattr(study, "memory_available", lambda _, free=free: free)
        why = study._no_memory(warm, files)
        assert bool(why) is told
    assert why and why.startswith(f"it keeps {need:,} bytes in memory and {2 * need - 1:,} are")
