"""The payload study with real processes: the faithful arm, the proof, the TCP past, strangers."""

import io
import os
import pickle
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ipclab.errors import LabError
from ipclab.machine import Source, Topology
from ipclab.machine.placement import placements
from ipclab.spawn.failures import LaunchError, WrongDataError
from ipclab.spawn.heat import Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.loops import FAULT_REPEATS
from ipclab.spawn.names import KEY
from ipclab.spawn.proof import PayloadError
from ipclab.spawn.started import Role
from ipclab.spawn.worker import Worker
from ipclab.store.launch import UNRECORDED, Launch
from ipclab.store.point import Point
from ipclab.studies.interface import Sweep
from ipclab.studies.payload import SIZES, mapping, original, published, tcp
from ipclab.studies.payload.study import PayloadStudy
from ipclab.studies.profile import PROFILES
from tests.support.commands import names_of
from tests.support.measured import SEED, measured
from tests.support.targets import Evil

STUDY = PayloadStudy()
SMOKE = PROFILES["smoke"]
PLACED = placements(Topology.read(Source()))
TURNS, SECOND = 2, 10**9
PAGE = os.sysconf("SC_PAGE_SIZE")
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


def launches(launcher: Launcher, chosen: list[Point], turns: int = 1) -> list[Launch]:
    """Return the launches of points that took turns in one heat, of which nothing is left."""
    entered = [
        (point, STUDY.roles(point, SMOKE, PLACED[point.placement], SEED)) for point in chosen
    ]
    made = measured(launcher, STUDY, entered, Schedule(turns=turns))
    assert names_of(launcher.session.id) == []
    return made


def small_pages() -> bool:
    return not HUGE.exists() or "[never]" in HUGE.read_text()


# What is swept.


def test_the_arms_and_their_levels() -> None:
    found = STUDY.points(SMOKE, Sweep())
    assert len({point.id for point in found}) == len(found)
    blocks = dict.fromkeys(point.block for point in found)
    assert [*blocks] == [f"payload-{size}" for size in SIZES]
    sizes: dict[str, set[int]] = {}
    for point in found:
        sizes.setdefault(str(point.levels["arm"]), set()).add(point.size_bytes)
    # v0.9 moved other sizes than its text says
    listing = {88, 14_152, 1_384_120}
    assert sizes.pop("published") == sizes.pop("one-thread") == listing
    assert sizes == {arm: {*SIZES} for arm in ("mapping", "file", "handover", "tcp", "v0.9")}


def test_a_sweep_replaces_the_studys_own_levels_and_no_point_is_measured_twice() -> None:
    found = STUDY.points(SMOKE, Sweep((400, 400), ("file", "mp-shm")))
    assert {point.backend for point in found} == {"file", "mp-shm"}
    assert {point.size_bytes for point in found} == {400}
    assert len({point.id for point in found}) == len(found)


# Every arm, in one heat.


@pytest.fixture(scope="module")
def small(launcher: Launcher) -> list[tuple[Point, Launch]]:
    chosen = points(84)
    return list(zip(chosen, launches(launcher, chosen, TURNS), strict=True))


def test_every_point_is_measured_in_turns_and_proven(small: list[tuple[Point, Launch]]) -> None:
    for point, done in small:
        arm = point.levels["arm"]
        assert set(point.primary) <= set(done.samples)
        assert not {"start", "end"} & set(done.samples)
        assert all(counters["cpu_ns"] >= 0 for counters in done.counters.values())
        assert done.flags == []
        for op in point.primary:
            assert 0 < done.samples[op].min() <= done.samples[op].max() < SECOND
            if arm in ("published", "one-thread"):  # programs, which take no turns
                assert len(done.samples[op]) == 100
                continue
            turns = done.turns[op]
            assert len(turns) == TURNS and sum(turns) == len(done.samples[op])
            assert all(SMOKE.least_samples <= count <= SMOKE.most_samples for count in turns)
            assert arm == "v0.9" or UNRECORDED + op in done.samples
        if arm not in ("published", "one-thread"):
            assert int(str(done.facts["compared"])) > 0


@pytest.mark.skipif(
    not small_pages(), reason="transparent huge pages in shared memory change the faults"
)
@pytest.mark.parametrize("kind", ["truncated", "reopened", "kept"])
def test_phases_add_up_and_a_kept_mapping_faults_no_more(
    small: list[tuple[Point, Launch]], kind: str
) -> None:
    (done,) = (done for point, done in small if point.levels.get("mapping") == kind)
    for op in ("write", "read"):
        phases = [values for name, values in done.samples.items() if name.startswith(f"{op}.")]
        assert len(phases) == len(mapping.PHASES[kind][op])
        assert np.array_equal(np.sum(phases, axis=0), done.samples[op])
        assert done.counters[op]["minor_faults"] == (kind != "kept")


def test_large_payloads_arrive_whole(launcher: Launcher) -> None:
    chosen = points(1_382_400, arm="tcp", placement="same")
    for done in launches(launcher, chosen):
        assert len(done.samples["handover"]) >= SMOKE.least_samples


# The faithful arm.


