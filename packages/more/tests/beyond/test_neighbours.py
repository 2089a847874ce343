"""Neighbours: hogs that are proved to work and die with who started them; points where no CPU is
left for them.
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ipclab.machine.placement import Placement
from ipclab.machine.topology import Cache, Topology
from ipclab.paths import Paths
from ipclab.session.progress import Progress
from ipclab.session.request import Request
from ipclab.session.session import measure_run
from ipclab.spawn import scratch
from ipclab.spawn.failures import LaunchError
from ipclab.spawn.launcher import Launcher
from ipclab.store.samples import decode
from ipclab.studies.interface import Sweep
from ipclab.studies.profile import PROFILES
from ipclab_more.studies import neighbours
from ipclab_more.studies.neighbours import (
    HOGS,
    NEIGHBOURS,
    OTHER,
    OWN,
    QUIET,
    NeighboursStudy,
    hog_cpus,
)
from ipclab_more.studies.neighbours.ends import fair
from ipclab_more.studies.neighbours.hogs import KINDS, IdleHogError, check_busy, hogs_on

STUDY, SMOKE = NeighboursStudy(), PROFILES["smoke"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_hog_counts_its_work_and_is_gone_after_the_block(kind: str, tmp_path: Path) -> None:
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    others = set(children.read_text().split())  # of tests before
    with hogs_on(kind, [min(os.sched_getaffinity(0))], "nice", str(tmp_path)) as hogs:
        (first,) = hogs.steps()
        assert first > 0
        (hog,) = set(children.read_text().split()) - others
        deadline = time.monotonic() + 60
        while hogs.steps() == [first] and time.monotonic() < deadline:
            time.sleep(0.01)
        assert hogs.steps()[0] > first
        assert os.getpriority(os.PRIO_PROCESS, int(hog)) == 19
    assert set(children.read_text().split()) <= others
    assert not list(tmp_path.iterdir())


def test_a_hog_rests_while_its_contestant_is_parked(tmp_path: Path) -> None:
    with hogs_on("cpu", [min(os.sched_getaffinity(0))], "plain", str(tmp_path)) as hogs:
        hogs.rest()
        before = hogs.steps()
        time.sleep(0.05)
        assert hogs.steps() == before
        hogs.work()
        assert hogs.steps() > before


def test_no_hog_is_none() -> None:
    with hogs_on("", [], "plain", "") as hogs:
        assert hogs.steps() == []
        assert check_busy(QUIET, hogs.steps(), hogs.steps()) == 0


def test_a_hog_that_stands_still_is_an_error() -> None:
    with pytest.raises(IdleHogError, match="its counter stood still"):
        check_busy("memory-copy", [5, 9], [6, 9])
    assert check_busy("memory-copy", [5, 9], [6, 11]) == 3


def test_a_hog_dies_with_a_killed_parent(tmp_path: Path) -> None:
    code = (
        "import sys, time; from ipclab_more.studies.neighbours.hogs import hogs_on\nwith hogs_on('wakes',"
        f" [{min(os.sched_getaffinity(0))}], 'nice', ''): print('on', flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as parent:
        assert parent.stdout and parent.stdout.readline() == b"on\n"
        hog = int(Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text())
        sleepers = Path(f"/proc/{hog}/task/{hog}/children").read_text().split()
        assert len(sleepers) == 8
        parent.kill()
    deadline = time.monotonic() + 60
    while (
        there := [pid for pid in (str(hog), *sleepers) if _runs(pid)]
    ) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not there


def _runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def topology_of(count: int) -> Topology:
    """Return a machine of `count` cores with one cache for all."""
    every = frozenset(range(count))
    cores = tuple(frozenset({cpu}) for cpu in every)
    return Topology(
        every, tuple(every), cores, (Cache(3, "Unified", 1 << 25, 64, every),), (every,), (every,)
    )


@pytest.mark.parametrize(
    ("cpus", "neighbour", "placement", "found"),
    [
        (1, QUIET, "same", []), (1, OWN, "same", [0]), (1, OTHER, "same", []), (1, "memory-copy", "same", []),
        (2, OWN, "cross", [1]), (2, OTHER, "same", [1]), (2, OTHER, "cross", []), (4, "writeback", "cross", [2]),
        (256, "memory-copy", "same", [1, 2]), (256, "wakes", "cross", [2]),
    ],
)  # fmt: skip
def test_hogs_have_a_cpu_of_their_own_or_that_of_the_asking_end(
    cpus: int, neighbour: str, placement: str, found: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbours, "_topology", lambda: topology_of(cpus))
    assert hog_cpus(neighbour, placement) == found


def test_what_has_no_cpu_is_not_testable_and_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(neighbours, "_topology", lambda: topology_of(1))
    points = STUDY.points(SMOKE, Sweep(backends=("pipe",)))
    why = {
        point.levels["neighbour"]: STUDY.missing(point, tmp_path)
        for point in points
        if point.placement == "same"
    }
    assert {name for name, reason in why.items() if reason is None} == {QUIET, OWN}
    assert "a CPU that neither end is on" in str(why["wakes"])


def test_a_neighbour_that_writes_needs_a_disk() -> None:
    point = next(
        point for point in STUDY.points(SMOKE, Sweep()) if point.levels["neighbour"] == "writeback"
    )
    if hog_cpus("writeback", point.placement):
        assert "--scratch" in str(STUDY.missing(point, Path("/dev/shm/below")))


def test_real_time_is_asked_for_before_it_is_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(neighbours, "_fifo_permitted", lambda: False)
    points = [
        point for point in STUDY.points(SMOKE, Sweep()) if point.levels["isolation"] == "sched-fifo"
    ]
    assert points
    assert all("ulimit -r" in str(STUDY.missing(point, tmp_path)) for point in points)


def test_the_study_is_asked_for_by_name_in_short_profiles() -> None:
    assert "neighbours" not in Request().names()
    assert "neighbours" in Request(profile="standard").names()
    assert "neighbours" in Request(("neighbours",)).names()
    levels = {
        point.levels["neighbour"]
        for point in STUDY.points(SMOKE, Sweep(levels={"neighbour": (OWN,)}))
    }
    assert levels == {QUIET, OWN}
    assert set(HOGS) | {QUIET} == set(NEIGHBOURS)


@pytest.mark.slow
def test_each_launch_beside_a_hog_tells_what_the_hog_did(paths: Paths) -> None:
    sweep = Sweep(
        None, ("unix",), {"placement": ("same",), "neighbour": (OWN,), "isolation": ("nice",)}
    )
    run = measure_run(paths, Request(("neighbours",), "smoke", sweep=sweep), Progress())
    assert not run.about["failures"]
    found = [decode(file) for file in run.point_files() if file.parent.name == "neighbours"]
    beside_one = [each for each in found if each.point.levels["neighbour"] == OWN]
    # the closed loop; one a millisecond, the neighbour as it is and at nice 19
    assert len(beside_one) == 3
    for each in beside_one:
        assert all(launch.facts["hog_steps"] > 0 for launch in each.launches)  # type: ignore[operator]
        assert not any("run-queue" in launch.flags for launch in each.launches)
    assert not any(
        "hog_steps" in launch.facts
        for each in found
        if each not in beside_one
        for launch in each.launches
    )


def test_a_slice_of_the_neighbour_in_the_warm_up_does_not_shorten_a_launch() -> None:
    quick, slow = np.full(10, 4_000), np.full(10, 4_000_000)
    unlucky = np.array([4_000] * 8 + [5_000_000] * 2)
    often = np.array([4_000] * 5 + [5_000_000] * 5)
    found = [fair(first, 0, 60_000_000, 20, 20_000) for first in (quick, unlucky, often, slow)]
    assert found == [15_000, 15_000, 159, 20]
    assert fair(quick, 1_000_000, 60_000_000, 20, 20_000) == 59


def test_a_launch_whose_hog_does_nothing_fails(tmp_path: Path) -> None:
    point = next(
        each
        for each in STUDY.points(SMOKE, Sweep(backends=("pipe",)))
        if (each.levels["neighbour"], each.placement, each.levels["arm"]) == (OWN, "same", "main")
    )
    cpu = min(os.sched_getaffinity(0))
    roles = STUDY.roles(
        point, STUDY.effort(SMOKE), Placement("same", (frozenset({cpu}),), "same"), 1
    )
    roles[1].arguments["hog"] = "none of them"  # its process ends at once
    with (
        Launcher(tmp_path / "ledger") as launcher,
        pytest.raises(LaunchError, match="did not start"),
    ):
        launcher.launch(roles, 60)


def test_its_folder_is_one_that_is_removed_with_the_session(tmp_path: Path) -> None:
    owned: list[Path] = []
    site: Any = SimpleNamespace(
        scratch=tmp_path / "scratch", own_scratch=owned.append, workers=None
    )
    with STUDY.open(site, [], PROFILES["smoke"], 1):
        (folder,) = owned
        assert STUDY.folder == str(folder) and folder.is_dir()
        assert not scratch.remove_subfolder(folder)  # while it is in use
    assert scratch.remove_subfolder(folder)
    assert not list(tmp_path.iterdir())
