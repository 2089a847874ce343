"""The end of a stream that receives."""

from contextlib import nullcontext, suppress
from time import perf_counter_ns as clock

import numpy as np

from ipclab.spawn.loops import keep
from ipclab.spawn.proof import digest
from ipclab.spawn.worker import Stamps, Worker, zeros
from ipclab.store.launch import Samples
from ipclab.studies.joining import WAIT_NS
from ipclab.studies.stream.end import (
    END,
    LOST_NS,
    NUMBER,
    PLACES,
    PROOF_MESSAGES,
    RECEIVED,
    SEQUENCES,
    STAMPS,
    End,
    keep_times,
    numbers_of,
)
from ipclab.studies.stream.memory import memory
from ipclab.studies.stream.plan import Plan
from ipclab.studies.stream.ways import PRODUCER, Way
from ipclab.studies.stream.work import compute, worth

ANSWER = b"."


class Consumer(End):
    """An end that receives, and computes on what it got for as long as the plan says."""

    def __init__(self, worker: Worker, way: Way, plan: Plan) -> None:
        super().__init__(worker, way, plan)
        self.digests = worth(plan.work_ns) if plan.work_ns else 0
        self.buffer = np.zeros((plan.batch, plan.size), np.uint8)
        self.numbers = numbers_of(self.buffer)

    def phase(self, count: int, period_ns: int = 0, kept: bool = False) -> tuple[int, int]:
        """Receive up to the last message; keep which came, and when they came in an open loop."""
        came = zeros(count + 1)
        stamps = zeros(count + 1 if period_ns else 0)
        self.worker.meet()
        with self.worker.counting(RECEIVED, count) if kept else nullcontext():
            begun = clock()
            got = self._batches(came) if self.plan.batch > 1 else self._messages(came, stamps)
            ended = clock()
        self.worker.meet()
        self.sequences.extend(came[:got])
        if kept:
            keep_times(self.worker, RECEIVED, ended)
        if period_ns:
            keep(self.worker, PLACES, np.frombuffer(came, np.int64)[:got] - self.count)
            keep(self.worker, STAMPS, np.frombuffer(stamps, np.int64)[:got])
        self.count += count
        return begun, ended

    def _messages(self, came: Stamps, stamps: Stamps) -> int:
        """Receive messages into `came`, with their clocks in `stamps`; return how many.

        Clocks are kept while there is room.
        """
        recv = self.way.recv
        stamped = bool(stamps)
        digests = self.digests
        window = self.plan.window
        got = 0
        unpack = NUMBER.unpack_from
        while (number := unpack(recv(WAIT_NS))[0]) != END:
            if stamped:
                stamps[got] = clock()
            came[got] = number
            got += 1
            if digests:
                compute(digests)
            if window and got % window == 0:
                self.way.channel.send(ANSWER, WAIT_NS)
        return got

    def _batches(self, came: Stamps) -> int:
        take = self.way.channel.recv_many
        size = self.plan.size
        got = 0
        seen: Samples = np.frombuffer(came, np.int64)
        while True:
            count = int(take(self.buffer, size, WAIT_NS))
            last = bool(self.numbers[count - 1] == END)
            count -= last
            seen[got : got + count] = self.numbers[:count]
            got += count
            if last:
                return got

    def prove(self) -> None:
        """Receive messages of which every byte is known."""
        self.worker.outcome.proof = [digest(self.way.recv(WAIT_NS)) for _ in range(PROOF_MESSAGES)]
        keep(self.worker, SEQUENCES, np.frombuffer(self.sequences, np.int64))

    def fill(self) -> None:
        """Receive only when the producer has said how many messages were taken from it."""
        before = memory("Rss")
        accepted = int(self.worker.meet()[PRODUCER]["accepted"])
        delivered = 0
        grown = memory("Rss") - before
        with suppress(TimeoutError, BrokenPipeError):
            while delivered < accepted:
                self.way.recv(LOST_NS)
                delivered += 1
        self.worker.meet(delivered=delivered, grown=grown)