def test_the_published_method_is_followed_to_the_count(launcher: Launcher) -> None:
    (point,) = points(arm="published", size_bytes=1_384_120)  # type: ignore[arg-type]
    (done,) = launches(launcher, [point])
    assert {op: len(values) for op, values in done.samples.items()} == {"write": 100, "read": 100}
    if not small_pages():
        pytest.skip(f"{HUGE} is not [never]: one fault may map more than a page")
    faults = {op: counters["minor_faults"] for op, counters in done.counters.items()}
    assert faults["write"] == -(-1_384_120 // PAGE)
    # the kernel's default; the file is root's, on debugfs
    around = int(FAULT_AROUND.read_text()) if os.access(FAULT_AROUND, os.R_OK) else 65_536
    windows = -(-1_384_120 // max(around, PAGE))
    if faults["read"] != windows and not FAULT_AROUND.exists():
        pytest.skip("this kernel's fault-around is unknown and not the default")
    assert faults["read"] == windows


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


# The proof.


@pytest.mark.parametrize(
    ("receive", "fault", "told"),
    [
        ("recv-4096", "torn", "message 4 arrived with other bytes at 42"),
        ("recv-into", "stale", "message 4 did not arrive: message 2 came in its place, again"),
    ],
)
def test_a_sender_that_lies_is_caught(
    launcher: Launcher, receive: str, fault: str, told: str
) -> None:
    levels = {"receive": receive, "connection": "new", "codec": "raw", "placement": "same"}
    sender, receiver = STUDY.roles(points(84, arm="tcp", **levels)[0], SMOKE, PLACED["same"], SEED)
    liar = replace(
        sender,
        target="tests.support.targets:send_planted",
        arguments={**sender.arguments, "fault": fault},
    )
    with pytest.raises(WrongDataError, match=told):
        launcher.launch([liar, receiver], 30)


@pytest.mark.parametrize("kind", ["truncated", "kept", "file"])
def test_what_is_read_back_otherwise_than_written_is_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = Worker(socket.socketpair()[0], "program", "ipclab-1-2-aa-1", str(tmp_path))
    monkeypatch.setattr(published, "SHARED_MEMORY", tmp_path)
    passed = mapping.Passed.check

    def lied(self: mapping.Passed, content: bytes) -> None:
        passed(self, content[:-1] + bytes([content[-1] ^ 1]))

    monkeypatch.setattr(mapping.Passed, "check", lied)
    sampling = {"budget_ns": 10**5, "least": 3, "most": 20}
    turns = mapping.time_mapping(worker, 4000, SEED, sampling, kind)
    next(turns)
    with pytest.raises(PayloadError, match="other bytes at 3999"):
        turns.send({"program": {}})
    assert not list(tmp_path.glob("*payload*"))


# Strangers.


@pytest.mark.slow
@pytest.mark.parametrize("connection", ["kept", "new"])
def test_strangers_are_dropped_and_the_launch_is_made_again(
    launcher: Launcher, connection: str
) -> None:
    """Garbage, a wrong token, a short header, a reset and silence, all of them before the sender."""
    point = points(84, arm="tcp", codec="raw", connection=connection, placement="same")[0]
    sender, receiver = STUDY.roles(point, SMOKE, PLACED["same"], SEED)
    among = replace(sender, target="tests.support.targets:send_among_strangers")
    done = STUDY.collect(point, launcher.launch([among, receiver], 30), SEED)
    assert done.flags == ["strangers"]  # so that the stopping rule asks for another
    assert 3 <= len(done.samples["handover"]) <= 20


@contextmanager
def stranger(says: bytes, ours: socket.socket, theirs: socket.socket) -> Iterator[None]:
    """Have another thread connect to the port that a receiver of v0.9 tells `theirs`, say something
    there, and tell its own.
    """

    def run() -> None:
        port = original.PORT.unpack(theirs.recv(2))[0]
        with socket.create_connection(("127.0.0.1", port)) as link:
            link.sendall(says)
            theirs.send(original.PORT.pack(link.getsockname()[1]))

    with ours, theirs:
        thread = threading.Thread(target=run)
        thread.start()
        yield
        thread.join()


def test_a_transfer_of_somebody_else_is_told_by_its_port() -> None:
    ours, theirs = socket.socketpair()
    array = b"\x00\x00\x80\x3f" * 3
    with stranger(original.SHAPE.pack(1, 1, 3) + array, ours, theirs):
        got, _, peer = original._transfer(ours, 4096)
        assert got.tobytes() == array and got.shape == (1, 1, 3)
        assert ours.recv(2) == original.PORT.pack(peer)


def test_a_header_that_is_cut_ends_the_transfer() -> None:
    ours, theirs = socket.socketpair()
    with stranger(b"1234", ours, theirs), pytest.raises(LabError, match="4 bytes arrived"):
        original._transfer(ours, 4096)


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


def test_a_header_without_the_token_is_all_that_is_read() -> None:
    ours, theirs = socket.socketpair()
    theirs.sendall(tcp.HEADER.pack(1 << 30, b"guess") + b"body")
    receiver = tcp._Receiver(socket.socket(), b"another ", 84, 4096, True)
    assert receiver._length(ours) is None
    assert ours.recv(100) == b"body"
