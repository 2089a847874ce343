"""The end of a stream that receives."""

from contextlib import suppress
from time import perf_counter_ns as clock

import numpy as np

from ipclab.spawn.loops import keep
from ipclab.spawn.proof import digest
from ipclab.spawn.worker import Worker, zeros
from ipclab.studies.stream.account import Numbers
from ipclab.studies.stream.held import memory
from ipclab.studies.stream.plan import (
    ANSWER,
    END,
    FILL_NS,
    NUMBER,
    PROOF_MESSAGES,
    RECEIVED,
    SEQUENCES,
    STAMPS,
    Phase,
    Plan,
)
from ipclab.studies.stream.ways import PRODUCER, WAIT_NS, Way

BLOCK = bytes(1024)


def worth(ns: int) -> int:
    """Return how many digests of `BLOCK` take `ns` of computing here."""
    times = []
    for _ in range(3):
        begun = clock()
        for _ in range(100):
            digest(BLOCK)
        times.append((clock() - begun) / 100)
    return round(ns / min(times))


def compute(digests: int) -> None:
    """Compute `digests` digests, the same work whatever else the CPU does."""
    for _ in range(digests):
        digest(BLOCK)


class Consumer:
    """An end that receives, and computes on what it got for as long as the plan says."""

    def __init__(self, worker: Worker, way: Way, how: Plan) -> None:
        self.worker, self.way, self.how = worker, way, how
        self.digests = worth(how.work_ns) if how.work_ns else 0
        self.buffer = np.zeros((how.batch, how.size), np.uint8)
        self.numbers = self.buffer[:, : NUMBER.size].view(np.int64)[:, 0]
        self.sequences, self.stamps = zeros(0), zeros(0)

    def phase(self, count: int) -> Phase:
        """Receive up to the message that says it is the last, of `count` at most."""
        self.sequences, self.stamps = zeros(count), zeros(count)
        self.worker.meet()
        begun = clock()
        got = self._batches() if self.how.batch > 1 else self._messages(stamped=False)
        done = Phase(count, begun, clock())
        del self.sequences[got:]
        self.worker.meet()
        return done

    def _messages(self, stamped: bool) -> int:
        recv, sequences, stamps = self.way.recv, self.sequences, self.stamps
        digests, window, got, unpack = self.digests, self.how.window, 0, NUMBER.unpack_from
        while (number := unpack(recv(WAIT_NS))[0]) != END:
            if stamped:
                stamps[got] = clock()
            sequences[got] = number
            got += 1
            if digests:
                compute(digests)
            if window and got % window == 0:
                self.way.channel.send(ANSWER, WAIT_NS)
        return got

    def _batches(self) -> int:
        take, size, got = self.way.channel.recv_many, self.how.size, 0
        seen: Numbers = np.frombuffer(self.sequences, np.int64)
        while True:
            count = int(take(self.buffer, size, WAIT_NS))
            last = bool(self.numbers[count - 1] == END)
            count -= last
            seen[got : got + count] = self.numbers[:count]
            got += count
            if last:
                return got

    def timed(self, count: int, period_ns: int) -> None:
        """Receive `count` messages at most and keep when the last one had come, and which came when."""
        self.sequences, self.stamps = zeros(count + 1), zeros(count + 1)
        self.worker.meet()
        with self.worker.counting(RECEIVED, count):
            got = self._batches() if self.how.batch > 1 else self._messages(stamped=bool(period_ns))
            ended = clock()
        self.worker.meet()
        keep(self.worker, RECEIVED, np.array([ended]))
        keep(self.worker, SEQUENCES, np.frombuffer(self.sequences, np.int64)[:got])
        if period_ns:
            keep(self.worker, STAMPS, np.frombuffer(self.stamps, np.int64)[:got])

    def prove(self) -> list[str]:
        """Receive messages of which every byte is known."""
        self.worker.meet()
        return [digest(self.way.recv(WAIT_NS)) for _ in range(PROOF_MESSAGES)]

    def fill(self) -> None:
        """Receive only when the producer has said how many messages were taken from it."""
        before = memory()
        accepted, delivered = int(self.worker.meet()[PRODUCER]["accepted"]), 0
        grown = memory() - before
        with suppress(TimeoutError, BrokenPipeError):
            while delivered < accepted:
                self.way.recv(10 * FILL_NS)
                delivered += 1
        self.worker.meet(delivered=delivered, grown=grown)
