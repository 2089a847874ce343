"""The end of a stream that receives."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from struct import Struct, error
from time import perf_counter_ns as clock

import numpy as np

from ipclab.backends.interface import Data
from ipclab.spawn import proof
from ipclab.spawn.loops import keep
from ipclab.spawn.proof import digest
from ipclab.spawn.worker import Stamps, Worker, zeros
from ipclab.store.launch import Samples
from ipclab.studies.joining import WAIT_NS
from ipclab_more.studies.stream.base import (
    NUMBER,
    RECEIVED,
    StreamEnd,
    StreamPlan,
    keep_times,
    message_numbers,
)
from ipclab_more.studies.stream.connection import EACH, PRODUCER, StreamWay
from ipclab_more.studies.stream.memory import own_memory

ANSWER = b"."
KEPT_BYTES = 4 << 20  # of a phase, to be looked at when it is over
BLOCK = bytes(1024)  # whose digests are the work on a message
# Without another message for so long, the rest is lost. TCP asks a receiver that was full only after
# 200 ms whether it has room again, and then less and less often.
LOST_NS = 2_000_000_000


class Consumer(StreamEnd):
    """An end that receives, and computes on what it got for as long as the plan says."""

    def __init__(self, worker: Worker, way: StreamWay, plan: StreamPlan, secret: str) -> None:
        super().__init__(worker, way, plan, secret)
        self.digests = worth(plan.work_ns) if plan.work_ns else 0
        self.buffer = np.zeros((plan.batch, plan.size), np.uint8)
        self.came = message_numbers(self.buffer)
        self.sequences = zeros(0)  # the numbers of the messages that came, in their order
        self.chance = random.Random()  # nobody else need know what is looked at
        self.kept: list[tuple[int, Data]] = []  # of this phase, to be looked at after it
        self.tails: list[bytes] = []  # the last bytes of long messages, which are few
        self.compared = 0

    def phase(self, count: int, period_ns: int = 0, kept: bool = False) -> tuple[int, int]:
        """Receive up to the last message; keep which came, and when they came in an open loop."""
        came = zeros(count + 1)
        stamps = zeros(count + 1 if period_ns else 0)
        mine = count if self.plan.sharing == EACH else max(1, count // self.plan.consumers)
        most = max(1, KEPT_BYTES // self.plan.size)
        chosen = proof.looks(self.chance, mine, self.plan.size, most)
        chosen += [False] * (count + 1 - mine)
        self.worker.meet()
        with self.worker.counting(RECEIVED, count) if kept else nullcontext(), self._going(count):
            begun = clock()
            got = self._receive(came, stamps, chosen)
            ended = clock()
        self.worker.meet()
        numbers = np.frombuffer(came, np.int64)[:got] - self.messages.first
        self._look(numbers)
        self.batches += -(-count // self.plan.batch)
        self.sequences.frombytes(numbers.tobytes())
        if kept:
            keep_times(self.worker, RECEIVED, ended)
        if period_ns:  # the place of each in its turn, and when it came
            keep(self.worker, "places", numbers - self.count)
            keep(self.worker, "stamps", np.frombuffer(stamps, np.int64)[:got])
        self.count += count
        return begun, ended

    def _receive(self, came: Stamps, stamps: Stamps, chosen: Sequence[bool]) -> int:
        if self.plan.batch > 1:
            return self._batches(came)
        return self._messages(came, stamps, chosen)

    @contextmanager
    def _going(self, count: int) -> Iterator[None]:
        """Say what became of the messages of a phase where they end early, or late."""
        phase = f"of messages {self.count} to {self.count + count - 1}"
        try:
            yield
        except TimeoutError as late:
            raise proof.AwaitedError(f"{phase} some did not come", "they were lost") from late
        except IndexError as many:
            what = f"{phase} more came than were sent"
            raise proof.PayloadError(what, "some came twice") from many

    def _messages(self, came: Stamps, stamps: Stamps, chosen: Sequence[bool]) -> int:
        """Receive messages into `came`, with their clocks in `stamps`; return how many.

        Clocks are kept while there is room, and copies of those messages that are `chosen`, which
        nobody can fill in later. Of each the first and the last word are read when it comes.
        """
        recv = self.way.recv
        stamped = bool(stamps)
        digests = self.digests
        window, long = self.plan.window, self.plan.size > proof.LARGE
        mark = proof.MARK
        got = 0
        between = self.plan.size - 2 * NUMBER.size
        words = f"q{between}xq" if between >= 0 else f"q{NUMBER.size + between}x"
        unpack = Struct(f"={words}").unpack
        try:
            while True:
                data = recv(WAIT_NS)
                if type(data) is not bytes:
                    raise proof.unlike(data, bytes, f"message {self.count + got}")
                came[got] = unpack(data)[0]
                if stamped:
                    stamps[got] = clock()
                if chosen[got]:
                    self.kept.append((got, bytes(memoryview(data))))
                if long:
                    self.tails.append(bytes(data[-mark:]))
                got += 1
                if digests:
                    compute_digests(digests)
                if window and got % window == 0:
                    self.way.channel.send(ANSWER, WAIT_NS)
        except error:  # it has another length
            if data != self.last:
                raise self.messages.fault(self.count + got, data) from None
        return got

    def _batches(self, came: Stamps) -> int:
        """Receive batches into `came`, and keep one message of each."""
        take, size = self.way.channel.recv_many, self.plan.size
        got = 0
        seen: Samples = np.frombuffer(came, np.int64)
        last_mark = self.messages.first + proof.END
        while True:
            count = int(take(self.buffer, size, WAIT_NS))
            last = bool(self.came[count - 1] == last_mark)
            count -= last
            if got + count > len(came):
                raise IndexError(got + count)
            seen[got : got + count] = self.came[:count]
            if count:
                place = int(self.chance.random() * count)  # which nobody can know before
                self.kept.append((got + place, self.buffer[place].tobytes()))
            got += count
            if last:
                return got

    def _look(self, numbers: Samples) -> None:
        """Compare what was kept of a phase with what was sent, whole; `numbers` are those seen."""
        for place, data in self.kept:
            number = int(numbers[place])
            if not 0 <= number - self.count < proof.FAR:
                raise self.messages.fault(self.count + place, data)
            sent = self._sent(number)
            if data != sent and self.plan.batch > 1:  # batches are rows of their own
                raise proof.altered(number, sent, data)
            if data != sent:
                raise self.messages.fault(number, data)
        self.compared += len(self.kept)
        self.kept.clear()
        for number, tail in zip(map(int, numbers), self.tails, strict=False):
            if 0 <= number - self.count < proof.FAR:
                self.messages.at(number)
                if not self.messages.ends(number, tail):
                    what = "arrived with other bytes"
                    raise proof.arrived(number, what, f"in its last {proof.MARK}")
        self.tails.clear()

    def _sent(self, number: int) -> bytes:
        """Return message `number` of this phase as it was sent."""
        if self.plan.batch == 1:
            return bytes(self.messages.at(number))
        batch, place = divmod(number - self.count, self.plan.batch)
        self.stamp_rows(self.batches + batch)
        self.numbers[place] = self.messages.first + number
        return bytes(self.rows[place])

    def finish(self) -> None:
        """Note which messages came, and how many were compared whole."""
        keep(self.worker, "sequences", np.frombuffer(self.sequences, np.int64))
        self.worker.outcome.facts |= {"numbered": len(self.sequences), "compared": self.compared}

    def fill(self) -> None:
        """Receive only when the producer has said how many messages were taken from it."""
        before = own_memory("Rss")
        accepted = int(self.worker.meet()[PRODUCER]["accepted"])
        delivered = 0
        grown = own_memory("Rss") - before
        with suppress(TimeoutError, BrokenPipeError):
            while delivered < accepted:
                self.way.recv(LOST_NS)
                delivered += 1
        self.worker.meet(delivered=delivered, grown=grown)


def worth(ns: int) -> int:
    """Return how many digests of `BLOCK` take `ns` of computing here."""
    times = []
    for _ in range(3):
        begun = clock()
        compute_digests(100)
        times.append((clock() - begun) / 100)
    return round(ns / min(times))


def compute_digests(digests: int) -> None:
    """Compute `digests` digests, the same work whatever else the CPU does."""
    for _ in range(digests):
        digest(BLOCK)
