"""The pairs of CPUs: which are measured on made-up machines of 2, 8, 64 and 256 CPUs, and that a
pair is.
"""

import os
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import pytest

from ipclab.bounds import cpu_pairs
from ipclab.machine import Source, Topology
from ipclab.machine.placement import Placement
from ipclab.spawn.heat import Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.store.validity import possible
from ipclab.studies.interface import Sweep
from ipclab.studies.limits import LimitsStudy, pairs
from ipclab.studies.profile import PROFILES
from tests.support.made_up import cpu_files, made
from tests.support.measured import measured


@dataclass(frozen=True)
class Made:
    """A machine: sockets of so many cores with so many threads, a last-level cache for every
    `together` cores.
    """

    sockets: int
    cores: int
    threads: int
    together: int

    @property
    def cpus(self) -> int:
        return self.sockets * self.cores * self.threads

    def members(self, first: int, count: int) -> str:
        """Return the CPUs of `count` cores from core `first` on; a core's further threads come
        after all cores.
        """
        every = self.sockets * self.cores
        return ",".join(
            f"{first + every * thread}-{first + count - 1 + every * thread}"
            for thread in range(self.threads)
        )

    def topology(self, root: Path) -> Topology:
        files = {"/sys/devices/system/cpu/online": f"0-{self.cpus - 1}\n"}
        for socket in range(self.sockets):
            files[f"/sys/devices/system/node/node{socket}/cpulist"] = self.members(
                socket * self.cores, self.cores
            )
        for cpu in range(self.cpus):
            core = cpu % (self.sockets * self.cores)
            own = self.members(core, 1)
            package = self.members(core // self.cores * self.cores, self.cores)
            last = self.members(core // self.together * self.together, self.together)
            caches = {1: ("32K", own), 2: ("1024K", own), 3: ("32768K", last)}
            files |= cpu_files(cpu, own, package, caches)
        return Topology.read(made(root, files, set(range(self.cpus))))


ONE, DESK, SERVER, LARGE = Made(1, 1, 1, 1), Made(1, 4, 2, 4), Made(2, 16, 2, 8), Made(2, 64, 2, 8)


@pytest.mark.parametrize(
    ("made", "counts"),
    [
        (ONE, {}),
        (DESK, {"smt": 4, "l3": 24}),
        (SERVER, {"smt": 32, "l3": 448, "numa": 512, "remote": 1024}),
        pytest.param(
            LARGE, {"smt": 32, "l3": 32, "numa": 32, "remote": 32}, marks=pytest.mark.slow
        ),
    ],
)
def test_each_pair_is_measured_once_and_of_many_cpus_a_sample_of_each_kind(
    made: Made, counts: dict[str, int], tmp_path: Path
) -> None:
    topology = made.topology(tmp_path)
    found = pairs.pairs_to_time(topology)
    assert {relation: len(part) for relation, part in found.items()} == counts
    together = [pair for part in found.values() for pair in part]
    assert len(set(together)) == len(together)
    if made.cpus <= pairs.MOST_CPUS:
        assert set(together) == set(combinations(range(made.cpus), 2))
    else:  # from the first CPUs to the last
        assert (found["smt"][0], found["smt"][-1]) == ((0, 128), (127, 255))
    for relation, part in found.items():
        assert {topology.relation(*pair) for pair in part} == {relation}


def test_the_points_are_one_for_each_kind_and_their_ops_are_the_pairs(tmp_path: Path) -> None:
    near, far = pairs.relation_points(DESK.topology(tmp_path))
    assert near.levels == {"shares": "smt"}
    assert near.primary == ("cpu0-cpu4", "cpu1-cpu5", "cpu2-cpu6", "cpu3-cpu7")
    assert [cpu_pairs.cpu_pair_of(name) for name in far.primary][:2] == [(0, 1), (0, 2)]
    assert all(cpu_pairs.op(cpu_pairs.cpu_pair_of(name)) == name for name in far.primary)


def test_a_run_has_the_pairs_from_standard_on_unless_limits_are_named() -> None:
    study = LimitsStudy()
    if not study.backends() or len(os.sched_getaffinity(0)) == 1:
        pytest.skip("the native package is not built here, or there is one CPU")
    asked = {name: study.points(profile, Sweep()) for name, profile in PROFILES.items()}
    have = {
        name
        for name, points in asked.items()
        if any(point.backend == cpu_pairs.NAME for point in points)
    }
    assert have == {"standard", "full", "published"}
    assert cpu_pairs.NAME not in {
        point.backend for point in study.points(PROFILES["full"], Sweep(backends=("unix",)))
    }


def test_a_pair_of_cpus_is_timed(launcher: Launcher) -> None:
    study, cpus = LimitsStudy(), sorted(os.sched_getaffinity(0))
    if not study.backends() or len(cpus) == 1:
        pytest.skip("the native package is not built here, or there is one CPU")
    point = pairs.relation_points(Topology.read(Source()))[0]
    anywhere = Placement("cross", tuple(frozenset({cpu}) for cpu in cpus), "l3")
    roles = study.roles(point, PROFILES["smoke"], anywhere, 1)
    (made,) = measured(launcher, study, [(point, roles)], Schedule(turns=2))
    possible(point, [made], f"{point.study}/{point.id}")  # it can be stored
    assert set(made.samples) == set(point.primary)
    assert made.facts["relation"] == point.levels["shares"]
    for op, samples in made.samples.items():
        assert 3 <= len(samples) <= pairs.KEPT, op
        assert made.turns[op] == [len(samples)]
        assert (samples > 0).all()
