"""The native package with real processes: samples, the channel, and what a peer can do to it."""

import mmap
import os
import signal
import struct
import time
from pathlib import Path

import pytest

from ipclab.spawn.processes import children
from tests.support.commands import eventually
from tests.support.strangers import busy

native = pytest.importorskip("ipclab_native", reason="the native package is not built (no cargo)")

BUDGET, MOST, DEADLINE = 500_000, 30, 60_000_000_000
CAPACITY = 100_000
MAPPINGS = ("truncated", "reopened", "kept", "file")
ALONE = [
    "clock",
    "syscall",
    "memcpy",
    *(f"{op}-{way}" for way in MAPPINGS for op in ("write", "read")),
]
TOGETHER = [
    "futex-wake",
    *(f"echo-{kind}" for kind in ("shm-spin", "shm-futex", "pipe", "unix", "packet", "tcp", "mq")),
    *(f"transfer-{kind}" for kind in ("shm", "tcp-new", "tcp-kept")),
    *(f"flow-{kind}" for kind in ("ring", "pipe", "unix", "packet", "tcp", "mq")),
]


def cpus():
    """One pair on one CPU, one on two where there are two."""
    ids = sorted(os.sched_getaffinity(0))
    return [(ids[0], ids[0]), (ids[0], ids[1])] if len(ids) > 1 else [(ids[0], ids[0])]


@pytest.fixture
def segment():
    fd = os.memfd_create("ipclab-test")
    os.ftruncate(fd, native.Channel.segment_size(CAPACITY))
    yield fd
    os.close(fd)


def turns(kind, size=1, pair=(-1, -1), path="", number=3):
    """Return the samples of some turns of a limit, which is closed then."""
    limit = native.Limit(kind, size, pair, str(path))
    found = [limit.turn(BUDGET, MOST, DEADLINE) for _ in range(number)]
    limit.close()
    with pytest.raises(ValueError, match="closed"):
        limit.turn(BUDGET, MOST, DEADLINE)
    assert all(1 <= len(samples) <= MOST and min(samples) > 0 for samples in found)
    return found


@pytest.mark.parametrize("kind", ALONE + TOGETHER)
def test_every_limit_takes_turns(kind, tmp_path):
    for size in (1, 8_000 if kind.endswith("-mq") else 300_001):
        for pair in cpus() if kind in TOGETHER else [(-1, -1)]:
            found = turns(kind, size, pair, tmp_path / "payload")
            if kind.startswith("flow-"):
                assert [len(samples) for samples in found] == [1] * 3
            assert not list(tmp_path.iterdir())


def test_a_payload_that_another_wrote_is_no_sample(tmp_path):
    path = tmp_path / "payload"
    limit = native.Limit("read-reopened", 100, (-1, -1), str(path))
    path.write_bytes(bytes(100))
    with pytest.raises(ValueError, match="not what was written"):
        limit.turn(BUDGET, MOST, DEADLINE)


@pytest.mark.parametrize("way", MAPPINGS)
def test_what_is_there_already_is_not_written_to(tmp_path, way):
    precious, path = tmp_path / "precious", tmp_path / "payload"
    for target in (precious, tmp_path / "nowhere"):
        precious.write_bytes(b"precious")
        path.symlink_to(target)
        with pytest.raises(FileExistsError, match=r"is there already: .*; remove it"):
            native.Limit(f"write-{way}", 84, (-1, -1), str(path))
        assert precious.read_bytes() == b"precious"
        assert path.is_symlink() and not (tmp_path / "nowhere").exists()
        path.unlink()


def test_strangers_on_loopback_are_let_go_unheard():
    """As other programs of a busy machine: their bytes were taken for a payload, their silence for
    a sender that hangs.
    """
    with busy() as knocked:
        limit = native.Limit("transfer-tcp-new", 84, cpus()[-1])
        while len(knocked) < 100:
            assert limit.turn(BUDGET, MOST, DEADLINE)
        limit.close()


def test_cache_lines_travel_between_cpus_only():
    same, *cross = cpus()
    for kind in ("cache-line", "cache-line-cas"):
        with pytest.raises(ValueError, match="within one CPU"):
            native.Limit(kind, 1, same)
        for pair in cross:
            turns(kind, pair=pair)


@pytest.mark.parametrize("kind", ["echo-shm-spin", "flow-ring", "cache-line"])
def test_between_turns_the_ends_of_a_limit_sleep(kind):
    pair = cpus()[-1]
    if kind == "cache-line" and pair[0] == pair[1]:
        pytest.skip("it needs two CPUs")
    before = children()
    limit = native.Limit(kind, 64, pair)
    limit.turn(BUDGET, MOST, DEADLINE)
    ends = children() - before
    assert len(ends) == 2
    assert eventually(lambda: rest(ends))
    limit.close()
    assert children() == before


