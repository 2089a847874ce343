"""The study of objects: a launch hands whole objects over by every way, and one that arrived wrong
fails its point.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ipclab.bounds.floors import bound_of
from ipclab.errors import LabError
from ipclab.machine.placement import Placement
from ipclab.session.heats import heats
from ipclab.spawn.heat import Contestant, Heat, Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.store.point import Point
from ipclab.studies.asked import questions
from ipclab.studies.interface import Sweep
from ipclab.studies.limits.floors import limits_of
from ipclab.studies.profile import PROFILES
from ipclab_more.studies.objects import HANDLE, MIDDLE, SUMMED, ObjectsStudy
from ipclab_more.studies.objects.contents import MADE
from ipclab_more.studies.objects.ways import ways
from tests.support.commands import eventually, files_of, kernel_objects, names_of
from tests.support.few import some

ARMS = ("main", "carriers", "near")
STUDY, SMOKE = ObjectsStudy(), PROFILES["smoke"]
# A message is written, goes into the kernel and out, and is made a message of its own; a pickle is
# then made an object.
COPIES = {"pickle5": 5, "msgpack": 5, "queue": 5, "arrow": 4}
COPIES |= dict.fromkeys(["pickle5-shm", "arrow-mapped", "shared-memory", "joblib"], 1)
SIZES, TURNS, LEAST = (1_000, 100_000, 10_000_000), 2, 2  # of a quick run
SMALL = Sweep(sizes=(20_000,))


def small(kind: str) -> list[Point]:
    """Return the points of one placement of `kind` that can be measured."""
    points = STUDY.points(SMOKE, Sweep(sizes=(20_000,), levels={"object": (kind,)}))
    main = [point for point in points if point.levels["arm"] == "main"]
    return [point for point in main if not STUDY.missing(point, Path())]


def test_every_way_and_every_object_is_measured() -> None:
    points = STUDY.points(SMOKE, SMALL)
    assert {point.levels["object"] for point in points} == {*MADE}
    assert {point.levels["way"] for point in points} == {*ways("array")}
    refused = {
        point.levels["object"]: STUDY.missing(point, Path())
        for point in points
        if STUDY.missing(point, Path())
    }
    assert [*refused] and "array" not in refused
    assert all("one dtype" in str(reason) for reason in refused.values())


def test_the_ways_of_an_object_share_a_heat() -> None:
    points = small("frame")
    (heat,) = heats(points)
    assert {*heat} == {point.id for point in points}


def test_a_quick_run_has_every_object_by_every_way_and_the_largest_array() -> None:
    assert {*STUDY.named_only} == {"smoke", "quick", "published"}
    every = STUDY.points(PROFILES["quick"], Sweep())
    kept = [point for point in STUDY.brief(every) if not STUDY.missing(point, Path())]
    assert {p.levels["arm"] for p in kept} == {"main"} and len(kept) == 30
    measured = {(p.levels["object"], p.levels["way"], p.size_bytes) for p in kept}
    carried = {
        (kind, way.name) for kind in MADE for way in ways(kind).values() if not way.refuses(kind)
    }
    assert measured == {(*pair, MIDDLE) for pair in carried} | {
        (kind, way, SIZES[-1]) for kind, way in carried if kind == "array"
    }


def test_the_bytes_of_all_but_small_objects_are_bounded_by_one_copy() -> None:
    asked = questions()
    for point in STUDY.points(PROFILES["quick"], Sweep()):
        bound = bound_of(asked, "objects", SUMMED, point.key())
        assert (bound is None) == (point.size_bytes < MIDDLE)
        assert limits_of(point) == []  # nothing native sums an object
        assert bound is None or bound.copies == 1
        assert bound_of(asked, "objects", HANDLE, point.key()) is None


def test_other_carriers_and_one_cpu_are_measured_at_one_size() -> None:
    by_arm = {
        arm: [p for p in STUDY.points(PROFILES["standard"], Sweep()) if p.levels["arm"] == arm]
        for arm in ARMS
    }
    assert {p.size_bytes for p in by_arm["main"]} == {*SIZES}
    assert {p.size_bytes for arm in ("carriers", "near") for p in by_arm[arm]} == {MIDDLE}
    assert {p.backend for p in by_arm["carriers"]} == {"unix", "posix-shm", "zmq-ipc"}
    assert {p.placement for p in by_arm["near"]} == {"same"}


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Launcher]:
    with Launcher(tmp_path_factory.mktemp("ledger")) as started:
        yield started


@pytest.mark.slow
@pytest.mark.parametrize("kind", some([*MADE], 3))
def test_a_heat_hands_whole_objects_over_by_every_way(launcher: Launcher, kind: str) -> None:
    points, anywhere = small(kind), Placement("free", (frozenset(os.sched_getaffinity(0)),), "free")
    roles = {point.id: STUDY.roles(point, SMOKE, anywhere, 3) for point in points}
    ended = Heat(launcher, Schedule(turns=2)).run(
        {p.id: Contestant(p, roles[p.id]) for p in points}
    )
    for point in points:
        outcome: Any = ended[point.id]
        assert isinstance(outcome, dict), outcome
        launch = STUDY.collect(point, outcome, 3)
        assert len(launch.samples[HANDLE]) == len(launch.samples[SUMMED]) > 0
        assert (launch.samples[HANDLE] <= launch.samples[SUMMED]).all() and launch.samples[
            HANDLE
        ].min() > 0
        facts: dict[str, Any] = dict(launch.facts)
        assert 0 < facts["compared"] < facts["numbered"]
        # not what the first object of a process sets up once
        assert 0 <= facts["held_bytes"] < 10_000_000
        assert facts["own_bytes"] == pytest.approx(20_000, rel=0.3)
        way = ways(kind)[str(point.levels["way"])]
        # A frame counts an offset of 8 bytes for each text, where msgpack has its length in one.
        assert facts["placed_bytes"] + facts["message_bytes"] >= facts["own_bytes"] * 0.8
        assert facts["reader_ns"] > 0
        if kind == "array":
            assert (way.name, round(facts["copies"])) == (way.name, COPIES[way.name])
        if kind == "array" and way.maps:
            assert facts["message_bytes"] < 500 and facts["placed_bytes"] >= facts["own_bytes"]
    assert names_of(launcher.session.id) == []
    assert [name for name in files_of(launcher.session.folder) if "object" in name] == []


@pytest.mark.parametrize("name", ["quick", "full"])
def test_large_objects_have_few_turns_but_in_full(name: str) -> None:
    whole = STUDY.effort(PROFILES[name])
    points = STUDY.points(PROFILES[name], Sweep(sizes=SIZES))
    turns = {point.size_bytes: STUDY.of_point(point, whole, True).turns for point in points}
    few = whole.turns if name == "full" else TURNS
    assert turns == {1_000: whole.turns, MIDDLE: whole.turns, SIZES[-1]: few}
    assert few <= whole.turns


@pytest.mark.slow
def test_a_long_object_is_timed_in_each_turn_but_the_one_that_warms_up(
    launcher: Launcher,
) -> None:
    anywhere = Placement("free", (frozenset(os.sched_getaffinity(0)),), "free")
    (point,) = [
        point
        for point in STUDY.points(PROFILES["quick"], Sweep(sizes=(SIZES[-1],)))
        if (point.levels["arm"], point.levels["object"], point.levels["way"])
        == ("main", "frame", "msgpack")
    ]
    effort = STUDY.of_point(point, STUDY.effort(PROFILES["quick"]), in_contest=True)
    roles = STUDY.roles(point, effort, anywhere, 3)
    schedule = Schedule(turns=effort.turns, warm_turns=1)
    outcome: Any = Heat(launcher, schedule).run({point.id: Contestant(point, roles)})[point.id]
    assert isinstance(outcome, dict), outcome
    launch = STUDY.collect(point, outcome, 3)
    # where what is looked at is not recorded anyway, one is left over
    assert len(launch.turns[SUMMED]) == TURNS
    assert {*launch.turns[SUMMED]} <= {LEAST, LEAST + 1}
    facts: dict[str, Any] = dict(launch.facts)
    assert facts["allocated_bytes"] > 2 * facts["own_bytes"]
    assert facts["reader_ns"] > 0


@pytest.mark.slow
def test_a_taking_end_that_is_killed_fails_its_point_in_one_line_and_leaves_nothing(
    launcher: Launcher,
) -> None:
    anywhere, before = (
        Placement("free", (frozenset(os.sched_getaffinity(0)),), "free"),
        kernel_objects(),
    )
    contestants: dict[str, Contestant] = {}
    for point in small("array"):
        taker, giver = STUDY.roles(point, SMOKE, anywhere, 3)
        dies = replace(taker, target="tests.support.heat_targets:take_and_die")
        contestants[point.id] = Contestant(point, [dies, giver])
    assert {point.levels["way"] for point in small("array")} == {*ways("array")}
    ended = Heat(launcher, Schedule(turns=2)).run(contestants)
    for point in small("array"):
        error = ended[point.id]
        assert isinstance(error, LabError), error
        # Which end is seen first is chance: the one that was killed, or the other that finds it
        # gone.
        assert re.search("killed by SIGKILL|has closed it", str(error)) and "\n" not in str(
            error
        ), error
    assert names_of(launcher.session.id) == []
    assert files_of(launcher.session.folder) == []
    assert eventually(lambda: kernel_objects() <= before)  # other tests have theirs for a moment
