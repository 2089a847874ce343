"""The study of faults: planted ones are told for what they are, real ones are seen, and nothing is
left of them.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pandas as pd
import pytest

from ipclab.backends.interface import Channel, Place
from ipclab.backends.waiting import Peer
from ipclab.errors import UsageError
from ipclab.frames import derived
from ipclab.paths import Paths
from ipclab.session.progress import Progress
from ipclab.session.request import Request
from ipclab.session.session import measure_run
from ipclab.spawn.ledger import SHARED_MEMORY
from ipclab.spawn.worker import Outcome, Worker
from ipclab.store.run import RunFolder
from ipclab.studies.interface import Sweep
from ipclab.studies.profile import profile
from ipclab_more.fault_frames import most, seen, telling
from ipclab_more.studies.faults import FAULTS, LOCKED, FaultsStudy
from ipclab_more.studies.faults.effects import (
    END,
    ERROR,
    HALF,
    SILENCE,
    WELL,
    attempt_outcome,
    left,
    losses,
)
from ipclab_more.studies.faults.plan import FIRST, LOSSES, NOTICED, WATCHED, Content, FaultPlan
from ipclab_more.studies.faults.survivors import Survivor
from ipclab_more.studies.stream.connection import PRODUCER, StreamWay
from tests.support.commands import ROOT, kernel_objects

SIZE = 64
CONTENT = Content("test", SIZE)
KILLED = 1_000
STUDIED = ("unix", "posix-mq", "posix-shm", "lmdb")


class Told:
    """A worker whose peers say what a test plants."""

    recording, role = True, FIRST

    def __init__(self, done: int) -> None:
        self.outcome, self.done = Outcome(), done

    def meet(self, **_: Any) -> dict[str, dict[str, int]]:
        return {PRODUCER: {"at": KILLED, "done": self.done}}


class Made(Channel):
    """A channel that gives what a test plants, and then raises, in turn, what it plants."""

    def __init__(self, given: list[bytes], raised: list[Exception]) -> None:
        super().__init__(Place("made", "", SIZE), False)
        self.given, self.raised, self.peer = given, raised, Peer(1, 1)
        self.watched: list[bool] = []

    def recv(self, timeout_ns: int) -> bytes:
        self.watched.append(self.peer is not None)
        if self.given:
            return self.given.pop(0)
        raise self.raised.pop(0)


def survivor(given: list[bytes], raised: list[Exception], done: int) -> tuple[Made, Survivor]:
    channel = Made(given, raised)
    way = StreamWay(
        [channel],
        0,
        lambda data: None,
        lambda data: None,
        lambda data, ns: None,
        channel.recv,
        channel,
    )
    plan = FaultPlan("made", SIZE, "killed-writing", 1, 1_000_000)
    return channel, Survivor(cast(Worker, Told(done)), plan, way, CONTENT)


def kinds(one: Survivor, op: str) -> list[str]:
    return [name for name, share in one.worker.outcome.counters[op].items() if share]


def test_a_channel_that_never_notices_and_loses_one_is_told_for_that() -> None:
    channel, one = survivor(
        [CONTENT.whole(0), CONTENT.whole(2)], [TimeoutError(), BrokenPipeError()], done=3
    )
    one.lose_sender()
    assert (kinds(one, NOTICED), kinds(one, WATCHED)) == ([SILENCE], [END])
    assert channel.watched == [False, False, False, True]
    assert one.worker.outcome.counters[LOSSES] == {
        "lost": 1,
        "doubled": 0,
        "reordered": 0,
        "torn": 0,
    }
    assert {NOTICED, WATCHED} == one.worker.outcome.samples.keys()


def test_who_receives_nothing_counts_as_many_messages_as_who_receives_some() -> None:
    _, nothing = survivor([], [], done=3)
    nothing.finish()
    _, one = survivor([CONTENT.whole(0)], [], done=1)
    one.receive(1)
    one.finish()
    facts = [each.worker.outcome.facts for each in (nothing, one)]
    assert facts == [{"numbered": 0, "compared": 0}, {"numbered": 1, "compared": 1}]


def test_one_that_notices_is_not_watched() -> None:
    channel, one = survivor([], [BrokenPipeError()], done=1)
    one.lose_idle_sender()
    assert (kinds(one, NOTICED), kinds(one, WATCHED), channel.watched) == ([END], [END], [False])


@pytest.mark.parametrize(
    ("error", "inside", "kind"),
    [
        (TimeoutError(), False, SILENCE),
        (BrokenPipeError(), False, END),
        (ConnectionResetError(), True, HALF),
        (ValueError(), False, ERROR),
        (StopIteration(), False, WELL),
    ],
)
def test_what_is_seen_has_a_name(error: Exception, inside: bool, kind: str) -> None:
    def attempt() -> None:
        raise error

    assert attempt_outcome(attempt, lambda: inside)[0] == kind


def test_messages_are_accounted_for() -> None:
    whole = CONTENT.whole(7)
    assert [CONTENT.number_of(CONTENT.whole(number)) for number in (0, 7, 40, -1)] == [
        0,
        7,
        40,
        -1,
    ]
    altered = whole[:30] + bytes([whole[30] ^ 1]) + whole[31:]
    halves = whole[:32] + CONTENT.whole(8)[32:]
    for wrong in (whole[:-1], whole + b"\0", altered, halves, bytes(SIZE)):
        assert CONTENT.number_of(wrong) is None
    assert Content("other", SIZE).number_of(whole) is None  # of another launch
    assert losses(5, [0, 2, 1, 1, None]) == {"lost": 2, "doubled": 1, "reordered": 1, "torn": 1}
    # the last one was on its way when its writer was killed
    assert not any(losses(3, [0, 1, 2, 3]).values())


def test_ends_are_counted_with_their_interval() -> None:
    head = {"backend": "unix", "fault": "killed-idle", "op": NOTICED, "unit": "count"}
    rows = [
        {**head, "metric": kind, "value": float(kind == END)}
        for _ in range(20)
        for kind in (END, SILENCE)
    ]
    (found,) = seen(pd.DataFrame(rows), NOTICED).to_dict("records")
    assert (found["kind"], found["hits"], found["trials"], found["high"]) == (END, 20, 20, 1)
    assert found["low"] == pytest.approx(0.025 ** (1 / 20), abs=1e-6)
    lost = [{**head, "op": LOSSES, "metric": "lost", "value": value} for value in (0.0, 3.0, 1.0)]
    assert most(pd.DataFrame(lost), LOSSES)[["median", "most"]].values.tolist() == [[1, 3]]


def test_who_tells_of_a_fault_tells_of_it_in_every_launch_in_whatever_way() -> None:
    ends = {"unix": [END] * 4 + [HALF] * 6, "tcp": [END] * 9 + [SILENCE], "sysv-mq": [SILENCE]}
    rows = [
        {
            "backend": name,
            "fault": "killed-writing",
            "op": NOTICED,
            "metric": kind,
            "unit": "count",
            "value": kind == each,
        }
        for name, seen_as in ends.items()
        for each in seen_as
        for kind in (END, HALF, SILENCE)
    ]
    told = telling(seen(pd.DataFrame(rows), NOTICED))
    assert told.to_dict("records") == [{"backend": "unix", "fault": "killed-writing"}]
    assert telling(seen(pd.DataFrame(), NOTICED)).empty


def test_what_is_left_is_found_by_name(tmp_path: Path) -> None:
    prefix = "ipclab-1-0000-7"
    names = [
        SHARED_MEMORY / f"{prefix}-store",
        SHARED_MEMORY / f"sem.{prefix}-full",
        tmp_path / "7-socket",
    ]
    (tmp_path / "77-socket").touch()
    for name in names:
        name.touch()
    try:
        assert left(prefix, str(tmp_path)) == {"shared_memory": 2, "files": 1, "queues": 0}
    finally:
        for name in names:
            name.unlink()


def test_its_points_are_every_fault_of_every_mechanism_and_too_short_a_message_is_refused() -> None:
    study = FaultsStudy()
    points = study.points(profile("standard"), Sweep(None, ("unix", "posix-mq", "lmdb")))
    found = {(point.backend, point.levels["fault"]) for point in points}
    assert found == {(name, fault) for name in ("unix", "posix-mq") for fault in FAULTS} | {
        ("lmdb", LOCKED)
    }
    effort = study.effort(profile("standard"))
    assert effort.least_launches == effort.most_launches == effort.least_values == 5
    with pytest.raises(UsageError, match="15 bytes"):
        study.points(profile("smoke"), Sweep((15,)))
    assert "faults" not in Request(profile="quick").names()
    assert "faults" in Request(profile="standard").names()


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunFolder]:
    with pytest.MonkeyPatch.context() as patch:
        data = tmp_path_factory.mktemp("data")
        patch.setenv("IPCLAB_DATA", str(data))
        run = measure_run(
            Paths(ROOT), Request(("faults",), "smoke", sweep=Sweep(None, STUDIED)), Progress()
        )
        assert run.complete
        mine = f"ipclab-{os.getpid()}-"
        assert not [
            name for name in (*kernel_objects(), *map(str, SHARED_MEMORY.iterdir())) if mine in name
        ]
        assert not [*data.glob("runs/.ledger/*")]
        yield run


@pytest.fixture(scope="module")
def values(run: RunFolder) -> Callable[[str, str, str, str], float]:
    frame = derived.read_frame(run, "faults", "launches")

    def mean(backend: str, fault: str, op: str, metric: str) -> float:
        rows = frame[
            (frame.backend == backend)
            & (frame.fault == fault)
            & (frame.op == op)
            & (frame.metric == metric)
        ]
        assert len(rows) == profile("smoke").least_values
        return float(rows.value.mean())

    return mean


@pytest.mark.slow
def test_real_faults_are_seen(values: Callable[[str, str, str, str], float]) -> None:
    assert values("unix", "killed-idle", NOTICED, END) == 1
    assert values("posix-mq", "killed-idle", NOTICED, SILENCE) == 1
    assert values("posix-mq", "killed-idle", WATCHED, END) == 1
    for name in ("unix", "posix-mq"):
        assert values(name, "killed-writing", LOSSES, "lost") == 0
        assert values(name, "stopped-writing", NOTICED, END) == 0  # it is not taken for dead
        assert values(name, "stopped-reading", LOSSES, "lost") == 0
    assert values("posix-mq", "killed-reading", LOSSES, "lost") > 0
    assert values("posix-mq", "killed-idle", "left", "queues") == 2
    assert values("unix", "killed-idle", "left", "files") == 1
    assert (
        values("lmdb", LOCKED, NOTICED, "old") == values("posix-shm", LOCKED, NOTICED, SILENCE) == 1
    )
    assert (
        values("lmdb", LOCKED, "recovered", "yes")
        == values("posix-shm", LOCKED, "recovered", "yes")
        == 1
    )
