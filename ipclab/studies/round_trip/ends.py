"""The two processes of a round trip: one that echoes, and one that asks and keeps the time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter_ns as clock
from typing import Any

import numpy as np

from ipclab.backends.installed import backend as find
from ipclab.backends.interface import Channel, Data, Place
from ipclab.spawn import apart
from ipclab.spawn.answered import Proof
from ipclab.spawn.loops import DISCARDED, keep_parted, keep_unrecorded, operations, paced
from ipclab.spawn.proof import LARGE as FEW_ABOVE
from ipclab.spawn.proof import LOOKED, MARK, recorded
from ipclab.spawn.worker import Turns, Worker, zeros
from ipclab.store.launch import Samples
from ipclab.studies.joining import WAIT_NS, joined_ends
from ipclab.studies.round_trip import start

HEADER_BYTES = 16
LARGE = 500_000
OP, INTENDED = "round-trip", "intended"

Take = Callable[[int], Data]
Reader = Callable[[Data], object]
Kept = np.ndarray[tuple[int], np.dtype[np.bool_]]  # which operations of a turn are recorded


@contextmanager
def channel_end(worker: Worker, backend: str, capacity: int, wait: str) -> Iterator[Channel]:
    """Give this end of a channel for messages of `capacity` bytes; role `server` listens.

    After an error it is not closed: the other end would tell of that before this one has told why.
    """
    kind = find(backend).channel
    if kind is None:
        raise TypeError(f"{backend} has no channel")
    place = Place(worker.prefix, worker.folder, capacity, wait, comm=worker.comm)
    (channel,), _ = joined_ends(worker, kind, [place], "server", ["client"])
    yield channel
    channel.close()


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
    """Be the echoing end: send back what came, in arm `touch` after reading part of it."""
    with channel_end(worker, backend, size, how["wait"]) as channel:
        proof = Proof(worker, size, how["receive"])
        if how["arm"] == "start":
            start.echo_from_start(channel, proof)
        else:
            take = reading(taker(channel, how["receive"], size), how["arm"], how["touch"])
            echo(channel, take, proof, warm_up(size))
            while roles := (yield {}):
                count = roles["client"]["count"]
                with worker.counting(OP, count):
                    echo(channel, take, proof, count)
        worker.meet()  # the other end is done: nothing is closed under it


def reading(take: Take, arm: str, touch: str) -> Take:
    """Return `take`, in arm `touch` with reading the part of each message that `touch` says."""
    if arm != "touch":
        return take
    read = READERS[touch]

    def touched(timeout_ns: int) -> Data:
        data = take(timeout_ns)
        read(data)
        return data

    return touched


def echo(channel: Channel, take: Take, proof: Proof, count: int) -> None:
    """Send `count` messages back, each with the secret in it.

    Of long ones, which are few, both ends of each are checked when all are over.
    """
    send, answer, long = channel.send, proof.answer, proof.size > FEW_ABOVE
    came = list[tuple[int, bytes, bytes]]()
    for number, look in enumerate(proof.plan(count)):
        try:
            data = take(WAIT_NS)
        except TimeoutError as error:
            raise proof.missed(number) from error
        try:
            send(answer(data, look), WAIT_NS)
        except (TimeoutError, ValueError) as error:
            raise proof.stuck(number, error) from error
        if long:
            came.append((len(data), bytes(data[:MARK]), bytes(data[-MARK:])))
        del data  # as a program would that is done with it: the next one has its memory
    proof.came(came)


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
    """Be the asking end: warm up, then time round trips in each turn."""
    apart.leave(how.get("boundary", apart.NONE))
    with channel_end(worker, backend, size, how["wait"]) as channel:
        proof = Proof(worker, size, how["receive"])
        if how["arm"] == "start":
            start.ask_from_start(worker, channel, proof)
        else:
            take = reading(taker(channel, how["receive"], size), how["arm"], how["touch"])
            times, _ = closed_loop(channel, take, proof, warm_up(size))
            keep_unrecorded(worker, OP, times)
            while True:
                each_ns = int(np.median(times)) + gap_ns
                count = DISCARDED + operations(each_ns, budget_ns, least, most) + LOOKED
                if (yield {"count": count}) is None:
                    break
                with worker.counting(OP, count):
                    if gap_ns:
                        times = _paced(worker, Trips(channel, take, proof, count), each_ns)
                    else:
                        times, kept = closed_loop(channel, take, proof, count)
                        keep_parted(worker, OP, times, kept)
        worker.outcome.facts |= proof.told()
        worker.meet()


def closed_loop(channel: Channel, take: Take, proof: Proof, count: int) -> tuple[Samples, Kept]:
    """Return the times of `count` round trips, one after the other (int64 ns), and which count.

    Between the clocks of a trip is nothing but the trip, and that the answer is there: its message
    is made before, and what came is looked at afterwards, of short ones several together.
    """
    begins, ends = zeros(count), zeros(count)
    send, message, keep = channel.send, proof.next, proof.keep
    kind, size, last, tail = proof.kind, proof.size, proof.last, proof.tail
    plan = proof.plan(count)
    with proof.going():
        for number, look in enumerate(plan):
            asked = message()
            begins[number] = clock()
            try:
                send(asked, WAIT_NS)
            except TimeoutError as error:
                raise proof.refused() from error
            answer = take(WAIT_NS)
            if type(answer) is not kind or len(answer) != size:
                raise proof.unlike(answer)
            last(answer, tail)
            ends[number] = clock()
            keep(answer, look)
            del answer
    return np.frombuffer(ends, np.int64) - np.frombuffer(begins, np.int64), recorded(
        plan, DISCARDED
    )


class Trips:
    """The round trips of a turn that follow a schedule: `go` makes one, `check` looks at it."""

    def __init__(self, channel: Channel, take: Take, proof: Proof, count: int) -> None:
        self.send, self.take, self.proof = channel.send, take, proof
        self.plan = proof.plan(count)
        self.kept = recorded(self.plan, DISCARDED)
        self.asked = proof.next()

    def go(self, _: int) -> None:
        """Make the next round trip."""
        self.send(self.asked, WAIT_NS)
        self.answer = self.proof.arrive(self.take(WAIT_NS))

    def check(self, number: int) -> None:
        """Look at what came, and make the message after it."""
        self.proof.check(self.answer, self.plan[number])
        del self.answer
        if number + 1 < len(self.plan):
            self.asked = self.proof.next()


def _paced(worker: Worker, trips: Trips, period_ns: int) -> Samples:
    """Start a round trip every `period_ns`, late ones at once; return times from starts (ns).

    The times from when they were due are kept, too, of those that count.
    """
    with trips.proof.going():
        due, starts, ends = paced(trips.go, len(trips.plan), period_ns, after=trips.check)
    keep_parted(worker, OP, ends - starts, trips.kept)
    keep_parted(worker, INTENDED, ends - due, trips.kept)
    worker.outcome.facts["period_ns"] = period_ns
    return ends - starts
