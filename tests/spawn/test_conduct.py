"""A mechanism that leaves its CPUs, takes another priority or works while it is parked is refused."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from ipclab.errors import LabError
from ipclab.spawn.conduct import Conduct, ConductError, this_thread
from ipclab.spawn.heat import Contestant, Heat, Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.proof import PayloadError
from ipclab.spawn.started import Role
from ipclab.store.point import Point

CPUS = sorted(os.sched_getaffinity(0))
POINT = Point("test", "b", 1, "same")
SLOW = Role("end", "tests.support.heat_targets:sleeps", {}, frozenset(CPUS[:1]))


def ended(launcher: Launcher, how: str) -> LabError | None:
    """Return why one that behaves as `how` says is refused, beside one that takes its time."""
    bad = Role("end", "tests.support.heat_targets:behaves", {"how": how}, frozenset(CPUS[:1]))
    heat = {"bad": Contestant(POINT, [bad]), "good": Contestant(POINT, [SLOW])}
    ends = Heat(launcher, Schedule(turns=3, seconds=30)).run(heat)
    assert not isinstance(ends["good"], LabError)
    why = ends["bad"]
    return why if isinstance(why, LabError) else None


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("Restless", "while it was parked"),
        ("RestlessChild", "while it was parked"),
        ("Elsewhere", f"where CPU {CPUS[0]} was given"),
        ("ElsewhereChild", f"where CPU {CPUS[0]} was given"),
        ("First", "took another priority"),
    ],
)
def test_misconduct_is_refused_as_what_it_is(launcher: Launcher, how: str, told: str) -> None:
    if how.startswith("Elsewhere") and len(CPUS) == 1:
        pytest.skip("there is no other CPU to go to")
    why = ended(launcher, how)
    assert isinstance(why, PayloadError)  # so that no other launch is tried
    assert told in str(why)


def test_who_computes_in_its_turns_alone_is_not_accused(launcher: Launcher) -> None:
    assert ended(launcher, "Busy") is None


def test_where_others_have_the_process_too_its_thread_alone_is_looked_at() -> None:
    """A thread has a priority of its own (sched(7))."""

    def hurry() -> None:
        own = Conduct(this_thread)
        os.nice(1)
        own.check_place()

    here = Conduct(this_thread)
    with ThreadPoolExecutor(1) as pool:
        assert isinstance(pool.submit(hurry).exception(), ConductError)
        here.check_place()
