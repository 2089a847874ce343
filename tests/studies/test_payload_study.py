"""The payload study with real processes: the faithful arm, the proof, the TCP past, strangers."""

import io
import os
import pickle
import socket
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from ipclab.backends.installed import backends
from ipclab.errors import LabError
from ipclab.machine import Source, Topology
from ipclab.machine.placement import placements
from ipclab.spawn.failures import LaunchError, WrongDataError
from ipclab.spawn.heat import Contestant, Heat, Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.loops import FAULT_REPEATS
from ipclab.spawn.names import KEY
from ipclab.spawn.proof import PayloadError
from ipclab.spawn.started import Role
from ipclab.spawn.worker import Worker
from ipclab.store.launch import UNRECORDED, Launch
from ipclab.store.point import Point
from ipclab.studies.interface import Sweep
from ipclab.studies.payload import MOVED, SIZES, mapping, published, tcp
from ipclab.studies.payload.study import PayloadStudy
from ipclab.studies.profile import PROFILES
from tests.support.commands import names_of
from tests.support.targets import Evil

STUDY = PayloadStudy()
SMOKE = PROFILES["smoke"]
PLACED = placements(Topology.read(Source()))
SEED = 3
PAGE = os.sysconf("SC_PAGE_SIZE")
SEGMENTS = sorted(
    name for name, found in backends().items() if found.segment and not found.missing()
)
FAULT_AROUND = Path("/sys/kernel/debug/fault_around_bytes")
HUGE = Path("/sys/kernel/mm/transparent_hugepage/shmem_enabled")


def points(*sizes: int, **levels: str) -> list[Point]:
    """Return the study's points of `sizes` that have all `levels` and a placement that this machine
    has.
    """
    found = STUDY.points(SMOKE, Sweep(sizes or None))
    return [
        point
        for point in found
        if levels.items() <= point.key().items() and point.placement in PLACED
    ]


def launch(launcher: Launcher, point: Point) -> Launch:
    outcomes = launcher.launch(STUDY.roles(point, SMOKE, PLACED[point.placement], SEED), 30)
    done = STUDY.collect(point, outcomes, SEED)
    assert names_of(launcher.session.id) == []
    return done


def small_pages() -> bool:
    return not HUGE.exists() or "[never]" in HUGE.read_text()


# What is swept.


def test_the_arms_and_their_levels() -> None:
    found = STUDY.points(SMOKE, Sweep())
    assert len({point.id for point in found}) == len(found)
    blocks = Counter(point.block for point in found)
    assert list(blocks) == [f"payload-{size}" for size in SIZES]
    arms = Counter(point.levels["arm"] for point in found if point.block == "payload-84")
    assert arms == {
        "published": 1,
        "one-thread": 1,
        "mapping": 3,
        "file": 1,
        "handover": 3 * len(SEGMENTS),
        "tcp": 14,
        "v0.9": 4,
    }
    listing = ("published", "one-thread")
    assert {point.size_bytes for point in found if point.levels["arm"] in listing} == {
        88,
        14_152,
        1_384_120,
    }
    assert {point.size_bytes for point in found if point.levels["arm"] not in listing} == set(SIZES)
    assert set(MOVED) == set(SIZES)
    tcp_levels = {
        (p.levels["receive"], p.levels["codec"], p.levels["connection"]) for p in points(arm="tcp")
    }
    assert ("recv-4096", "raw", "new") in tcp_levels
    assert len(tcp_levels) == 6


def test_levels_replace_the_studys_own() -> None:
    found = STUDY.points(SMOKE, Sweep((400,), ("file", "mp-shm")))
    assert {point.backend for point in found} == {"file", "mp-shm"}
    assert {point.size_bytes for point in found} == {400}


def test_no_point_is_measured_twice() -> None:
    once, twice = points(84, 88), points(84, 84, 88)
    assert [point.id for point in once] == [point.id for point in twice]
    assert len({point.id for point in once}) == len(once)


