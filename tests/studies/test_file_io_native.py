"""The file-reading study on real files: a launch of its worker, and of some of its points."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from ipclab.spawn.heat import Contestant, Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
from ipclab.spawn.worker import Outcome
from ipclab.store.point import Point
from ipclab.studies.file_io import sets as making
from ipclab.studies.file_io.sets import Draw, FileSet
from ipclab.studies.file_io.study import NO_COLD, FileIoStudy
from ipclab.studies.file_io.sweeps import in_timeline
from ipclab.studies.interface import Site, Sweep
from ipclab.studies.profile import PROFILES
from tests.studies.test_file_engine import checksum
from tests.support.measured import CPUS, FREE

native: Any = pytest.importorskip("ipclab_native")
STUDY, SMOKE = FileIoStudy(), PROFILES["smoke"]
KIB = 1 << 10
SOME = FileSet(
    "some", 23, Draw("exponential", 1, 64 * KIB, 8 * KIB), Draw("identical", 1000, 1000, 1000), 5
)


def test_a_launch_of_the_worker_tells_times_and_proves_them_afterwards(
    launcher: Launcher, tmp_path: Path
) -> None:
    plan = {
        "method": "sync",
        "roles": ["read-then-compute"],
        "in_flight": 4,
        "checksum_rounds": 0,  # none while it is timed
        "deadline_ns": 20 * 10**9,
    }
    arguments = {"files": asdict(SOME), "cache": "warm", "plan": plan, "most": 1000}
    arguments |= {"timeline": True, "verify": True}
    with making.made_sets(tmp_path, [SOME], native, lambda line: None) as found:
        folder = found.folder("some")
        told = {**arguments, "folder": str(folder)}
        role = Role("engine", "ipclab.studies.file_io.engine:read_file_set", told, CPUS)
        outcomes = launcher.launch([role], 60)
        done = STUDY.collect(Point("file_io", "sync", 1, "free"), outcomes, 1)
        assert done.facts["checksum"] == str(checksum(folder, SOME.sizes.tolist()))
    assert float(str(done.facts["resident_share_before"])) >= 0.99
    assert (done.facts["files"], done.facts["bytes"]) == (SOME.count, SOME.bytes)
    assert len(done.samples["elapsed"]) == 1
    assert len(done.samples["file.open"]) == len(done.samples["file.compute"]) == SOME.count
    assert {"read", "compute"} <= {span[1] for span in done.facts["spans"]}  # type: ignore[attr-defined]


@pytest.mark.parametrize("keep", [False, True])
def test_a_study_notes_its_files_proves_how_cold_they_were_and_keeps_them_if_it_is_asked_to(
    launcher: Launcher, tmp_path: Path, keep: bool
) -> None:
    few = {"arm": "fault", "set": "size-4096"}.items()
    every = [each for each in STUDY.points(SMOKE, Sweep()) if few <= each.levels.items()]
    points = [each for each in every if not STUDY.missing(each, tmp_path)]
    heat = {each.id: Contestant(each, STUDY.roles(each, SMOKE, FREE, 3)) for each in points}
    notes: dict[str, Any] = {}
    site = Site(launcher, tmp_path, lambda *file: None, notes.__setitem__, print, keep)
    with STUDY.open(site, points, SMOKE, 1) as bench:
        ends = bench(heat, Schedule(seconds=60))
    for point in points:
        outcomes = ends[point.id]
        assert isinstance(outcomes, dict), outcomes
        share = outcomes["engine"].facts["resident_share_before"]
        assert share <= 0.01 if point.levels["cache"] == "cold" else share >= 0.99
    noted = notes["file_io"]["sets"]["size-4096"]
    assert (noted["bytes"], noted["count"], len(noted["digest"])) == (64 * 4096, 64, 32)
    last = tmp_path / "ipclab-scratch-file-io" / "size-4096" / "0000" / "0000063"
    assert last.exists() == keep


def test_in_memory_nothing_is_cold() -> None:
    points = STUDY.points(SMOKE, Sweep(backends=("sync",)))
    cold = [point for point in points if point.levels["cache"] == "cold"]
    assert {STUDY.missing(point, Path("/dev/shm/nowhere")) for point in cold} == {NO_COLD}


class Asked:
    """A launcher that notes what it is asked to launch."""

    def __init__(self) -> None:
        self.timelines: list[bool] = []
        self.verified: list[bool] = []

    def launch(self, roles: Sequence[Role], seconds: float) -> dict[str, Outcome]:
        (role,) = roles
        self.timelines.append(role.arguments["timeline"])
        self.verified.append(role.arguments["verify"])
        return {"engine": Outcome(facts={"checksum": "1"})}


@pytest.mark.parametrize("drawn", [True, False])
def test_the_first_launch_alone_is_verified_and_keeps_spans_if_they_are_drawn(
    tmp_path: Path, drawn: bool
) -> None:
    few = {"arm": "map", "set": "exp-small"}.items()
    every = (each for each in STUDY.points(SMOKE, Sweep()) if few <= each.levels.items())
    point = next(each for each in every if in_timeline(each) is drawn)
    asked: Any = Asked()
    heat = {point.id: Contestant(point, STUDY.roles(point, SMOKE, FREE, 3))}
    site = Site(asked, tmp_path, lambda *file: None, lambda *note: None, print, True)
    with STUDY.open(site, [point], SMOKE, 1) as bench:
        for _ in range(2):
            bench(heat, Schedule(seconds=60))
    assert (asked.verified, asked.timelines) == ([True, False], [drawn, False])
