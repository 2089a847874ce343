"""The two processes of a round trip: one that echoes, and one that asks and keeps the time."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from functools import partial
from time import perf_counter_ns as clock
from typing import Any

import numpy as np

from ipclab.backends.installed import backend as find
from ipclab.backends.interface import Channel, Data, Place
from ipclab.backends.waiting import Peer
from ipclab.spawn.loops import await_due, fitting, keep
from ipclab.spawn.proof import digest, payload
from ipclab.spawn.worker import Worker, zeros

WAIT_NS = 10_000_000_000  # as published
PROOF_MESSAGES = 3
HEADER_BYTES = 16
LARGE = 500_000
OP, INTENDED = "round-trip", "intended"

Take = Callable[[int], Data]
Reader = Callable[[Data], object]


@contextmanager
def opened(worker: Worker, backend: str, capacity: int, wait: str) -> Iterator[Channel]:
    """Give this end of a channel of `backend` for messages of at most `capacity` bytes; role `server` listens."""
    kind = find(backend).channel
    if kind is None:
        raise TypeError(f"{backend} has no channel")
    place, me = Place(worker.prefix, worker.folder, capacity, wait, comm=worker.comm), asdict(Peer.me())
    if worker.role == "server":
        channel = kind(place, True)
        other = worker.meet(peer=me, address=channel.address)["client"]
    else:
        other = worker.meet(peer=me)["server"]
        channel = kind(place, False)
        channel.address = other["address"]
    with closing(channel):
        channel.accept(Peer(**other["peer"]), WAIT_NS)
        yield channel


def taker(channel: Channel, receive: str, size: int) -> Take:
    """Return how to take a message of at most `size` bytes by `receive`, one of the backend's `receives`."""
    if receive != "into":
        by: Take = getattr(channel, {"bytes": "recv", "view": "recv_view"}[receive])
        return by
    into: Callable[[memoryview, int], int] = channel.recv_into  # type: ignore[attr-defined]
    buffer = memoryview(bytearray(size))

    def take(timeout_ns: int) -> memoryview:
        return buffer[: into(buffer, timeout_ns)]

    return take


def warm_up(size: int) -> int:
    """Return how many round trips come before the timed ones."""
    return 10 if size < LARGE else 4


READERS: dict[str, Reader] = {
    "untouched": lambda data: None,
    "header": lambda data: bytes(data[:HEADER_BYTES]),
    "full": lambda data: np.frombuffer(data, np.uint8).max(),  # one pass over every byte
}


def serve(worker: Worker, backend: str, size: int, seed: int, **how: Any) -> None:
    """Be the echoing end: send back what came or, in arm `touch`, read of it as much as said and send one's own."""
    with opened(worker, backend, size, how["wait"]) as channel:
        take, echo = taker(channel, how["receive"], size), partial(_echo, channel)
        if how["arm"] == "touch":
            echo = partial(_answer, channel, READERS[how["touch"]], payload(seed, 0, size))
        echo(take, warm_up(size))
        count = worker.meet()["client"]["count"]
        with worker.counting(OP, count):
            echo(take, count)
        worker.outcome.proof = reflect(channel, PROOF_MESSAGES)
        worker.meet()  # the other end is done: nothing is closed under it


def _echo(channel: Channel, take: Take, count: int) -> None:
    send = channel.send
    for _ in range(count):
        send(take(WAIT_NS), WAIT_NS)


def _answer(channel: Channel, read: Reader, own: bytes, take: Take, count: int) -> None:
    for _ in range(count):
        read(take(WAIT_NS))
        channel.send(own, WAIT_NS)


def ask(
    worker: Worker, backend: str, size: int, seed: int, gap_ns: int, budget_ns: int, least: int, most: int, **how: str
) -> None:
    """Be the asking end: warm up, agree on a count, time that many round trips, then prove the payload."""
    arm = how["arm"]
    with opened(worker, backend, size, how["wait"]) as channel:
        take, content = taker(channel, how["receive"], size), payload(seed, 0, size)
        read = READERS[how["touch"]] if arm == "touch" else None
        stamps = closed_loop(channel, take, content, warm_up(size), read)
        each = int(np.median(np.diff(stamps)))
        count = fitting(each + gap_ns, budget_ns, least, most)
        worker.meet(count=count)
        with worker.counting(OP, count):
            if gap_ns:
                _paced(worker, channel, take, content, count, each + gap_ns)
            else:
                stamps = closed_loop(channel, take, content, count, read)
        if not worker.outcome.samples:
            keep(worker, OP, np.diff(stamps))
        worker.outcome.proof = prove(channel, seed, size, PROOF_MESSAGES)
        worker.meet()


def closed_loop(channel: Channel, take: Take, content: bytes, count: int, read: Reader | None) -> Any:
    """Return the clock before the first and after each of `count` round trips, int64 ns."""
    stamps = zeros(count + 1)
    send = channel.send
    stamps[0] = clock()
    if read is None:
        for i in range(1, count + 1):
            send(content, WAIT_NS)
            take(WAIT_NS)
            stamps[i] = clock()
    else:
        for i in range(1, count + 1):
            send(content, WAIT_NS)
            read(take(WAIT_NS))
            stamps[i] = clock()
    return np.frombuffer(stamps, np.int64)


def _paced(worker: Worker, channel: Channel, take: Take, content: bytes, count: int, period_ns: int) -> None:
    """Start a round trip every `period_ns`, late ones at once; keep the time from its start and from its due time."""
    due, starts, ends = zeros(count), zeros(count), zeros(count)
    send, first = channel.send, clock() + period_ns
    for i in range(count):
        due[i] = at = first + i * period_ns
        await_due(at)
        starts[i] = clock()
        send(content, WAIT_NS)
        take(WAIT_NS)
        ends[i] = clock()
    done = np.frombuffer(ends, np.int64)
    keep(worker, OP, done - np.frombuffer(starts, np.int64))
    keep(worker, INTENDED, done - np.frombuffer(due, np.int64))
    worker.outcome.facts["period_ns"] = period_ns


def reflect(channel: Channel, count: int) -> list[str]:
    """Send `count` messages back and return the digest of every byte of each."""
    seen = []
    for _ in range(count):
        data = channel.recv(WAIT_NS)
        channel.send(data, WAIT_NS)
        seen.append(digest(data))
    return seen


def prove(channel: Channel, seed: int, size: int, count: int) -> list[str]:
    """Send messages 0 to `count` - 1 of `seed` and return the digest of every byte of each answer."""
    seen = []
    for sequence in range(count):
        channel.send(payload(seed, sequence, size), WAIT_NS)
        seen.append(digest(channel.recv(WAIT_NS)))
    return seen
