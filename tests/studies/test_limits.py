"""The limits as a study, and the bound that no copying mechanism can beat."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from msgspec import structs

from ipclab.backends.interface import LIMITS as NAMED
from ipclab.backends.interface import Backend
from ipclab.bounds import limits
from ipclab.bounds.floors import Floor, Floors, Key, native
from ipclab.errors import UsageError
from ipclab.frames.derived import LAUNCH_VALUES
from ipclab.frames.points import VALUES, launch_rows, point_rows
from ipclab.machine.placement import Placement
from ipclab.session.request import Request
from ipclab.spawn.heat import Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.stats.quantity import Quantity
from ipclab.store.point import Point
from ipclab.store.questions import Mechanism
from ipclab.store.samples import Measured
from ipclab.studies.arms import Levels
from ipclab.studies.interface import Sweep
from ipclab.studies.limits import LimitsStudy, limit_point
from ipclab.studies.limits.floors import bounding
from ipclab.studies.profile import PROFILES
from ipclab.studies.questions import questions
from tests.support.made import framed, make_launch
from tests.support.measured import measured

SIZE = 2_000_000
COPY_NS = 50_000


def result(study: str, backend: str, op: str, ns: int, **levels: str) -> Measured:
    point = Point(study, backend, SIZE, "cross", {**levels})
    return Measured(point, [make_launch(**{op: [ns, ns + 1, ns + 2]})], "budget")


def points(*results: Measured) -> pd.DataFrame:
    return framed([row for each in results for row in point_rows(each)], VALUES)


def launches(*results: Measured) -> pd.DataFrame:
    return framed([row for each in results for row in launch_rows(each)], LAUNCH_VALUES)


COPIES = launches(result("limits", "memcpy", "copy", COPY_NS))


@pytest.mark.parametrize(
    ("study", "op", "passes"),
    [
        ("round_trip", "round-trip", 4),
        ("payload", "handover", 2),
        ("payload", "write", 2),
        ("payload", "read", 1),
    ],
)
def test_a_result_faster_than_its_copies_names_itself(study: str, op: str, passes: int) -> None:
    slow, fast = int(passes * COPY_NS * 0.95), int(passes * COPY_NS * 0.85)
    assert limits.below_copies(points(result(study, "unix", op, slow)), COPIES, questions()) == []
    (line,) = limits.below_copies(points(result(study, "unix", op, fast)), COPIES, questions())
    assert line.startswith(f"{study} unix-")
    assert f"{passes} passes of memcpy over {SIZE} bytes" in line


def test_a_size_that_was_not_copied_is_as_long_as_a_shorter_one_and_in_place_excuses() -> None:
    def lines(copies: pd.DataFrame = COPIES, **changed: Any) -> int:
        point = Point("payload", "unix", SIZE + 1, "cross")
        fast = points(Measured(point, [make_launch(read=[COPY_NS // 2])], "budget"))
        return len(limits.below_copies(fast.assign(**changed), copies, questions()))

    assert (lines(), lines(size_bytes=SIZE - 1), lines(receive="view")) == (1, 0, 0)
    assert lines(COPIES.iloc[:0]) == 0  # without limits nothing is called impossible


def test_a_result_stands_over_the_median_launch_of_the_limit_that_matches_it() -> None:
    lucky = [make_launch(wake=[ns]) for ns in (9_000, 5_000, 7_000)]
    wake = Measured(Point("limits", "futex-wake", 0, "cross"), lucky, "budget")
    allowed = launches(result("limits", "memcpy", "copy", COPY_NS), wake)
    handed = points(result("payload", "shm-mmap", "handover", 404_000, arm="handover"))
    (row,) = (
        limits.with_limits(handed, allowed, questions()).dropna(subset="over_limit").itertuples()
    )
    copies = 2 * (COPY_NS + 1)
    assert row.over_limit == pytest.approx(404_001 / (copies + 7_000))
    ends = [row.limit_low, row.limit, row.limit_high]
    assert ends == pytest.approx([copies + woken for woken in (5_000, 7_000, 9_000)])


def test_a_limit_of_two_states_is_taken_by_its_median_and_has_both() -> None:
    """In one of six launches the receiver was awake already: the sixth of what it takes otherwise."""
    key = ("transfer-shm", SIZE, "cross")
    handed = {"size_bytes": SIZE} | {"backend": "posix-shm", "placement": "cross"}
    medians = [4_000.0, 591.0, 4_100.0]
    handed |= {"arm": "handover"}
    known = Floors({key: medians, ("memcpy", SIZE, "same"): [10.0]}, questions())
    assert known.under("payload", "handover", handed) == Floor(4_000.0, (key,), 591.0, 4_100.0)
    # where it was measured in another placement alone, nothing stands in for it
    assert known.under("payload", "handover", handed | {"placement": "free"}) is None


def echoes(*sizes_ns: tuple[int, int]) -> dict[tuple[str, int, str], list[float]]:
    return {("echo-shm-futex", size, "cross"): [float(ns)] for size, ns in sizes_ns}


def test_what_is_read_in_place_is_bounded_by_the_least_message() -> None:
    known = Floors(echoes((100, 5_000), (SIZE, 600_000)), questions())
    levels = {"backend": "iceoryx2", "size_bytes": SIZE, "placement": "cross", "wait": "block"}
    copied, in_place = (
        known.under("round_trip", "round-trip", levels | {"receive": how})
        for how in ("bytes", "view")
    )
    assert copied and in_place
    assert (copied.ns, in_place.ns) == (600_000, 5_000)
    assert in_place.limits == (("echo-shm-futex", 100, "cross"),)


def test_a_message_that_a_reader_holds_has_no_bound() -> None:
    known = Floors(
        {("memcpy", size, "same"): [float(size)] for size in (1_000, 100_000)}, questions()
    )
    levels = {"size_bytes": 10_000, "placement": "free"}
    for backend, arm, bounded in (
        ("zmq-pub", "read-many", False), ("zmq-pub", "published", True), ("shared-memory", "read-many", True)
    ):  # fmt: skip
        found = known.under(
            "shared_dict", "read.transport", levels | {"backend": backend, "arm": arm}
        )
        assert bool(found) == bounded
        assert not found or found.ns == pytest.approx(10_000)


def test_a_limit_is_wide_until_a_second_launch_comes_near_its_best() -> None:
    times = {
        ("pipe", 1, "same"): [50.0, 70.0, 56.0],
        ("unix", 1, "same"): [50.0, 70.0, 54.0],
        ("tcp", 1, "same"): [1.0],
    }
    assert Floors(times, questions()).wide() == [("pipe", 1, "same")]


def test_beaten_is_whatever_quotient_is_printed_below_1_whatever_the_interval() -> None:
    over = [Quantity(0.9, "1", 0.7, 1.1), Quantity(0.999), Quantity(0.74), Quantity(1.9), np.nan]
    found = pd.DataFrame({"over": over, "by_heat": [(3.0, 9.0)] * 5})
    beaten = limits.below_limit(found)
    assert list(beaten.lowest.items()) == [(2, 0.74), (0, 0.9)]
    assert (beaten.own_low[0], beaten.own_high[0]) == (3.0, 9.0)
    assert limits.below_limit(found.iloc[:0]).empty


PAYLOAD = {"backend": "shm-mmap", "size_bytes": 84, "placement": "cross"}
LIMITS = [  # of an op of a point: the limit that bounds it
    ("payload", "write", {"arm": "mapping", "mapping": "kept"}, ("map-kept.write", 84, "same")),
    (
        "payload",
        "read",
        {"arm": "published", "placement": "free"},
        ("map-reopened.read", 84, "same"),
    ),
    ("payload", "handover", {"arm": "handover"}, ("transfer-shm", 84, "cross")),
    (
        "payload",
        "handover",
        {"arm": "tcp", "connection": "kept"},
        ("transfer-tcp-kept", 84, "cross"),
    ),
    ("round_trip", "round-trip", {"backend": "posix-mq"}, ("echo-mq", 84, "cross")),
    (
        "round_trip",
        "round-trip",
        {"backend": "posix-shm", "wait": "spin-then-block"},
        ("echo-shm-spin", 84, "cross"),
    ),
    ("stream", "received", {"backend": "fifo", "arm": "main"}, ("flow-pipe", 84, "cross")),
    ("stream", "received", {"backend": "zmq-ipc", "arm": "batch"}, ("flow-ring", 84, "cross")),
    (
        "shared_dict",
        "read.transport",
        {"backend": "lmdb", "codec": "pickle"},
        ("memcpy", 84, "same"),
    ),
]


@pytest.mark.parametrize(("study", "op", "levels", "limit"), LIMITS)
def test_each_op_has_the_limit_that_does_what_it_cannot_avoid(
    study: str, op: str, levels: Levels, limit: Key
) -> None:
    floor = Floors({limit: [40.0, 30.0], ("memcpy", 10, "same"): [1.0]}, questions()).under(
        study, op, PAYLOAD | levels
    )
    assert floor == Floor(35.0, (limit,), 30.0, 40.0)


@pytest.mark.parametrize(
    ("study", "op", "levels"),
    [
        ("round_trip", "round-trip", {"backend": "unix", "wait": "spin"}),
        ("round_trip", "round-trip", {"backend": "zmq-ipc", "wait": "spin-then-block"}),
        ("stream", "received", {"backend": "pipe", "arm": "open"}),
        ("shared_dict", "read.transport", {"backend": "zmq-pub", "arm": "stream"}),
        ("objects", "summed", {"backend": "unix", "arm": "main"}),
    ],
)
def test_what_no_native_program_does_with_the_same_wait_has_no_limit(
    study: str, op: str, levels: Levels
) -> None:
    """Whatever limits a run holds: of each native program one, and those of before."""
    names = [*questions().limits, "hand-over", "futex-wake", "echo-pipe"]
    limits_of_run = {(name, 84, where): [9.0] for name in names for where in ("same", "cross")}
    known = Floors(limits_of_run, questions())
    assert known.under(study, op, PAYLOAD | levels) is None


def test_a_backend_names_a_limit_that_there_is() -> None:
    assert {f"echo-{name}" for name in NAMED} == {
        limit for limit in questions().limits if limit.startswith("echo-")
    }
    with pytest.raises(UsageError, match=r"unknown limit 'unx'.*unix"):
        Backend("own", limit="unx")


def test_a_backend_that_declares_no_limit_cannot_do_without_a_wake_up_and_a_copy() -> None:
    own = Mechanism(Backend("own").floor)
    asked_of = structs.replace(questions(), mechanisms={"own": own})
    levels = {"backend": "own", "size_bytes": 100, "placement": "cross", "arm": "main"}
    for wait, limit in (("block", "echo-shm-futex"), ("spin", "echo-shm-spin")):
        found = native(asked_of, "round_trip", "round-trip", {**levels, "wait": wait})
        assert found and found[0] == limit


def test_a_run_of_before_is_read_against_the_limits_that_it_has() -> None:
    old = {("memcpy", 84, "same"): [10.0], ("futex-wake", 0, "cross"): [500.0]}
    old |= {("hand-over", 84, "cross"): [30.0], ("echo-pipe", 84, "cross"): [4_000.0]}
    found = [
        Floors(old, questions()).under(study, op, PAYLOAD | levels)
        for study, op, levels, _ in LIMITS
    ]
    assert [round(floor.ns) if floor else 0 for floor in found] == [
        20,
        10,
        520,
        520,
        4_000,
        0,
        30,
        30,
        10,
    ]


def test_a_run_has_the_limits_of_its_points_and_no_others() -> None:
    study = LimitsStudy()
    if not study.backends():
        pytest.skip("the native package is not built here")
    asked = Request(("round_trip",), sweep=Sweep((12_345,), ("unix",)))
    (_, own), (_, theirs), *_ = asked.points()
    echoes = {
        point.backend
        for point in own
        if point.backend.startswith(("echo", "flow", "map", "transfer"))
    }
    assert echoes == {"echo-unix"}
    assert {point.size_bytes for point in own if point.backend in echoes} == {12_345}
    assert any(
        point.backend == "memcpy" and 12_345 / 2 <= point.size_bytes <= 12_345 for point in own
    )
    by_point, names = bounding([*own, *theirs])
    assert set(names) == {point.id for point in own}
    main = next(
        point for point in theirs if point.levels["arm"] == "main" and point.placement == "cross"
    )
    assert by_point[main.id] == [limit_point("echo-unix", 12_345, "cross").id]
    every = {each.name: points for each, points in Request().points()}
    bounded, _ = bounding([*every["limits"], *every["payload"]])
    assert all(bounded[point.id] for point in every["payload"])


@pytest.mark.parametrize(("name", "size"), [("map-kept", 84), ("flow-ring", 64)])
def test_a_limit_takes_turns_and_leaves_nothing(name: str, size: int, launcher: Launcher) -> None:
    study = LimitsStudy()
    if name not in study.backends():
        pytest.skip("the native package is not built here")
    cpu = min(os.sched_getaffinity(0))
    point, before = limit_point(name, size, "same"), files()
    roles = study.roles(point, PROFILES["smoke"], Placement("same", (frozenset({cpu}),), "same"), 1)
    (made,) = measured(launcher, study, [(point, roles)], Schedule(turns=2))
    assert set(made.samples) == set(point.primary)
    assert all(
        len(made.turns[op]) == 2 and sum(made.turns[op]) == len(made.samples[op])
        for op in point.primary
    )
    assert made.per == ({"received": 1000} if name == "flow-ring" else {})
    assert files() == before


def files() -> set[str]:
    return {path.name for path in Path("/dev/shm").iterdir() if path.name.endswith("-limit")}
