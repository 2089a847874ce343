"""The round-trip study: its points, what its ends keep, and how both are joined."""

import importlib.metadata
import tracemalloc
from array import array
from collections import Counter
from itertools import chain, pairwise
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from ipclab.backends.interface import Channel
from ipclab.backends.waiting import Peer, wait
from ipclab.spawn.answered import Proof
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.loops import DISCARDED
from ipclab.spawn.worker import Outcome
from ipclab.store.launch import UNRECORDED, Launch
from ipclab.store.point import Point
from ipclab.studies.interface import Sweep
from ipclab.studies.profile import PROFILES, Profile
from ipclab.studies.round_trip import GAPS_NS, SIZES, RoundTripStudy, published, start
from ipclab.studies.round_trip.ends import INTENDED, OP
from ipclab.studies.round_trip.published import PACKAGE
from tests.spawn.test_proof import end, ends
from tests.support.measured import FREE, SEED, measured

STUDY = RoundTripStudy()
QUICK, SMOKE, FULL = PROFILES["quick"], PROFILES["smoke"], PROFILES["full"]
SECOND = 10**9
LEVELS = {"wait": "block", "receive": "bytes", "gap_ns": 0, "touch": "full"}


def points(
    backend: str, profile: Profile = QUICK, sizes: tuple[int, ...] | None = None
) -> list[Point]:
    return STUDY.points(profile, Sweep(sizes, (backend,)))


def arms(found: list[Point]) -> Counter[object]:
    return Counter(point.levels["arm"] for point in found)


def test_the_arms_of_a_backend_vary_one_factor_each() -> None:
    found = points("posix-shm")
    # 5 sizes in 2 placements and `free` at the smallest; 2 more waits and 4 gaps in both; at the
    # largest size 3 touches
    # of what was received with the least copying, and one that was not; the first moments in both.
    assert arms(found) == {"main": 11, "wait": 4, "gap": 8, "touch": 4, "start": 2}
    assert arms(points("posix-shm", PROFILES["standard"])) == arms(found) + Counter(boundary=4)
    assert len({point.id for point in found}) == len(found)
    assert sorted({point.size_bytes for point in found}) == list(SIZES)
    main = [point.levels for point in found if point.levels["arm"] == "main"]
    assert main == [{"arm": "main", **LEVELS}] * 11
    changed = {"wait": {"wait"}, "gap": {"gap_ns"}, "touch": {"receive", "touch"}}
    for point in found:
        differ = {name for name, level in LEVELS.items() if point.levels[name] != level}
        assert differ <= changed.get(str(point.levels["arm"]), set()), point.id
    assert {point.levels["gap_ns"] for point in found} == {0, *GAPS_NS}
    # whoever is named is measured after gaps that are named
    named = STUDY.points(QUICK, Sweep(backends=("pipe",), levels={"gap_ns": (5_000,)}))
    assert {p.levels["gap_ns"] for p in named if p.levels["arm"] == "gap"} == {5_000}
    assert "gap" not in arms(points("pipe"))


def test_a_sweep_replaces_sizes_and_every_arm_follows() -> None:
    found = points("posix-shm", sizes=(5000, 12))
    by_size = {
        size: arms([point for point in found if point.size_bytes == size]) for size in (12, 5000)
    }
    assert by_size[12] == {"main": 3, "wait": 4, "gap": 8, "start": 2}
    assert by_size[5000] == {"main": 2, "touch": 4}
    assert arms(points("pipe", sizes=(1,))) == {"main": 3, "wait": 4, "start": 2}
    assert (
        arms(points("zmq-ipc", sizes=(1,)))["published"]
        == arms(points(PACKAGE, sizes=(1,)))["published"]
        == 3
    )


