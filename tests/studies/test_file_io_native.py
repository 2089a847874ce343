"""The file-reading study on real files: every mix of roles, faults of the files, whole runs."""

import importlib.util
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ipclab.errors import LabError
from ipclab.machine.placement import Placement
from ipclab.paths import Paths
from ipclab.session.progress import Progress
from ipclab.session.request import Request
from ipclab.session.session import measure_run
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.store.samples import decode
from ipclab.studies.file_io import sets as making
from ipclab.studies.file_io.sets import Draw, FileSet
from ipclab.studies.file_io.study import FileIoStudy
from ipclab.studies.file_io.sweeps import roles_of_mix
from ipclab.studies.interface import Sweep
from ipclab.studies.limits import LimitsStudy
from ipclab.studies.profile import PROFILES
from tests.spawn.test_workers import CPUS

native: Any = pytest.importorskip("ipclab_native")
STUDY = FileIoStudy()
KIB = 1 << 10
SOME = FileSet(
    "some", 23, Draw("exponential", 1, 64 * KIB, 8 * KIB), Draw("identical", 1000, 1000, 1000), 5
)
MIXES = (
    "1SYNC",
    "3SYNC",
    "1RnC",
    "4RnC",
    "2CnR",
    "1R+1C",
    "1R+3C",
    "3R+1C",
    "2RnC+2C",
    "1R+1RnC+1CnR+1C",
    "1SYNC+1RnC",
)
RING = native.io_uring_missing()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """The set's folder, and the checksum of its contents as Python computes it."""
    with making.made_sets(
        tmp_path_factory.mktemp("scratch"), [SOME], native, lambda line: None
    ) as found:
        folder = found.folder("some")
        total = 0
        for index in range(SOME.count):
            content = (folder / "0000" / f"{index:07}").read_bytes()
            assert len(content) == SOME.sizes[index]
            words = np.frombuffer(content + bytes(-len(content) % 8), "<u8")
            total += (2 * index + 1) * int(words.sum(dtype=np.uint64))
        yield folder, str(total % 2**64)


def read(
    launcher: Launcher, folder: Path, method: str, mix: str, cache: str = "warm", **plan: Any
) -> Launch:
    whole = {
        **{
            "method": method,
            "roles": roles_of_mix(mix),
            "in_flight": 4,
            "depth": 4,
            "checksum_rounds": 1,
        },
        **{"deadline_ns": 20 * 10**9, **plan},
    }
    arguments = {
        "folder": str(folder),
        "files": asdict(SOME),
        "cache": cache,
        "plan": whole,
        "most": 1000,
    }
    role = Role(
        "engine",
        "ipclab.studies.file_io.engine:read_file_set",
        {**arguments, "timeline": True, "verify": True},
        CPUS,
    )
    return STUDY.collect(Point("file_io", method, 1, "free"), launcher.launch([role], 60), 1)


@pytest.mark.parametrize(("method", "mix"), list(product(("sync", "overlapped", "mmap"), MIXES)))
def test_every_mix_reads_every_file_once(
    launcher: Launcher, files: tuple[Path, str], method: str, mix: str
) -> None:
    if method == "overlapped" and RING:
        pytest.skip(RING)
    folder, checksum = files
    done = read(launcher, folder, method, mix)
    assert (done.facts["files"], done.facts["bytes"], done.facts["checksum"]) == (
        SOME.count,
        SOME.bytes,
        checksum,
    )
    threads: Any = done.facts["threads"]
    assert sum(each["files_read"] for each in threads) == SOME.count
    assert sum(each["files_computed"] for each in threads) == SOME.count
    assert len(done.samples["file.open"]) == SOME.count
    most: Any = done.facts["max_open_files"]
    assert most <= 1024


