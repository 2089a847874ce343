"""The file-reading study on real files: a launch of its worker, and a whole run."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from ipclab.paths import Paths
from ipclab.session.progress import Progress
from ipclab.session.request import Request
from ipclab.session.session import measure_run
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
from ipclab.store.point import Point
from ipclab.store.samples import decode
from ipclab.studies.file_io import sets as making
from ipclab.studies.file_io.sets import Draw, FileSet
from ipclab.studies.file_io.study import NO_COLD, FileIoStudy
from ipclab.studies.interface import Site, Sweep
from ipclab.studies.limits import LimitsStudy
from ipclab.studies.profile import PROFILES
from tests.spawn.test_workers import CPUS
from tests.studies.test_file_engine import checksum

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


@pytest.mark.slow
def test_a_run_keeps_the_sets_digest_and_removes_the_files(
    paths: Paths, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    few, every = {"arm": "fault", "set": "size-4096"}, FileIoStudy.points

    def points(self: Any, *how: Any) -> list[Point]:
        return [each for each in every(self, *how) if few.items() <= each.levels.items()]

    monkeypatch.setattr(FileIoStudy, "points", points)
    monkeypatch.setattr(LimitsStudy, "points", lambda self, profile, sweep: [])
    scratch = tmp_path / "scratch"
    run = measure_run(paths, Request(("file_io",), "smoke", seed=3, scratch=scratch), Progress())
    noted = run.about["notes"]["file_io"]["sets"]["size-4096"]
    assert (noted["bytes"], noted["count"], len(noted["digest"])) == (64 * 4096, 64, 32)
    assert not scratch.exists()
    assert run.about["failures"] == {}
    for path in run.checked("points/file_io/").values():
        found = decode(path)
        cold = found.point.levels["cache"] == "cold"
        shares = [float(str(launch.facts["resident_share_before"])) for launch in found.launches]
        assert all(share <= 0.01 if cold else share >= 0.99 for share in shares)


@pytest.mark.parametrize("keep", [False, True])
def test_files_go_at_the_end_unless_they_are_kept(
    launcher: Launcher, tmp_path: Path, keep: bool
) -> None:
    points = STUDY.points(SMOKE, Sweep())
    few = [point for point in points if point.levels["set"] == "size-4096"]
    site = Site(launcher, tmp_path, lambda *file: None, lambda *entry: None, print, keep)
    with STUDY.open(site, few, SMOKE, 1):
        pass
    last = tmp_path / "ipclab-scratch-file-io" / "size-4096" / "0000" / "0000063"
    assert last.exists() == keep


def test_in_memory_nothing_is_cold() -> None:
    points = STUDY.points(SMOKE, Sweep(backends=("sync",)))
    cold = [point for point in points if point.levels["cache"] == "cold"]
    assert {STUDY.missing(point, Path("/dev/shm/nowhere")) for point in cold} == {NO_COLD}
