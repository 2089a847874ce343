"""The native ring: many messages by one call, whole and in order, and what it refuses."""

import mmap
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

import numpy as np
import pytest

from ipclab.backends.native_shm import native_missing

native = pytest.importorskip("ipclab_native", reason=native_missing() or "")
CAPACITY, AT_ONCE = 1000, 1_000_000
MINUTE = 60 * 10**9  # for what comes at once, on a busy host too
Ends = tuple[Any, Any]
Segment = tuple[int, int]


@pytest.fixture
def segment() -> Iterator[Segment]:
    """A descriptor of memory for a ring each way, and its bytes."""
    size = native.RingChannel.segment_size(CAPACITY)
    with tempfile.TemporaryFile(dir="/dev/shm") as file:
        os.ftruncate(file.fileno(), size)
        yield file.fileno(), size


@pytest.fixture
def ends(segment: Segment) -> Ends:
    one, other = (native.RingChannel(segment[0], CAPACITY, side, "block") for side in (0, 1))
    return one, other


def test_batches_arrive_whole_and_in_order_over_many_rounds_of_the_ring(ends: Ends) -> None:
    sender, receiver = ends
    words = np.arange(100 * 8, dtype=np.uint64).reshape(100, 8)
    buffer = np.zeros((37, 8), np.uint64)
    for batch in range(100):
        sender.send_many(words + batch * 800, 64, MINUTE)
        seen: list[Any] = []
        while sum(map(len, seen)) < 100:
            count = receiver.recv_many(buffer, 64, MINUTE)
            seen.append(buffer[:count].copy())
        assert np.array_equal(np.concatenate(seen), words + batch * 800)
    with pytest.raises(TimeoutError):
        receiver.recv_many(buffer, 64, AT_ONCE)


def test_a_full_ring_makes_its_sender_wait_and_loses_nothing(ends: Ends) -> None:
    sender, receiver = ends
    sent = filled(sender, lambda number: number.to_bytes(8, "little"))
    received = [int.from_bytes(receiver.recv(MINUTE), "little") for _ in range(sent)]
    assert received == list(range(sent))
    with pytest.raises(TimeoutError):
        receiver.recv(AT_ONCE)


def filled(sender: Any, message: Callable[[int], bytes]) -> int:
    """Send until there is no room; return how many messages there are."""
    for sent in range(100_000):
        try:
            sender.send(message(sent), AT_ONCE)
        except TimeoutError:
            return sent
    raise AssertionError("it was never full")


def test_a_peer_that_frees_a_little_at_a_time_does_not_put_the_deadline_off(
    segment: Segment,
) -> None:
    file, size = segment
    taken = slice(size // 2 + 128, size // 2 + 136)  # what the peer says that it took, in its half
    sender = native.RingChannel(file, CAPACITY, 0, "block")
    with mmap.mmap(file, size) as map:

        def trickle() -> None:
            for step in range(1, 50):
                map[taken] = (8 * step).to_bytes(8, "little")
                time.sleep(0.005)

        filled(sender, lambda number: bytes(CAPACITY))
        peer = Thread(target=trickle)
        peer.start()
        with pytest.raises(TimeoutError):
            sender.send(bytes(CAPACITY), 50_000_000)
        peer.join()


def test_a_ring_does_not_spin(segment: Segment) -> None:
    with pytest.raises(ValueError, match="a ring does not spin: use spin-then-block or block"):
        native.RingChannel(segment[0], CAPACITY, 0, "spin")


def test_what_it_refuses_is_said_and_lost_by_nobody(ends: Ends) -> None:
    sender, receiver = ends
    with pytest.raises(ValueError, match="1001 bytes is beyond the capacity 1000"):
        sender.send(bytes(1001), MINUTE)
    with pytest.raises(ValueError, match="100 bytes are no messages of 64"):
        sender.send_many(bytes(100), 64, MINUTE)
    sender.send(bytes(7), MINUTE)
    with pytest.raises(ValueError, match="a message of 7 bytes, not 64"):
        receiver.recv_many(bytearray(640), 64, MINUTE)
    with pytest.raises(ValueError, match="does not fit a buffer of 6"):
        receiver.recv_into(bytearray(6), MINUTE)
    assert receiver.recv(MINUTE) == bytes(7)
    sender.close()
    with pytest.raises(BrokenPipeError):
        receiver.recv(MINUTE)
    with pytest.raises(ValueError, match="the channel is closed"):
        sender.send(b"", MINUTE)
