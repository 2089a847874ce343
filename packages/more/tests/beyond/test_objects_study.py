"""The study of objects: a launch hands whole objects over by every way, and one that arrived wrong
fails its point.
"""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ipclab.bounds.floors import bound_of
from ipclab.errors import LabError
from ipclab.session.heats import heats
from ipclab.spawn.heat import Contestant, Heat, Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
from ipclab.store.point import Point
from ipclab.studies.interface import Sweep
from ipclab.studies.limits.floors import limits_of
from ipclab.studies.profile import PROFILES, Profile
from ipclab.studies.questions import questions
from ipclab_more.studies.objects import HANDLE, MIDDLE, SUMMED, ObjectsStudy
from ipclab_more.studies.objects.contents import MADE
from ipclab_more.studies.objects.ways import WAYS
from tests.support.commands import eventually, files_of, kernel_objects, names_of
from tests.support.few import some
from tests.support.measured import FREE, SEED, measured

STUDY, SMOKE = ObjectsStudy(), PROFILES["smoke"]
# A message is written, goes into the kernel and out, and is made a message of its own; a pickle is
# then made an object.
COPIES = {"pickle5": 5, "msgpack": 5, "queue": 5, "arrow": 4}
COPIES |= dict.fromkeys(["pickle5-shm", "arrow-mapped", "shared-memory", "joblib"], 1)
SIZES, TURNS, LEAST = (1_000, 100_000, 10_000_000), 2, 2  # of a quick run


def small(kind: str) -> list[Point]:
    """Return the points of one placement of `kind` that can be measured."""
    points = STUDY.points(SMOKE, Sweep(sizes=(20_000,), levels={"object": (kind,)}))
    main = [point for point in points if point.levels["arm"] == "main"]
    return [point for point in main if not STUDY.missing(point, Path())]


def entered(points: list[Point], effort: Profile) -> list[tuple[Point, list[Role]]]:
    return [(point, STUDY.roles(point, effort, FREE, SEED)) for point in points]


def test_what_cannot_carry_an_object_says_why_and_the_others_share_a_heat() -> None:
    points = STUDY.points(SMOKE, Sweep(sizes=(20_000,)))
    refused = {p.levels["object"]: why for p in points if (why := STUDY.missing(p, Path()))}
    assert refused and "array" not in refused
    assert all("one dtype" in reason for reason in refused.values())
    (heat,) = heats(small("frame"))
    assert {*heat} == {point.id for point in small("frame")}


def test_a_quick_run_has_every_object_by_every_way_and_the_largest_array() -> None:
    assert {*STUDY.named_only} == {"smoke", "quick", "published"}
    every = STUDY.points(PROFILES["quick"], Sweep())
    kept = [point for point in STUDY.brief(every) if not STUDY.missing(point, Path())]
    assert {p.levels["arm"] for p in kept} == {"main"} and len(kept) == 30
    measured = {(p.levels["object"], p.levels["way"], p.size_bytes) for p in kept}
    carried = {(kind, name) for kind in MADE for name, way in WAYS.items() if not way.refuses(kind)}
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


@pytest.mark.parametrize("name", ["quick", "full"])
def test_large_objects_have_few_turns_but_in_full(name: str) -> None:
    whole = STUDY.effort(PROFILES[name])
    points = STUDY.points(PROFILES[name], Sweep(sizes=SIZES))
    turns = {point.size_bytes: STUDY.of_point(point, whole, True).turns for point in points}
    few = whole.turns if name == "full" else TURNS
    assert turns == {1_000: whole.turns, MIDDLE: whole.turns, SIZES[-1]: few}
    assert few <= whole.turns


@pytest.mark.slow
@pytest.mark.parametrize("kind", some([*MADE], 3))
def test_a_heat_hands_whole_objects_over_by_every_way(launcher: Launcher, kind: str) -> None:
    points = small(kind)
    made = measured(launcher, STUDY, entered(points, SMOKE), Schedule(turns=2))
    for point, launch in zip(points, made, strict=True):
        assert len(launch.samples[HANDLE]) == len(launch.samples[SUMMED]) > 0
        assert (launch.samples[HANDLE] <= launch.samples[SUMMED]).all()
        assert launch.samples[HANDLE].min() > 0
        facts: dict[str, Any] = dict(launch.facts)
        assert 0 < facts["compared"] < facts["numbered"]
        # not what the first object of a process sets up once
        assert 0 <= facts["held_bytes"] < 10_000_000
        assert facts["own_bytes"] == pytest.approx(20_000, rel=0.3)
        name = str(point.levels["way"])
        # A frame counts an offset of 8 bytes for each text, where msgpack has its length in one.
        assert facts["placed_bytes"] + facts["message_bytes"] >= facts["own_bytes"] * 0.8
        assert facts["reader_ns"] > 0
        if kind == "array":
            assert (name, round(facts["copies"])) == (name, COPIES[name])
        if kind == "array" and WAYS[name].maps:
            assert facts["message_bytes"] < 500 and facts["placed_bytes"] >= facts["own_bytes"]
    assert names_of(launcher.session.id) == []
    assert [name for name in files_of(launcher.session.folder) if "object" in name] == []


@pytest.mark.slow
def test_a_long_object_is_timed_in_each_turn_but_the_one_that_warms_up(
    launcher: Launcher,
) -> None:
    quick, wanted = PROFILES["quick"], {"arm": "main", "object": "frame", "way": "msgpack"}
    every = STUDY.points(quick, Sweep(sizes=(SIZES[-1],)))
    (point,) = (point for point in every if wanted.items() <= point.levels.items())
    effort = STUDY.of_point(point, STUDY.effort(quick), in_contest=True)
    schedule = Schedule(turns=effort.turns, warm_turns=1)
    (launch,) = measured(launcher, STUDY, entered([point], effort), schedule)
    # where what is looked at is not recorded anyway, one is left over
    assert len(launch.turns[SUMMED]) == TURNS
    assert {*launch.turns[SUMMED]} <= {LEAST, LEAST + 1}
    facts: dict[str, Any] = dict(launch.facts)
    assert facts["allocated_bytes"] > 2 * facts["own_bytes"]


@pytest.mark.slow
def test_a_taking_end_that_is_killed_fails_its_point_in_one_line_and_leaves_nothing(
    launcher: Launcher,
) -> None:
    before, heat = kernel_objects(), {}
    for point, (taker, giver) in entered(small("array"), SMOKE):
        dies = replace(taker, target="tests.support.heat_targets:take_and_die")
        heat[point.id] = Contestant(point, [dies, giver])
    for error in Heat(launcher, Schedule(turns=2)).run(heat).values():
        # Which end is seen first is chance: the one that was killed, or the other that finds it
        # gone.
        assert isinstance(error, LabError), error
        assert re.search("killed by SIGKILL|has closed it", str(error))
        assert "\n" not in str(error)
    assert names_of(launcher.session.id) == files_of(launcher.session.folder) == []
    assert eventually(lambda: kernel_objects() <= before)  # other tests have theirs for a moment
