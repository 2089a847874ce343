"""Windows to spin before a sleep: what is swept, what waits do in them, and what a launch tells."""

import numpy as np
import pytest

from ipclab.backends.installed import backend as find
from ipclab.backends.waiting import spun
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.proof import PROVED
from ipclab.store.launch import Launch
from ipclab.studies.interface import Sweep
from ipclab.studies.profile import PROFILES
from ipclab_more.studies.spin import ALWAYS_NS, SpinStudy
from tests.support.measured import FREE

STUDY = SpinStudy()
MECHANISMS = ("posix-shm", "shm-eventfd", "shm-futex", "shm-ring", "unix")


def test_who_never_sleeps_has_a_cpu_of_its_own_unless_it_is_asked_for() -> None:
    usual = STUDY.points(PROFILES["quick"], Sweep(backends=("unix",)))
    found = {(point.placement, point.levels["spin_ns"]) for point in usual}
    few = (0, 10_000, 30_000, 100_000)
    same = {("same", window) for window in few}
    assert found == same | {("cross", window) for window in (*few, ALWAYS_NS)}
    asked = STUDY.points(PROFILES["quick"], Sweep(levels={"spin_ns": (ALWAYS_NS,)}))
    assert {point.placement for point in asked} == {"same", "cross"}
    assert {point.levels["spin_ns"] for point in asked} == {ALWAYS_NS}


def test_a_window_of_nothing_asks_once_and_a_long_one_until_it_is_there() -> None:
    answers = iter([False, False, True])
    asked = list[bool]()

    def ready() -> bool:
        asked.append(next(answers))
        return asked[-1]

    assert not spun("0", ready, 10**9)
    assert asked == [False]
    assert spun("1000000000", ready, 10**9)
    assert asked == [False, False, True]
    assert not spun("1000000000000", lambda: False, 1_000)  # never beyond the deadline


def launched(launcher: Launcher, backend: str, spin_ns: int, arm: str = "main") -> Launch:
    """Return one launch of a gap of 1 ms, or of gaps about 100 us."""
    effort = STUDY.effort(PROFILES["smoke"])
    gaps = {"gap_ns": (1_000_000,), "spin_ns": (spin_ns,)}
    points = STUDY.points(effort, Sweep(backends=(backend,), levels=gaps))
    point = next(point for point in points if point.levels["arm"] == arm)
    return STUDY.collect(point, launcher.launch(STUDY.roles(point, effort, FREE, 7), 60), 7)


@pytest.mark.parametrize("backend", MECHANISMS)
def test_who_has_no_window_sleeps_and_whose_window_is_longer_than_the_gap_does_not(
    launcher: Launcher, backend: str
) -> None:
    if why := find(backend).missing():
        pytest.skip(why)
    asleep, awake = (launched(launcher, backend, window) for window in (0, ALWAYS_NS))
    shares = [float(str(launch.facts["slept_share"])) for launch in (asleep, awake)]
    assert shares[0] >= 0.4  # the echo does, at each gap
    assert shares[1] < 0.4
    for launch in (asleep, awake):
        turns = len(launch.turns["round-trip"])
        assert len(launch.samples["cpu"]) == len(launch.samples["period"]) == turns
        assert np.all(launch.samples["period"] >= 1_000_000)
        busy = launch.samples["cpu"] / launch.samples["period"]
        assert np.all((busy > 0) & (busy < 2.2))  # of two ends


def test_gaps_that_vary_have_a_proof_too(launcher: Launcher) -> None:
    launch = launched(launcher, "posix-shm", 0, arm="exponential")
    messages, compared = (launch.facts[name] for name in PROVED)
    assert messages == compared  # short ones are compared whole
    assert len(launch.samples["round-trip"]) <= messages  # type: ignore[operator]
