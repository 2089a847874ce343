"""The stream study: its points, what its ends keep, and what of the messages is caught when it goes
wrong.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from ipclab.backends.installed import backends
from ipclab.errors import LabError, UsageError
from ipclab.machine.placement import Placement
from ipclab.spawn.failures import LaunchError
from ipclab.spawn.heat import Contestant, Heat, Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.proof import PayloadError
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.studies import ranks
from ipclab.studies.interface import Site, Sweep
from ipclab.studies.profile import PROFILES, Profile
from ipclab_more.studies.stream import STALL_NS, StreamStudy
from ipclab_more.studies.stream.consumer import Consumer
from ipclab_more.studies.stream.end import RECEIVED, SENT
from ipclab_more.studies.stream.ends import FILL_LEAST
from ipclab_more.studies.stream.joined import FROM_SEND, INTENDED, account
from ipclab_more.studies.stream.plan import StreamPlan
from tests.backends.test_channels import launch
from tests.spawn.test_workers import CPUS

STUDY = StreamStudy()
SMOKE, FULL = STUDY.effort(PROFILES["smoke"]), STUDY.effort(PROFILES["full"])
FREE = Placement("free", (CPUS,), "free")
STREAMING = sorted({point.backend for point in STUDY.points(FULL, Sweep())})
FAULTS = ("drop", "duplicate", "swap")


def points(
    profile: Profile = FULL, sizes: tuple[int, ...] | None = None, **levels: Any
) -> list[Point]:
    found = STUDY.points(profile, Sweep(sizes))
    return [
        point
        for point in found
        if levels.items() <= {**point.key(), "backend": point.backend}.items()
    ]


def launched(launcher: Launcher, point: Point, module: str = "", **plan: Any) -> Launch:
    if why := STUDY.missing(point, Path()):
        pytest.skip(why)
    roles = STUDY.roles(point, SMOKE, FREE, 9)
    for role in roles:
        role.arguments.update(plan)
    if module:
        roles = [type(role)(role.name, module, role.arguments, role.cpus) for role in roles]
    return STUDY.collect(point, launch(launcher, backends()[point.backend], roles), 9)


def test_who_sends_at_a_pace_sleeps_until_a_message_is_due() -> None:
    """So that its CPU time is that of messages; an open loop waits awake, to be in time."""
    told = {
        str(point.levels["arm"]): role.arguments["sleeps"]
        for point in points()
        for role in STUDY.roles(point, PROFILES["quick"], FREE, 7)
    }
    assert [arm for arm, sleeps in told.items() if sleeps] == ["paced"]
    assert {point.size_bytes for point in points(arm="paced")} == {65_536}


def test_the_arms_vary_one_factor_each() -> None:
    usual = {
        "consumers": 1,
        "sharing": "each",
        "window": 0,
        "batch": 1,
        "work_ns": 0,
        "rate": 0,
        "load": 0,
    }
    usual |= {"stall_ns": 0}
    changed = {
        "consumers": {"consumers", "sharing"},
        "open": {"rate", "load"},
        "paced": {"rate"},
        "stall": {"rate", "stall_ns"},
    }
    changed |= {"work": {"work_ns"}, "window": {"window"}, "batch": {"batch"}}
    for point in points():
        differ = {name for name, level in usual.items() if point.levels[name] != level}
        assert differ <= changed.get(str(point.levels["arm"]), set()), point.id
    assert set(Counter(point.levels["arm"] for point in points())) == {"main", *changed}
    new = {
        "fifo",
        "mpi-p2p",
        "nng-ipc",
        "posix-mq",
        "shm-ring",
        "sysv-mq",
        "unix-dgram",
        "unix-seqpacket",
        "zenoh",
    }
    there = {name for name, backend in backends().items() if not backend.missing()}
    assert new & there <= set(STREAMING)


def test_a_message_has_room_for_its_number() -> None:
    with pytest.raises(
        UsageError,
        match="a stream of 7 bytes: a message begins with its number; give 8 bytes or more",
    ):
        STUDY.points(FULL, Sweep((7,)))


@pytest.mark.parametrize("backend", STREAMING)
def test_every_mechanism_streams_in_order_and_says_what_it_does_when_it_is_full(
    launcher: Launcher, backend: str
) -> None:
    point = points(backend=backend, arm="main", size_bytes=64, placement="cross")[0]
    launch = launched(launcher, point)
    facts: dict[str, Any] = launch.facts
    assert facts["messages"] >= SMOKE.least_samples
    assert facts["delivered"] == facts["accepted"] > 0
    assert facts["refused"] or facts["accepted"] == FILL_LEAST // 64
    assert all(
        facts[f"{end}descriptors"] >= 0 < facts[f"{end}proportional_bytes"]
        for end in ("", "consumers_")
    )
    assert {*launch.samples} == {SENT, RECEIVED, "set-up", "connect", "first-message", "tear-down"}
    assert all(values.min() > 0 for values in launch.samples.values())
    assert {*launch.counters} == {SENT, RECEIVED}


@pytest.mark.parametrize(
    "levels",
    [
        *(
            {"arm": "window", "backend": backend, "window": 16}
            for backend in ("posix-mq", "shm-ring", "unix")
        ),
        {"arm": "work", "backend": "zmq-ipc", "work_ns": 10_000},
        {"arm": "batch"},
        *({"arm": "consumers", "consumers": 2, "backend": name} for name in ("unix", "zmq-pub")),
        *(
            {"arm": "consumers", "consumers": 8, "sharing": "one", "backend": each}
            for each in ("posix-mq", "zmq-push")
        ),
        {"arm": "consumers", "consumers": 2, "sharing": "one", "backend": "shm-ring"},
    ],
)
def test_other_arms_lose_nothing_either(launcher: Launcher, levels: dict[str, Any]) -> None:
    launch = launched(launcher, points(**levels)[0])
    assert set(launch.per) == {SENT, RECEIVED}
    assert len(launch.samples["connect"]) == levels.get("consumers", 1)
    last = launch.samples.get("connect-last", launch.samples["connect"][-1:])
    assert last == launch.samples["connect"][-1]


@pytest.mark.slow
@pytest.mark.parametrize("backend", STREAMING)
def test_a_stall_shows_in_the_open_loop_and_not_in_a_closed_one(
    launcher: Launcher, backend: str
) -> None:
    point = replace(points(arm="stall")[0], backend=backend)
    assert point.levels["stall_ns"] == STALL_NS
    launch = launched(launcher, point, open_ns=100_000_000)
    late, since_sent = launch.samples[INTENDED], launch.samples[FROM_SEND]
    assert late.max() >= STALL_NS * 0.8
    assert np.all(late >= since_sent)
    assert len(late) == launch.facts["messages"] == 1000
    assert launch.facts["offered_per_second"] == pytest.approx(10_000)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("backend", STREAMING)
def test_a_planted_fault_is_caught_on_every_mechanism(
    launcher: Launcher, backend: str, fault: str
) -> None:
    point = points(backend=backend, arm="main", size_bytes=64, placement="cross")[0]
    told = {"drop": "1 were lost", "duplicate": "1 were duplicated", "swap": "1 were reordered"}
    with pytest.raises(PayloadError, match=told[fault]):
        launched(launcher, point, f"tests.support.stream_targets:{fault}")


def heat(launcher: Launcher, points: list[Point], module: str, turns: int) -> dict[str, Launch]:
    """Return what became of a heat of `points`, each with so many recorded turns, by backend."""
    contestants = {}
    for point in points:
        roles = [replace(role, target=module) for role in STUDY.roles(point, SMOKE, FREE, 9)]
        contestants[point.id] = Contestant(point, roles)
    ended = Heat(launcher, Schedule(turns=turns)).run(contestants)
    made = {}
    for point in points:
        outcomes = ended[point.id]
        assert not isinstance(outcomes, LabError), outcomes
        made[point.backend] = STUDY.collect(point, outcomes, 9)
    return made


def test_streams_take_turns_and_set_up_once(launcher: Launcher) -> None:
    chosen = [points(arm="main", size_bytes=64, backend=name)[0] for name in ("unix", "shm-ring")]
    chosen.append(points(arm="open", backend="posix-mq", rate=100_000)[0])
    made = heat(launcher, chosen, "ipclab_more.studies.stream.ends:run_stream", 3)
    for one in made.values():
        assert {op: len(one.samples[op]) for op in (SENT, RECEIVED)} == {SENT: 3, RECEIVED: 3}
        assert one.turns[SENT] == one.turns[RECEIVED] == [1, 1, 1]
        assert [
            len(one.samples[op]) for op in ("set-up", "connect", "first-message", "tear-down")
        ] == [1, 1, 1, 2]
    late = made["posix-mq"]
    assert late.turns[INTENDED] == late.turns[FROM_SEND]
    assert len(late.turns[INTENDED]) == 3
    assert sum(late.turns[INTENDED]) == len(late.samples[INTENDED]) == late.facts["messages"]


def test_a_message_that_is_lost_in_a_turn_that_only_warms_up_is_missed(launcher: Launcher) -> None:
    point = points(arm="main", size_bytes=64, backend="unix")[0]
    with pytest.raises(PayloadError, match="1 were lost"):
        heat(launcher, [point], "tests.support.stream_targets:drop", 2)


def numbers(*values: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(values, np.int64)


@pytest.mark.parametrize(
    ("seen", "each", "found"),
    [
        ([numbers(0, 1, 2, 3)], True, (0, 0, 0)),
        ([numbers(0, 1, 3)], True, (1, 0, 0)),
        ([numbers(0, 1, 1, 2, 3)], True, (0, 1, 0)),
        ([numbers(0, 2, 1, 3)], True, (0, 0, 1)),
        ([numbers(0, 1, 2, 3), numbers(0, 1)], True, (2, 0, 0)),
        ([numbers(0, 2), numbers(1, 3)], False, (0, 0, 0)),
        ([numbers(0, 2), numbers(2, 3)], False, (1, 1, 0)),
        ([numbers(2, 0), numbers(1, 3)], False, (0, 0, 1)),
        ([numbers()], True, (4, 0, 0)),
        ([numbers(0, 1, 2, 3, 9)], True, (0, 1, 0)),
    ],
)
def test_messages_are_accounted_for(
    seen: list[Any], each: bool, found: tuple[int, int, int]
) -> None:
    told = dict(zip(("lost", "duplicated", "reordered"), found, strict=True))
    if any(found):
        wrong = ", ".join(f"{number} were {name}" for name, number in told.items() if number)
        with pytest.raises(PayloadError, match=f"^of 4 messages {wrong}:"):
            account(4, seen, each)
    else:
        assert account(4, seen, each) == told


@pytest.mark.parametrize(("consumers", "count"), [(1, 2), (3, 4)])
def test_there_are_as_many_ranks_as_ends(
    consumers: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    @contextmanager
    def on_ranks(_site: Any, count: int, _preload: str) -> Iterator[None]:
        made.append(count)
        yield None

    monkeypatch.setattr(ranks, "on_ranks", on_ranks)
    several = [
        Point("stream", name, 64, "cross", {"consumers": consumers}) for name in ("unix", "mpi-p2p")
    ]
    with ranks.on_ranks_or_workers(cast(Site, None), several, ""):
        assert made == [count]


def test_a_mechanism_without_a_stream_says_so(launcher: Launcher) -> None:
    point = Point("stream", "lmdb", 64, "free", points(arm="main")[0].levels)
    with pytest.raises(LaunchError, match="lmdb has no stream"):
        launched(launcher, point)


def test_what_is_altered_in_a_batch_is_told_by_its_place() -> None:
    levels: dict[str, Any] = {
        "backend": "shm-ring", "size": 64, "seed": 1, "consumers": 1, "sharing": "each", "window": 0,
        "batch": 8, "work_ns": 0, "rate": 0, "load": 0, "stall_ns": 0, "fill": False, "sleeps": False, "open_ns": 0,
        "budget_ns": 1, "least": 1, "most": 1,
    }  # fmt: skip
    worker: Any = SimpleNamespace(prefix="ipclab-1-2-aa-1")
    consumer = Consumer(worker, None, StreamPlan(**levels), "secret")  # type: ignore[arg-type]
    numbers = np.arange(20)
    whole = [(place, consumer._sent(place)) for place in (2, 11, 19)]
    consumer.kept += whole
    consumer._look(numbers)
    assert consumer.compared == 3
    place, data = whole[1]
    consumer.kept.append((place, data[:40] + bytes([data[40] ^ 1]) + data[41:]))
    with pytest.raises(PayloadError, match="message 11 arrived with other bytes at 40: 1 of 64"):
        consumer._look(numbers)