@pytest.mark.parametrize("buffer", ["fresh", "prefaulted", "registered"])
def test_reading_past_the_cache_leaves_it_cold(
    launcher: Launcher, files: tuple[Path, str], buffer: str
) -> None:
    folder, checksum = files
    if why := RING or native.direct_missing(str(folder)):
        pytest.skip(why)
    plan = {"direct": True, "buffer": buffer, "checksum_rounds": 0}
    done = read(launcher, folder, "overlapped", "1RnC", "cold", **plan)
    assert done.facts["checksum"] == checksum  # of the proof, after the timed reading
    assert done.facts["resident_share_before"] == 0.0


@pytest.mark.parametrize("method", ["sync", "mmap"])
def test_a_file_that_is_gone_or_short_is_said(
    launcher: Launcher, tmp_path: Path, method: str
) -> None:
    with making.made_sets(tmp_path, [SOME], native, lambda line: None) as found:
        folder = found.folder("some")
        (folder / "0000" / "0000003").unlink()
        with pytest.raises(LabError, match="No such file"):
            read(launcher, folder, method, "2SYNC")


def test_content_follows_from_the_seed(tmp_path: Path) -> None:
    digests = []
    for name, each in (("a", SOME), ("b", SOME), ("c", replace(SOME, seed=6))):
        with making.made_sets(tmp_path / name, [each], native, lambda line: None) as found:
            digests.append(found.there["some"]["digest"])
    assert digests[0] == digests[1] != digests[2]


FEW = {"arm": "fault", "set": "size-4096"}
EVERY = FileIoStudy.points


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave a few points of the study, and none of the limits."""

    def few(self: Any, *how: Any) -> list[Any]:
        return [each for each in EVERY(self, *how) if FEW.items() <= each.levels.items()]

    monkeypatch.setattr(FileIoStudy, "points", few)
    monkeypatch.setattr(LimitsStudy, "points", lambda self, profile, sweep: [])


@pytest.mark.slow
def test_a_run_keeps_the_sets_digest_and_removes_the_files(
    paths: Paths, small: None, tmp_path: Path
) -> None:
    scratch = tmp_path / "scratch"
    request = Request(("file_io",), "smoke", seed=3, scratch=scratch)
    run = measure_run(paths, request, Progress())
    noted = run.about["notes"]["file_io"]["sets"]["size-4096"]
    assert (noted["bytes"], noted["count"], len(noted["digest"])) == (64 * 4096, 64, 32)
    assert not scratch.exists()
    assert run.about["failures"] == {}
    for path in run.checked("points/file_io/").values():
        found = decode(path)
        cold = found.point.levels["cache"] == "cold"
        shares = [float(str(launch.facts["resident_share_before"])) for launch in found.launches]
        assert all(share <= 0.01 if cold else share >= 0.99 for share in shares)
    again = measure_run(
        paths,
        Request(("file_io",), "smoke", seed=4, scratch=scratch, keep_scratch=True),
        Progress(),
    )
    assert again.about["notes"]["file_io"]["sets"] == run.about["notes"]["file_io"]["sets"]
    assert (
        scratch / "ipclab-scratch-file-io" / "size-4096" / "0000" / "0000063"
    ).stat().st_size == 4096


@pytest.mark.slow
def test_in_memory_nothing_is_cold(paths: Paths, small: None, tmp_path: Path) -> None:
    shm = Path("/dev/shm") / f"ipclab-test-{tmp_path.parent.name}-{tmp_path.name}"
    run = measure_run(paths, Request(("file_io",), "smoke", scratch=shm), Progress())
    words = set(run.about["points"].values())
    assert words == {
        "not testable here: files in memory (tmpfs) are never cold; name a folder on a disk:"
        " --scratch DIR"
    }
    assert {
        decode(path).point.levels["cache"] for path in run.checked("points/file_io/").values()
    } == {"warm"}
    assert not shm.exists()


def test_pinned_threads_are_told_their_cpus() -> None:
    cross = Placement("cross", (frozenset({3}), frozenset({5})), "core")
    point = next(
        each for each in STUDY.points(PROFILES["smoke"], Sweep()) if each.placement == "cross"
    )
    assert STUDY.roles(point, PROFILES["smoke"], cross, 1)[0].arguments["plan"]["cpus"] == [3, 5]
    assert importlib.util.find_spec("ipclab_native")