def test_first_moments_are_parted_by_time_and_a_stall_is_in_all_parts_that_it_lasts_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent: list[bytes] = []
    echo: Any = SimpleNamespace(
        send=lambda data, timeout_ns: sent.append(bytes(data)), recv=lambda timeout_ns: sent[-1]
    )
    # A trip of 5 ms each, but one from 15 to 35 ms.
    ends = [5, 10, 15, 35, *range(40, 400, 5)]
    clocks = iter([0, *chain.from_iterable(pairwise([0, *ends]))])
    monkeypatch.setattr(start, "clock", lambda: next(clocks) * 1_000_000)
    client = end("client")
    proof = Proof(client, 100)
    planned = proof.plan
    monkeypatch.setattr(proof, "plan", lambda count: [False] * len(planned(count)))
    monkeypatch.setattr(proof, "check", lambda *_: None)  # this echo has no secret
    start.ask_from_start(client, echo, proof)
    millions = {
        op: [value // 1_000_000 for value in values]
        for op, values in client.outcome.samples.items()
    }
    assert [*millions] == [f"since-start.{begin}" for begin in start.BEGINS_MS]
    assert [*millions.values()][:5] == [[5, 5], [5, 20], [20], [20, 5], [5] * 4]
    assert sent[-1] == sent[-2]  # which is the end
    assert len(set(sent)) == len(sent) - 1


class Queued:
    """A channel's end between threads."""

    def __init__(self, come: Queue[bytes], go: Queue[bytes]) -> None:
        self.come, self.go = come, go

    def send(self, data: bytes, timeout_ns: int) -> None:
        self.go.put(bytes(data))

    def recv(self, timeout_ns: int) -> bytes:
        try:
            return self.come.get(timeout=10)
        except Empty:
            raise TimeoutError from None


def test_first_moments_go_on_when_the_numbers_of_short_messages_come_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ticks = iter(range(0, 10**12, 100_000))  # ns: a trip has two, a thousand trips fill the time
    monkeypatch.setattr(start, "clock", lambda: next(ticks))
    there, back = Queue[bytes](), Queue[bytes]()
    asking = end("client")
    server, client = Proof(end("server"), 1), Proof(asking, 1)
    echo = Thread(target=start.echo_from_start, args=(Queued(there, back), server), daemon=True)
    echo.start()
    start.ask_from_start(asking, cast("Channel", Queued(back, there)), client)
    echo.join(10)
    assert not echo.is_alive()
    assert client.made > 2 * 256
    assert there.empty()
    assert back.empty()


def test_a_look_at_a_long_message_takes_no_new_memory() -> None:
    server, client = ends(1_000_000, "view")
    server.plan(3), client.plan(3)
    tracemalloc.start()
    try:
        for _ in range(3):
            client.check(server.answer(client.next(), look=True), look=True)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert client.compared == 3
    assert peak < 100_000, "page faults of a look are in the round trips after it"


def test_the_quick_profile_measures_some_at_the_smallest_size_alone_unless_asked() -> None:
    def sizes(profile: Profile, sweep: Sweep) -> set[int]:
        return {
            point.size_bytes
            for point in STUDY.points(profile, sweep)
            if point.backend == "posix-mq"
        }

    assert sizes(QUICK, Sweep()) == {SIZES[0]}
    assert sizes(QUICK, Sweep(None, ("posix-mq",))) == sizes(FULL, Sweep()) == set(SIZES)


def test_a_message_that_the_kernel_refuses_is_not_testable_here(tmp_path: Path) -> None:
    small, large = (Point("round_trip", "posix-mq", size, "same") for size in (100, 1 << 30))
    assert STUDY.missing(small, tmp_path) is None
    told = STUDY.missing(large, tmp_path)
    assert told and told.endswith("bytes at most here; sysctl fs.mqueue.msgsize_max raises it")


def test_points_of_one_size_are_measured_interleaved() -> None:
    found = STUDY.points(QUICK, Sweep())
    # which takes no turns
    blocks = [point.block for point in found if point.levels["arm"] != "start"]
    assert list(dict.fromkeys(blocks)) == [f"round-trip-{size}" for size in SIZES]
    assert blocks == sorted(blocks, key=lambda block: int(block.rpartition("-")[2]))


def point_of(arm: str, backend: str = "posix-shm", **levels: str | int) -> Point:
    wanted = {"arm": arm, **levels}.items()
    found = points(backend, SMOKE, (64, 100))
    return next(point for point in found if wanted <= point.levels.items())


def launches(launcher: Launcher, *chosen: Point) -> list[Launch]:
    entered = [(point, STUDY.roles(point, SMOKE, FREE, SEED)) for point in chosen]
    return measured(launcher, STUDY, entered)


def test_collect_counts_both_ends() -> None:
    counters = {OP: {"cpu_ns": 10.0}}
    ends = {"server": Outcome({}, counters), "client": Outcome({OP: array("q", [5, 7])}, counters)}
    launch = STUDY.collect(points("unix")[0], ends, 3)
    assert launch.samples[OP].tolist() == [5, 7]
    assert launch.counters == {OP: {"cpu_ns": 20.0}}


def test_every_arm_keeps_every_round_trip_and_a_paced_one_those_since_it_was_due(
    launcher: Launcher,
) -> None:
    arms = [
        point_of("main"),
        point_of("wait", wait="spin"),
        point_of("touch", touch="untouched"),
        point_of("touch", receive="into"),
    ]
    *closed, paced = launches(launcher, *arms, point_of("gap", gap_ns=1_000_000))
    for launch in closed:
        assert launch.op_names() == [OP]
        assert len(launch.samples[UNRECORDED + OP]) >= 10 + DISCARDED
        assert SMOKE.least_samples <= len(launch.samples[OP]) <= SMOKE.most_samples
        assert 0 < launch.samples[OP].min() <= launch.samples[OP].max() < SECOND
    started, intended = paced.samples[OP], paced.samples[INTENDED]
    assert len(started) == len(intended) >= SMOKE.least_samples
    assert np.all(intended >= started)  # nothing starts before it is due
    assert int(str(paced.facts["period_ns"])) > 1_000_000


@pytest.mark.parametrize("backend", published.PROGRAMS)
def test_the_published_arm_keeps_the_mean_the_total_and_the_throughput(
    launcher: Launcher, backend: str
) -> None:
    if why := published.program_missing(backend):
        pytest.skip(why)
    (launch,) = launches(launcher, point_of("published", backend))
    count, total = (int(str(launch.facts[name])) for name in ("iterations", "total_ns"))
    assert launch.samples[OP].tolist() == [round(total / count)]
    assert launch.facts["round_trips_per_second"] == count / (total / 1e9)
    assert not [*Path("/dev/shm").glob(f"*{launcher.session.id}*")]


def test_what_the_published_program_leaves_is_removed_by_its_name_and_nobody_elses(
    launcher: Launcher,
) -> None:
    if why := published.program_missing(PACKAGE):
        pytest.skip(why)
    with launcher.naming() as prefix:
        left = [Path(f"/dev/shm/{kind}srb_{prefix}-published_req") for kind in ("", "sem.")]
        others = Path(f"/dev/shm/srb_another-{prefix}")
        for path in (*left, others):
            path.touch()
    try:
        assert [path.exists() for path in (*left, others)] == [False, False, True]
    finally:
        others.unlink()


def test_without_the_package_or_with_another_version_its_arm_is_not_testable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program, echo = points(PACKAGE)[0], points("zmq-ipc")[0]
    for found in ("0.2.5", None):
        monkeypatch.setattr(
            published, "version", lambda name, found=found: found or importlib.metadata.version("-")
        )
        assert (
            STUDY.missing(program, Path())
            == "the package shm-rpc-bridge 0.2.4 is not installed; make setup"
        )
        assert STUDY.missing(echo, Path()) is None


def test_a_wait_asks_once_more_when_the_peer_has_ended() -> None:
    gone = Peer(Peer.me().pid, -1)
    answers = iter([False, True])
    wait("block", lambda: next(answers), lambda left_ns: next(answers), 10**9, gone)
    with pytest.raises(BrokenPipeError):
        wait("block", lambda: False, lambda left_ns: False, 10**9, gone)
    with pytest.raises(TimeoutError):
        wait(
            "spin",
            lambda: False,
            lambda left_ns: pytest.fail("spinning never blocks"),
            0,
            Peer.me(),
        )
