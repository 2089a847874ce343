"""The two processes of a round trip: one that echoes, and one that asks and keeps the time."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from time import perf_counter_ns as clock
from typing import Any

import numpy as np

from ipclab.backends.installed import backend as find
from ipclab.backends.interface import Channel, Data, Place
from ipclab.spawn import apart
from ipclab.spawn.loops import DISCARDED, keep, operations, paced
from ipclab.spawn.proof import digest, payload
from ipclab.spawn.worker import Turns, Worker, zeros
from ipclab.store.launch import Samples
from ipclab.studies.joining import WAIT_NS, joined
from ipclab.studies.round_trip import start

PROOF_MESSAGES = 3
HEADER_BYTES = 16
LARGE = 500_000
OP, INTENDED = "round-trip", "intended"

Take = Callable[[int], Data]
Reader = Callable[[Data], object]


@contextmanager
def opened(worker: Worker, backend: str, capacity: int, wait: str) -> Iterator[Channel]:
    """Give this end of a channel for messages of `capacity` bytes; role `server` listens."""
    kind = find(backend).channel
    if kind is None:
        raise TypeError(f"{backend} has no channel")
    place = Place(worker.prefix, worker.folder, capacity, wait, comm=worker.comm)
    (channel,), _ = joined(worker, kind, [place], "server", ["client"])
    with closing(channel):
        yield channel


def taker(channel: Channel, receive: str, size: int) -> Take:
    """Return how to take a message of at most `size` bytes by `receive`, one of `receives`."""
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


def serve(worker: Worker, backend: str, size: int, seed: int, **how: Any) -> Turns:
    """Be the echoing end: send back what came; in arm `touch`, read part, answer one's own."""
    with opened(worker, backend, size, how["wait"]) as channel:
        if how["arm"] == "start":
            start.echo(channel, payload(seed, 0, size))
        else:
            take, echo = taker(channel, how["receive"], size), partial(_echo, channel)
            if how["arm"] == "touch":
                echo = partial(_answer, channel, READERS[how["touch"]], payload(seed, 0, size))
            echo(take, warm_up(size))
            while roles := (yield {}):
                count = roles["client"]["count"]
                with worker.counting(OP, count):
                    echo(take, count)
        worker.outcome.proof = reflect(channel)
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
    worker: Worker,
    backend: str,
    size: int,
    seed: int,
    gap_ns: int,
    budget_ns: int,
    least: int,
    most: int,
    **how: str,
) -> Turns:
    """Be the asking end: warm up, time round trips in each turn, then prove the payload."""
    apart.leave(how.get("boundary", apart.NONE))
    with opened(worker, backend, size, how["wait"]) as channel:
        take, content = taker(channel, how["receive"], size), payload(seed, 0, size)
        if how["arm"] == "start":
            start.ask(worker, channel, content)
        else:
            read = READERS[how["touch"]] if how["arm"] == "touch" else None
            times = closed_loop(channel, take, content, warm_up(size), read)
            while True:
                each_ns = int(np.median(times)) + gap_ns
                count = DISCARDED + operations(each_ns, budget_ns, least, most)
                if (yield {"count": count}) is None:
                    break
                with worker.counting(OP, count):
                    if gap_ns:
                        times = _paced(worker, exchange(channel, take, content), count, each_ns)
                    else:
                        times = closed_loop(channel, take, content, count, read)
                keep(worker, OP, times[DISCARDED:])
        worker.outcome.proof = prove(channel, seed, size)
        worker.meet()


def closed_loop(
    channel: Channel, take: Take, content: bytes, count: int, read: Reader | None = None
) -> Samples:
    """Return the time of each of `count` round trips, one after the other, int64 ns."""
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
    clocks: Samples = np.frombuffer(stamps, np.int64)
    return clocks[1:] - clocks[:-1]


def exchange(channel: Channel, take: Take, content: bytes) -> Callable[[int], None]:
    """Return what makes one round trip, whatever its number is."""
    send = channel.send

    def trip(_: int) -> None:
        send(content, WAIT_NS)
        take(WAIT_NS)

    return trip


def _paced(worker: Worker, trip: Callable[[int], None], count: int, period_ns: int) -> Samples:
    """Start a round trip every `period_ns`, late ones at once; return times from starts (ns).

    The times from when they were due are kept, without those discarded.
    """
    due, starts, ends = paced(trip, count, period_ns)
    keep(worker, INTENDED, (ends - due)[DISCARDED:])
    worker.outcome.facts["period_ns"] = period_ns
    return ends - starts


def reflect(channel: Channel) -> list[str]:
    """Send the messages of the proof back and return the digest of every byte of each."""
    seen = []
    for _ in range(PROOF_MESSAGES):
        data = channel.recv(WAIT_NS)
        channel.send(data, WAIT_NS)
        seen.append(digest(data))
    return seen


def prove(channel: Channel, seed: int, size: int) -> list[str]:
    """Send the messages of the proof and return the digest of every byte of each answer."""
    seen = []
    for sequence in range(PROOF_MESSAGES):
        channel.send(payload(seed, sequence, size), WAIT_NS)
        seen.append(digest(channel.recv(WAIT_NS)))
    return seen