@pytest.mark.parametrize("kind", ["echo-pipe", "transfer-shm", "flow-unix"])
def test_a_killed_end_ends_the_turn_and_leaves_no_process(kind):
    before = children()
    limit = native.Limit(kind, 100, (-1, -1))
    limit.turn(BUDGET, MOST, DEADLINE)
    os.kill(min(children() - before), signal.SIGKILL)
    with pytest.raises(BrokenPipeError, match="died"):
        limit.turn(BUDGET, MOST, DEADLINE)
    assert children() == before


def test_a_limit_fails_at_its_deadline_and_leaves_no_process():
    before, running = os.sched_getaffinity(0), children()
    limit = native.Limit("echo-unix", 100, cpus()[0])
    os.kill(min(children() - running), signal.SIGSTOP)
    with pytest.raises(TimeoutError):
        limit.turn(BUDGET, MOST, 50_000_000)
    assert children() == running
    assert os.sched_getaffinity(0) == before


def rest(pids):
    """Tell whether processes sleep and do not run for a while (one that spins never sleeps)."""
    spent = [ran_ns(pid) for pid in pids]
    time.sleep(0.05)
    return all(map(sleeps, pids)) and [ran_ns(pid) for pid in pids] == spent


def sleeps(pid):
    """Tell whether a process waits to be woken (proc(5), stat: its state follows its name)."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"


def ran_ns(pid):
    """Return for how long a process has run, in ns (proc(5), schedstat)."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


@pytest.mark.parametrize(
    ("kind", "size", "pair"),
    [
        ("echo-smoke", 1, (-1, -1)),
        ("flow-smoke", 1, (-1, -1)),
        ("transfer-smoke", 1, (-1, -1)),
        ("smoke", 1, (-1, -1)),
        ("echo-pipe", 0, (-1, -1)),
        ("echo-pipe", 1, (-2, 0)),
        ("echo-pipe", 1, (1000, 0)),
    ],
)
def test_bad_arguments_are_value_errors(kind, size, pair):
    with pytest.raises(ValueError):
        native.Limit(kind, size, pair).turn(BUDGET, MOST, DEADLINE)


def test_a_sender_ahead_waits_for_room_and_its_last_message_is_not_lost(segment):
    one, other = (native.Channel(segment, CAPACITY, side, "block") for side in (0, 1))
    one.send(b"first", DEADLINE)
    with pytest.raises(TimeoutError):
        one.send(b"second", 20_000_000)
    assert other.recv(DEADLINE) == b"first"
    one.send(b"second", DEADLINE)
    one.close()
    one.close()
    with pytest.raises(ValueError, match="closed"):
        one.send(b"", DEADLINE)
    assert other.recv(DEADLINE) == b"second"
    for over in (lambda: other.recv(DEADLINE), lambda: other.send(b"", DEADLINE)):
        with pytest.raises(BrokenPipeError, match="closed"):
            over()


def test_a_message_too_long_for_slot_or_buffer_is_refused(segment):
    one, other = (native.Channel(segment, CAPACITY, side, "block") for side in (0, 1))
    with pytest.raises(ValueError, match="capacity"):
        one.send(bytes(CAPACITY + 1), DEADLINE)
    one.send(b"four", DEADLINE)
    with pytest.raises(ValueError, match="does not fit"):
        other.recv_into(bytearray(3), DEADLINE)
    with pytest.raises(ValueError, match="read-only"):
        other.recv_into(b"four", DEADLINE)
    assert other.recv(DEADLINE) == b"four"


@pytest.mark.parametrize(
    ("offset", "value", "words"),
    [
        (0, struct.pack("<II", 1, CAPACITY + 1), "a message of"),
        (0, struct.pack("<II", 1, 0xFFFFFFFF), "a message of"),
        (0, struct.pack("<II", 9, 4), "sequence jumped"),
    ],
)
def test_a_hostile_header_is_refused(segment, offset, value, words):
    channel = native.Channel(segment, CAPACITY, 0, "spin")
    with mmap.mmap(segment, 0) as raw:
        theirs = len(raw) // 2
        raw[theirs + offset : theirs + offset + len(value)] = value
        for _ in range(2):
            with pytest.raises(ValueError, match=words):
                channel.recv(DEADLINE)


def test_a_segment_is_taken_once_and_must_be_large_enough(segment):
    first = native.Channel(segment, CAPACITY, 0, "spin")
    with pytest.raises(ValueError, match="taken"):
        native.Channel(segment, CAPACITY, 0, "spin")
    with pytest.raises(ValueError, match="needed"):
        native.Channel(segment, 10 * CAPACITY, 1, "spin")
    with pytest.raises(ValueError, match="side"):
        native.Channel(segment, CAPACITY, 2, "spin")
    with pytest.raises(ValueError, match="wait"):
        native.Channel(segment, CAPACITY, 1, "sleep")
    with pytest.raises(OSError, match="Bad file descriptor"):
        native.Channel(-1, CAPACITY, 1, "spin")
    first.close()
