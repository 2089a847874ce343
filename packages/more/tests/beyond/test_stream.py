"""The stream study: its points, what its ends keep, and what of the messages is caught when it goes
wrong.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from ipclab.backends.installed import backends
from ipclab.errors import UsageError
from ipclab.spawn.heat import Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.proof import END, PayloadError
from ipclab.spawn.worker import zeros
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.studies import ranks
from ipclab.studies.interface import Site, Sweep
from ipclab.studies.profile import PROFILES, Profile
from ipclab_more.studies.stream import LEVELS, StreamStudy
from ipclab_more.studies.stream.base import RECEIVED, SENT, StreamPlan
from ipclab_more.studies.stream.collect import FROM_SEND, INTENDED, account
from ipclab_more.studies.stream.consumer import Consumer
from ipclab_more.studies.stream.processes import FILL_LEAST
from tests.backends.test_channels import launch
from tests.support.measured import FREE, SEED, measured

STUDY = StreamStudy()
SMOKE, FULL = STUDY.effort(PROFILES["smoke"]), STUDY.effort(PROFILES["full"])
(STALL_NS,) = LEVELS["stall_ns"]
TURNS, MINUTE = 2, 60 * 10**9
STREAMING = sorted({point.backend for point in STUDY.points(FULL, Sweep())})


def points(
    profile: Profile = FULL, sizes: tuple[int, ...] | None = None, **levels: Any
) -> list[Point]:
    found = STUDY.points(profile, Sweep(sizes))
    return [
        point
        for point in found
        if levels.items() <= {**point.key(), "backend": point.backend}.items()
    ]


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


def test_a_message_has_room_for_its_number() -> None:
    with pytest.raises(
        UsageError,
        match="a stream of 7 bytes: a message begins with its number; give 8 bytes or more",
    ):
        STUDY.points(FULL, Sweep((7,)))


def heat(launcher: Launcher, chosen: Sequence[Point], turns: int, **plan: Any) -> dict[str, Launch]:
    """Return the launches of points that took turns in one heat, each on ranks where it needs them."""
    made, entered = {}, []
    for point in chosen:
        roles = STUDY.roles(point, SMOKE, FREE, SEED)
        for role in roles:
            role.arguments.update(plan)
        if backends()[point.backend].ranks:
            outcomes = launch(launcher, backends()[point.backend], roles)
            made[point.id] = STUDY.collect(point, outcomes, SEED)
        else:
            entered.append((point, roles))
    launches = measured(launcher, STUDY, entered, Schedule(turns=turns))
    return made | {point.id: one for (point, _), one in zip(entered, launches, strict=True)}


@pytest.fixture(scope="module")
def streamed(launcher: Launcher) -> dict[str, Launch]:
    """A launch of each mechanism, by its name."""
    chosen = {
        name: points(backend=name, arm="main", size_bytes=64, placement="cross")[0]
        for name in STREAMING
    }
    made = heat(launcher, [*chosen.values()], TURNS)
    return {name: made[point.id] for name, point in chosen.items()}


@pytest.mark.parametrize("backend", STREAMING)
def test_every_mechanism_streams_in_order_and_says_what_it_does_when_it_is_full(
    streamed: dict[str, Launch], backend: str
) -> None:
    launch, turns = streamed[backend], 1 if backends()[backend].ranks else TURNS
    facts: dict[str, Any] = launch.facts
    assert facts["messages"] >= SMOKE.least_samples
    assert facts["delivered"] == facts["accepted"] > 0
    assert facts["refused"] or facts["accepted"] == FILL_LEAST // 64
    assert all(
        facts[f"{end}descriptors"] >= 0 < facts[f"{end}proportional_bytes"]
        for end in ("", "consumers_")
    )
    once = ("set-up", "connect", "first-message")
    assert {op: len(values) for op, values in launch.samples.items()} == {
        **{SENT: turns, RECEIVED: turns, "tear-down": 2},
        **dict.fromkeys(once, 1),
    }
    assert all(0 < value < MINUTE for values in launch.samples.values() for value in values)
    assert launch.turns[SENT] == launch.turns[RECEIVED] == [1] * turns
    assert {*launch.counters} == {SENT, RECEIVED}


def test_other_arms_lose_nothing_either(launcher: Launcher) -> None:
    rows: list[dict[str, Any]] = [
        *({"arm": "window", "backend": name, "window": 16} for name in ("posix-mq", "shm-ring", "unix")),
        {"arm": "work", "backend": "zmq-ipc", "work_ns": 10_000},
        {"arm": "batch"},
        *({"arm": "consumers", "consumers": 2, "backend": name} for name in ("unix", "zmq-pub")),
        {"arm": "consumers", "consumers": 8, "sharing": "one", "backend": "posix-mq"},
        {"arm": "consumers", "consumers": 8, "sharing": "one", "backend": "zmq-push"},
        {"arm": "consumers", "consumers": 2, "sharing": "one", "backend": "shm-ring"},
    ]  # fmt: skip
    chosen = [points(**levels)[0] for levels in rows]
    made = heat(launcher, chosen, 1)
    for point in chosen:
        one = made[point.id]
        assert set(one.per) == {SENT, RECEIVED}
        assert len(one.samples["connect"]) == point.levels["consumers"]
        last = one.samples.get("connect-last", one.samples["connect"][-1:])
        assert last == one.samples["connect"][-1]


@pytest.mark.slow
def test_an_open_loop_has_turns_and_a_stall_shows_in_it(launcher: Launcher) -> None:
    paced = points(arm="open", backend="posix-mq", rate=100_000)[0]
    stalled = points(arm="stall", backend="unix")[0]
    late = heat(launcher, [paced], 3)[paced.id]
    assert late.turns[INTENDED] == late.turns[FROM_SEND]
    assert len(late.turns[INTENDED]) == 3
    assert sum(late.turns[INTENDED]) == len(late.samples[INTENDED]) == late.facts["messages"]
    late = heat(launcher, [stalled], 1, open_ns=100_000_000)[stalled.id]
    assert stalled.levels["stall_ns"] == STALL_NS
    assert late.samples[INTENDED].max() >= STALL_NS * 0.8
    assert np.all(late.samples[INTENDED] >= late.samples[FROM_SEND])
    assert len(late.samples[INTENDED]) == late.facts["messages"] == 1000
    assert late.facts["offered_per_second"] == pytest.approx(10_000)


def numbers(*values: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(values, np.int64)


@pytest.mark.parametrize(
    ("seen", "each", "found"),
    [
        ([numbers(0, 1, 2, 3)], True, (0, 0, 0)),
        ([numbers(0, 1, 3)], True, (1, 0, 0)),
        ([numbers(0, 1, 1, 2, 3)], True, (0, 1, 0)),
        ([numbers(0, 2, 1, 3)], True, (0, 0, 1)),
        ([numbers(0, 2), numbers(1, 3)], False, (0, 0, 0)),
        ([numbers(0, 2), numbers(2, 3)], False, (1, 1, 0)),
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


def batching() -> Consumer:
    """Return a consumer of batches of 8."""
    levels: dict[str, Any] = {
        "backend": "shm-ring", "size": 64, "seed": 1, "consumers": 1, "sharing": "each", "window": 0,
        "batch": 8, "work_ns": 0, "rate": 0, "load": 0, "stall_ns": 0, "fill": False, "sleeps": False, "open_ns": 0,
        "budget_ns": 1, "least": 1, "most": 1,
    }  # fmt: skip
    worker: Any = SimpleNamespace(prefix="ipclab-1-2-aa-1")
    return Consumer(worker, SimpleNamespace(), StreamPlan(**levels), "secret")  # type: ignore[arg-type]


def test_what_is_altered_in_a_batch_is_told_by_its_place() -> None:
    consumer = batching()
    numbers = np.arange(20)
    whole = [(place, consumer._sent(place)) for place in (2, 11, 19)]
    consumer.kept += whole
    consumer._look(numbers)
    assert consumer.compared == 3
    place, data = whole[1]
    consumer.kept.append((place, data[:40] + bytes([data[40] ^ 1]) + data[41:]))
    with pytest.raises(PayloadError, match="message 11 arrived with other bytes at 40: 1 of 64"):
        consumer._look(numbers)


def test_which_message_of_a_batch_is_looked_at_cannot_be_foreseen() -> None:
    looked = set()
    for _ in range(40):
        consumer = batching()
        batches = iter([range(8), range(8, 16), (END,)])

        def take(
            buffer: Any, _size: int, _wait: int, to: Consumer = consumer, left: Any = batches
        ) -> int:
            numbers = next(left)
            to.came[: len(numbers)] = [to.messages.first + number for number in numbers]
            return len(numbers)

        consumer.way.channel = SimpleNamespace(recv_many=take)
        assert consumer._batches(zeros(17)) == 16
        looked.add(tuple(place for place, _ in consumer.kept))
    assert len(looked) > 10
    assert all(len(places) == 2 and places[0] < 8 <= places[1] < 16 for places in looked)
