"""Profile `published` holds what the texts ran, no more and no less, as often as they did."""

from pathlib import Path

import pytest

from ipclab.machine import Source, Topology
from ipclab.machine.placement import placements
from ipclab.session.request import Request
from ipclab.session.room import told_before
from ipclab.store.point import Point
from ipclab.store.questions import ALWAYS
from ipclab.studies.installed import study
from ipclab.studies.interface import CLAIMED
from ipclab.studies.profile import PROFILES

TEXTS = {"payload", "shared_dict", "multiplexer", "round_trip", "file_io"}
WHOLE = 50_000
PUBLISHED = PROFILES["published"]


@pytest.fixture(scope="module")
def by_study() -> dict[str, list[Point]]:
    points = Request(profile="published").points()
    return {one.name: own for one, own in points if one.name not in ALWAYS}


def test_it_has_the_studies_of_the_texts_and_quick_has_no_others(
    by_study: dict[str, list[Point]],
) -> None:
    assert by_study.keys() == TEXTS
    assert {*Request(profile="quick").names_asked()} == TEXTS
    assert {*Request(profile="standard").names_asked()} > TEXTS


def test_round_trips_are_all_of_the_texts_and_where_the_scheduler_puts_them(
    by_study: dict[str, list[Point]],
) -> None:
    points = by_study["round_trip"]
    assert {point.size_bytes for point in points} == {100, 10_000, 500_000, 2_000_000}
    free = placements(Topology.read(Source()))["free"]
    for point in points:
        assert (point.placement, point.levels["arm"]) == ("free", "published")
        for role in study("round_trip").roles(point, PUBLISHED, free, 1):
            assert role.arguments["least"] == role.arguments["most"] == WHOLE


def test_standard_holds_them_whole_beside_an_arm_that_makes_fewer() -> None:
    trips = study("round_trip")
    effort = trips.effort(PROFILES["standard"])
    (points,) = [own for one, own in Request(("round_trip",), "standard").points() if one is trips]
    whole = [point for point in points if point.levels["arm"] == "whole"]
    most = max(trips.of_point(each, effort, in_contest=False).most_launches for each in whole)
    assert most == 3
    fewer = {
        (point.backend, point.size_bytes)
        for point in points
        if point.levels["arm"] == "published" and point.placement == "free"
    }
    assert fewer == {(point.backend, point.size_bytes) for point in whole}
    for profile in ("smoke", "quick", "full"):
        (own,) = [own for one, own in Request(("round_trip",), profile).points() if one is trips]
        assert not [point for point in own if point.levels["arm"] == "whole"]


def test_files_and_threads_are_the_texts_whatever_the_cpus(
    by_study: dict[str, list[Point]],
) -> None:
    points = by_study["file_io"]

    def roles(arm: str) -> set[object]:
        return {point.levels["roles"] for point in points if point.levels["arm"] == arm}

    assert roles("soon") == {"1RnC", "2RnC", "4RnC", "16RnC", "32RnC"}
    assert {"32RnC", "12RnC+20C", "8RnC+12C"} < roles("roles")
    assert roles("massive") == {
        *("16RnC", "8RnC+8C", "12RnC+12C"),
        *(f"{count}SYNC" for count in (8, 16, 24, 32, 48, 64)),
    }
    sizes = {point.levels["set"]: point.size_bytes for point in points}
    assert sizes["large"] == 40 * (512 << 20)
    assert sizes["massive"] == sizes["calls"] == 1_000_000 * 4096
    assert study("file_io").disk(points) > 40_000_000_000
    assert study("file_io").disk(points[:1]) == sizes["large"]


def test_what_it_takes_is_told_before_and_of_a_short_one_nothing(tmp_path: Path) -> None:
    told = told_before(Request(profile="published"), tmp_path)
    assert told.startswith("Profile published measures each experiment once")
    assert "60 minutes" in told and " GB on the disk of " in told and "deleted" in told
    assert not told_before(Request(profile="quick"), tmp_path)


def test_what_a_text_ran_comes_before_what_only_findings_rest_on() -> None:
    for name in TEXTS:
        one = study(name)
        points = one.points(PROFILES["standard"], Request().sweep)
        assert {one.precedence(point) for point in one.of_text(points)} == {CLAIMED}
        assert max(map(one.precedence, points)) > CLAIMED