# The faithful arm.


@pytest.mark.parametrize("size", [88, 14_152, 1_384_120])
def test_the_published_method_is_followed_to_the_count(launcher: Launcher, size: int) -> None:
    (point,) = points(arm="published", size_bytes=size)  # type: ignore[arg-type]
    done = launch(launcher, point)
    assert {op: len(values) for op, values in done.samples.items()} == {"write": 100, "read": 100}
    assert all(values.min() > 0 for values in done.samples.values())
    if not small_pages():
        pytest.skip(
            f"page faults: {HUGE} is not [never], so that one fault may map more than a page"
        )
    pages = -(-size // PAGE)
    assert done.counters["write"]["minor_faults"] == pages
    if size == 1_384_120 and PAGE == 4096:
        assert pages == 338


def test_the_published_calls_are_made_and_no_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: Counter[tuple[str, int]] = Counter()
    true_open, true_truncate = os.open, os.ftruncate

    def opening(path: str, flags: int, mode: int = 0o777) -> int:
        made["open", flags] += str(path) == file
        return true_open(path, flags, mode)

    def truncating(descriptor: int, size: int) -> None:
        made["ftruncate", size] += 1
        true_truncate(descriptor, size)

    worker = Worker(socket.socketpair()[0], "program", "ipclab-1-2-aa-1", str(tmp_path))
    file = str(tmp_path / worker.name("payload-88"))
    with monkeypatch.context() as patch:
        patch.setattr(published, "SHARED_MEMORY", tmp_path)
        patch.setattr(os, "open", opening)
        patch.setattr(os, "ftruncate", truncating)
        published.write_then_read(worker, 88, SEED)
    each = 100 + FAULT_REPEATS
    expected = {
        ("open", os.O_CREAT | os.O_RDWR): each,
        ("ftruncate", 88): each,
        ("open", os.O_RDONLY): each,
        # before them, so that they find a file of ours
        ("open", os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_RDWR): 1,
    }
    assert +made == expected
    assert list(tmp_path.iterdir()) == [tmp_path / KEY]


def test_a_read_faults_once_for_each_window_around(launcher: Launcher) -> None:
    try:
        window = int(FAULT_AROUND.read_text())
    except OSError:
        window = 65_536  # the kernel's default; the file is root's, on debugfs
    (point,) = points(arm="published", size_bytes=1_384_120)  # type: ignore[arg-type]
    faults = launch(launcher, point).counters["read"]["minor_faults"]
    windows = -(-1_384_120 // max(window, PAGE))
    if faults != windows and not FAULT_AROUND.exists():
        pytest.skip(
            f"this kernel's fault-around is unknown and not the default: {faults} faults, not"
            f" {windows}"
        )
    assert faults == windows


@pytest.mark.skipif(
    not small_pages(), reason="transparent huge pages in shared memory change the faults"
)
@pytest.mark.parametrize("kind", ["truncated", "reopened", "kept"])
def test_phases_add_up_and_a_kept_mapping_faults_no_more(launcher: Launcher, kind: str) -> None:
    (point,) = points(arm="mapping", mapping=kind, size_bytes=13_824)  # type: ignore[arg-type]
    done = launch(launcher, point)
    for op in ("write", "read"):
        phases = [values for name, values in done.samples.items() if name.startswith(f"{op}.")]
        assert len(phases) == len(mapping.PHASES[kind][op])
        assert np.array_equal(np.sum(phases, axis=0), done.samples[op])
    assert 0 < done.facts["compared"] < done.facts["numbered"]  # type: ignore[operator]
    writes = 0 if kind == "kept" else -(-13_824 // PAGE)
    assert done.counters["write"]["minor_faults"] == writes
    assert (done.counters["read"]["minor_faults"] == 0) == (kind == "kept")


@pytest.mark.parametrize("point", points(84), ids=lambda point: point.id)
def test_every_point_can_be_launched_and_is_proven(launcher: Launcher, point: Point) -> None:
    done = launch(launcher, point)
    assert set(point.primary) <= set(done.samples)
    assert not {"start", "end"} & set(done.samples)
    for op in point.primary:
        least = 100 if point.levels["arm"] in ("published", "one-thread") else SMOKE.least_samples
        assert least <= len(done.samples[op]) <= max(100, SMOKE.most_samples)
        assert done.samples[op].min() > 0
    assert all(counters["cpu_ns"] >= 0 for counters in done.counters.values())


@pytest.mark.parametrize("arm", ["handover", "tcp"])
def test_large_payloads_arrive_whole(launcher: Launcher, arm: str) -> None:
    chosen = [point for point in points(1_382_400, arm=arm) if point.placement == "same"]
    for point in chosen:
        assert len(launch(launcher, point).samples["handover"]) >= SMOKE.least_samples


def test_arms_take_turns_of_which_the_first_is_not_kept(launcher: Launcher) -> None:
    arms = ("mapping", "file", "handover", "tcp")
    chosen = {arm: points(84, arm=arm, placement="same")[0] for arm in arms}
    heat = {
        arm: Contestant(point, STUDY.roles(point, SMOKE, PLACED["same"], SEED))
        for arm, point in chosen.items()
    }
    ended = Heat(launcher, Schedule(turns=3, seconds=30)).run(heat)
    for arm, point in chosen.items():
        outcomes = ended[arm]
        assert not isinstance(outcomes, LabError), outcomes
        done = STUDY.collect(point, outcomes, SEED)
        assert set(done.turns) == set(done.op_names())
        assert {UNRECORDED + op for op in done.op_names() if "." not in op} <= set(done.samples)
        for op, turns in done.turns.items():
            assert len(turns) == 3
            assert sum(turns) == len(done.samples[op])
            assert all(SMOKE.least_samples <= count <= SMOKE.most_samples for count in turns)
    assert names_of(launcher.session.id) == []


# The proof.


TOLD = {
    "stale": "did not arrive: message 2 came in its place, again",
    "duplicate": "did not arrive: message 3 came in its place, again",
    "swapped": "did not arrive: message 5 came in its place, too early",
    "torn": "arrived with other bytes at 42",
    "short": "arrived with 80 of 84 bytes",
}


def told(launcher: Launcher, target: str, fault: str, *roles: Role) -> str:
    """Return why a launch of `roles` fails, the first of which is `target` with `fault`."""
    sender, *others = roles
    arguments = {**sender.arguments, "fault": fault}
    liar = Role(sender.name, f"tests.support.targets:{target}", arguments, sender.cpus)
    with pytest.raises(WrongDataError) as caught:
        launcher.launch([liar, *others], 30)
    return str(caught.value)


@pytest.mark.parametrize("name", SEGMENTS)
@pytest.mark.parametrize("fault", [fault for fault in TOLD if fault != "short"])
def test_a_writer_that_lies_is_caught(launcher: Launcher, name: str, fault: str) -> None:
    point = points(84, arm="handover", backend=name, placement="same")[0]
    roles = STUDY.roles(point, SMOKE, PLACED["same"], SEED)
    assert f"message 4 {TOLD[fault]}" in told(launcher, "write_planted", fault, *roles)


@pytest.mark.parametrize("receive", ["recv-4096", "recv-into"])
@pytest.mark.parametrize("fault", TOLD)
def test_a_sender_that_lies_is_caught(launcher: Launcher, receive: str, fault: str) -> None:
    levels = {"receive": receive, "connection": "new", "codec": "raw", "placement": "same"}
    point = points(84, arm="tcp", **levels)[0]
    roles = STUDY.roles(point, SMOKE, PLACED["same"], SEED)
    assert f"message 4 {TOLD[fault]}" in told(launcher, "send_planted", fault, *roles)


@pytest.mark.parametrize("kind", mapping.PHASES)
@pytest.mark.parametrize("lie", ["altered", "stale"])
def test_what_is_read_back_otherwise_than_written_is_refused(
    kind: str, lie: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = Worker(socket.socketpair()[0], "program", "ipclab-1-2-aa-1", str(tmp_path))
    monkeypatch.setattr(published, "SHARED_MEMORY", tmp_path)
    passed = mapping.Passed.check
    before: list[bytes] = []

    def lied(self: mapping.Passed, content: bytes) -> None:
        before.append(content)
        passed(self, before[0] if lie == "stale" else content[:-1] + bytes([content[-1] ^ 1]))

    monkeypatch.setattr(mapping.Passed, "check", lied)
    turns = mapping.time_mapping(
        worker, 4000, SEED, {"budget_ns": 10**5, "least": 3, "most": 20}, kind
    )
    next(turns)
    how = (
        "did not arrive: message .* came in its place" if lie == "stale" else "other bytes at 3999"
    )
    with pytest.raises(PayloadError, match=how):
        for _ in range(3):
            turns.send({"program": {}})
    assert not list(tmp_path.glob("*payload*"))


# Strangers.


def test_the_unpickler_takes_arrays_and_nothing_else(tmp_path: Path) -> None:
    array = published.floats(400, SEED)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        back = tcp.ArrayUnpickler(io.BytesIO(pickle.dumps(array, protocol))).load()
        assert back.tobytes() == array.tobytes()
        evil = pickle.dumps(Evil(str(tmp_path / "made")), protocol)
        with pytest.raises(pickle.UnpicklingError, match=r"posix.system is not part of an array"):
            tcp.ArrayUnpickler(io.BytesIO(evil)).load()
    for harmful in (eval, getattr, np.load, socket.socket):
        with pytest.raises(pickle.UnpicklingError):
            tcp.ArrayUnpickler(io.BytesIO(pickle.dumps(harmful))).load()
    assert list(tmp_path.iterdir()) == []


def test_who_knows_the_token_is_unpickled_with_care(launcher: Launcher, tmp_path: Path) -> None:
    point = points(84, arm="tcp", codec="pickle-0", placement="same")[0]
    _, receiver = STUDY.roles(point, SMOKE, PLACED["same"], SEED)
    stranger = Role(
        "sender",
        "tests.support.targets:evil_sender",
        {"path": str(tmp_path / "made")},
        receiver.cpus,
    )
    with pytest.raises(
        LaunchError, match=r"worker 'receiver' failed: .*posix\.system is not part of an array"
    ):
        launcher.launch([stranger, receiver], 30)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("connection", ["kept", "new"])
def test_strangers_are_dropped_and_the_launch_is_made_again(
    launcher: Launcher, connection: str
) -> None:
    """Garbage, a wrong token, a short header, a reset and silence, all of them before the sender."""
    point = points(84, arm="tcp", codec="raw", connection=connection, placement="same")[0]
    sender, receiver = STUDY.roles(point, SMOKE, PLACED["same"], SEED)
    among = Role(
        "sender", "tests.support.targets:send_among_strangers", sender.arguments, sender.cpus
    )
    done = STUDY.collect(point, launcher.launch([among, receiver], 30), SEED)
    assert done.flags == ["strangers"]  # so that the stopping rule asks for another
    honest = STUDY.collect(point, launcher.launch([sender, receiver], 30), SEED)
    assert honest.flags == []
    assert 3 <= len(honest.samples["handover"]) <= 20 and 3 <= len(done.samples["handover"]) <= 20


def test_a_header_without_the_token_is_all_that_is_read() -> None:
    ours, theirs = socket.socketpair()
    theirs.sendall(tcp.HEADER.pack(1 << 30, b"guess") + b"body")
    receiver = tcp._Receiver(socket.socket(), b"another ", 84, 4096, True)
    assert receiver._length(ours) is None
    assert ours.recv(100) == b"body"
