"""Heats: contestants take turns in a seeded order, and one that fails costs no other its launch."""

from pathlib import Path

import pytest

from ipclab.errors import LabError
from ipclab.session.heats import MOST, groups_with_limits, heats, packed, parted
from ipclab.spawn.heat import LEAST_TURNS, Contestant, Heat, Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
from ipclab.store.point import Point
from ipclab.studies.installed import study
from ipclab.studies.interface import Site, Sweep
from ipclab.studies.profile import profile
from tests.support.commands import names_of, processes_of, servers_of
from tests.support.measured import CPUS

POINT = Point("test", "b", 1, "free")


def contestant(target: str, **arguments: object) -> Contestant:
    return Contestant(POINT, [Role("end", f"tests.support.heat_targets:{target}", arguments, CPUS)])


def counting(log: Path, count: int) -> dict[str, Contestant]:
    """Return contestants that keep their number."""
    return {
        f"c{number}": contestant("count", number=number, log=str(log)) for number in range(count)
    }


def test_contestants_take_turns_in_an_order_that_the_seed_gives(
    launcher: Launcher, tmp_path: Path
) -> None:
    schedule = Schedule(turns=4, warm_turns=2, seed="7")
    logs = [tmp_path / "one", tmp_path / "two"]
    for log in logs:
        ends = Heat(launcher, schedule).run(counting(log, 3))
        assert sorted(ends) == ["c0", "c1", "c2"]
        for number, ended in enumerate(ends[name] for name in sorted(ends)):
            assert not isinstance(ended, LabError)
            outcome = ended["end"]
            assert outcome.samples["op"].tolist() == [number] * 8  # of the turns that are recorded
            assert outcome.turns["op"] == [2] * 4
            assert outcome.facts["done"]
    order = logs[0].read_text().split()
    assert order == logs[1].read_text().split()
    rounds = [order[k : k + 3] for k in range(0, len(order), 3)]
    assert [sorted(each) for each in rounds] == [["0", "1", "2"]] * 6
    assert len({tuple(each) for each in rounds}) > 1


def test_who_takes_no_turns_runs_while_the_others_are_parked(
    launcher: Launcher, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    contestants = {**counting(log, 2), "straight": contestant("straight", log=str(log))}
    ends = Heat(launcher, Schedule(turns=2)).run(contestants)
    assert log.read_text().split()[0] == "straight"
    assert {name for name, ended in ends.items() if not isinstance(ended, LabError)} == set(
        contestants
    )


def test_ends_that_the_scheduler_places_have_nobody_beside_them(
    launcher: Launcher, tmp_path: Path
) -> None:
    if len(CPUS) == 1:
        pytest.skip("one CPU leaves the scheduler no choice")
    log = tmp_path / "log"
    target = "tests.support.heat_targets:count"
    heat = {}
    for number in range(4):
        cpus = CPUS if number < 2 else frozenset({min(CPUS)})
        roles = [
            Role(name, target, {"number": number, "log": str(log)}, cpus) for name in ("one", "two")
        ]
        heat[f"c{number}"] = Contestant(POINT, roles)
    site = Site(launcher, tmp_path, lambda *file: None, lambda *entry: None, print)
    ends = site.workers(heat, Schedule(turns=3, seed="7"))
    assert sorted(ends) == ["c0", "c1", "c2", "c3"]
    order = log.read_text().split()
    assert set(order[:12]) == {"2", "3"}  # pinned ones take turns, two ends each
    assert order[:12] != sorted(order[:12])
    assert sorted(order[12:]) == ["0"] * 6 + ["1"] * 6
    assert len(set(order[12:18])) == 1


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("kill", "was killed by SIGKILL"),
        ("parked", "was killed by SIGKILL"),
        ("error", "ValueError: no such turn"),
        pytest.param("hang", "did not finish within 3 s", marks=pytest.mark.slow),
        ("end", "ended before its last turn"),
    ],
)
def test_one_that_fails_costs_its_own_launch_alone(
    launcher: Launcher, tmp_path: Path, how: str, why: str
) -> None:
    log = tmp_path / "log"
    ends_of_it = [
        Role("end", "tests.support.heat_targets:fail", {"how": how, "log": str(log)}, CPUS),
        Role("peer", "tests.support.heat_targets:waits", {"log": str(log)}, CPUS),
    ]
    contestants = {**counting(log, 3), "bad": Contestant(POINT, ends_of_it)}
    ends = Heat(launcher, Schedule(turns=100 if how == "parked" else 6, seconds=3)).run(contestants)
    bad = ends.pop("bad")
    assert isinstance(bad, LabError)
    assert why in str(bad)
    for ended in ends.values():
        assert not isinstance(ended, LabError)
        assert ended["end"].facts["done"]
    assert processes_of(launcher.session.id) == servers_of(launcher)
    assert names_of(launcher.session.id) == []


def test_what_is_compared_is_in_one_heat_and_every_point_in_some() -> None:
    for name in ("round_trip", "multiplexer", "calibration"):
        each = study(name)
        points = each.points(each.effort(profile("standard")), Sweep())
        found = heats(points)
        assert {point for heat in found for point in heat} == {point.id for point in points}
        assert max(map(len, found)) <= MOST
        placement = {point.id: point.placement for point in points}
        assert all(len({placement[point] for point in heat}) == 1 for heat in found)


def test_what_does_not_fit_one_heat_is_parted_and_shares_a_contestant(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    contests = [[f"{group}{n}" for n in range(9)] for group in "abc"]
    monkeypatch.setattr("ipclab.session.heats.MOST", 12)
    found = packed(contests)
    assert [len(heat) for heat in found] == [9, 10, 10]
    assert all("a0" in heat for heat in found)
    assert any(set(contests[1]) <= set(heat) for heat in found)  # a contest stays whole
    monkeypatch.setattr("ipclab.session.heats.MOST", 4)
    assert parted([str(n) for n in range(10)]) == [
        ["0", "1", "2", "3"], ["0", "4", "5", "6"], ["0", "7", "8", "9"],
    ]  # fmt: skip
    assert parted(["0"]) == [["0"]]


def test_a_limit_takes_turns_with_what_it_bounds_first() -> None:
    groups = [["a"], ["b"], ["c"]]
    found = groups_with_limits(groups, {name: ["pipe"] for name in "abc"}, ["pipe", "clock"])
    assert found == [["a", "pipe"], ["b"], ["c"], ["clock"]]


def test_a_heat_whose_turns_last_long_has_fewer_but_enough() -> None:
    schedule = Schedule(turns=8, most_ns=100)
    assert [Schedule(turns=turns).least for turns in (1, 4, 6, 8, 12)] == [2, 2, 3, 4, LEAST_TURNS]
    assert not schedule.enough(LEAST_TURNS - 1, 10**9)
    assert schedule.enough(LEAST_TURNS, 101)
    assert not schedule.enough(7, 100)
    assert schedule.enough(8, 0)
    assert not Schedule(turns=8).enough(7, 10**12)
