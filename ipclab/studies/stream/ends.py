"""The two kinds of process of a stream: the producer and its consumers, phase by phase."""

import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from time import perf_counter_ns as clock
from typing import Any

import numpy as np

from ipclab.spawn.loops import await_due, fitting, keep
from ipclab.spawn.proof import digest, payload
from ipclab.spawn.worker import Worker, zeros
from ipclab.studies.stream.account import Numbers
from ipclab.studies.stream.ways import PRODUCER, WAIT_NS, Way, join

SENT, RECEIVED = "sent", "received"
SEQUENCES, STAMPS, DUE, STARTS = "sequences", "stamps", "due", "starts"  # handed over as samples, for `collect` alone
NUMBER = Struct("=q")  # with which a message begins; `END` stands in the one after the last
END = -1
PROOF_MESSAGES = 3
WARM_UP, LARGE_WARM_UP, LARGE = 100, 4, 500_000
BLOCK = bytes(1024)
FILL_BYTES, FILL_MESSAGES, FILL_NS = 64_000_000, 5_000, 20_000_000
ANSWER = b"."


@dataclass(frozen=True)
class Plan:
    """What both ends of a stream must know: a point's levels, and how much is measured."""

    backend: str
    size: int
    seed: int
    consumers: int
    sharing: str
    window: int
    batch: int
    work_ns: int
    rate: int
    load: int
    stall_ns: int
    fill: bool
    open_ns: int
    budget_ns: int
    least: int
    most: int


@dataclass(frozen=True)
class Phase:
    """A phase of `count` messages, by this process's clock."""

    count: int
    begun: int
    ended: int

    @property
    def each_ns(self) -> float:
        """Return how long each message took."""
        return (self.ended - self.begun) / self.count


def run(worker: Worker, **plan: Any) -> None:
    """Be one process of a stream: warm up, agree on a count, stream it, prove the payload, and fill the mechanism."""
    how, before = Plan(**plan), held()
    way = join(worker, how.backend, how.size, how.consumers, how.sharing)
    keep(worker, "opening", np.array([way.opening_ns]))
    end = (Producer if worker.role == PRODUCER else Consumer)(worker, way, how)
    first = end.phase(1)
    keep(worker, "first", np.array([first.begun, first.ended]))
    slowest = agreed(worker, end.phase(LARGE_WARM_UP if how.size >= LARGE else WARM_UP))
    for budget_ns in (how.budget_ns // 8, how.budget_ns // 4):  # the first messages are the slowest
        slowest = agreed(worker, end.phase(fitting(round(slowest), budget_ns, LARGE_WARM_UP, how.most)))
    count = fitting(round(slowest), how.budget_ns, how.least, how.most)
    if how.rate or how.load:
        slowest = agreed(worker, end.phase(count))
        period = round(1e9 / how.rate if how.rate else slowest * 100 / how.load)
        count = max(how.least, how.open_ns // period)
        worker.outcome.facts |= {"offered_per_second": 1e9 / period, "closed_per_second": 1e9 / slowest}
        end.timed(count, period)
    else:
        end.timed(count, 0)
    worker.outcome.facts["messages"] = count
    worker.outcome.facts |= {name: value - before[name] for name, value in held().items()}
    worker.outcome.proof = end.prove()
    worker.meet()
    if how.fill:
        end.fill()
    begun = clock()
    way.close()
    keep(worker, "closing", np.array([clock() - begun]))


def agreed(worker: Worker, phase: Phase) -> float:
    """Return what a message took at the slowest process, ns, the same at all of them."""
    told = worker.meet(each_ns=phase.each_ns)
    return max(float(each["each_ns"]) for each in told.values())


def held() -> dict[str, int]:
    """Return what this process holds: descriptors, and resident memory in bytes (proc(5), smaps_rollup).

    Not its proportional part (PSS), which changes with every process forked from the same server.
    """
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    resident = next(int(line.split()[1]) for line in lines if line.startswith("Rss:"))
    return {"descriptors": len([*Path("/proc/self/fd").iterdir()]), "resident_bytes": 1024 * resident}


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


class Producer:
    """The end that sends."""

    def __init__(self, worker: Worker, way: Way, how: Plan) -> None:
        self.worker, self.way, self.how = worker, way, how
        self.message = bytearray(payload(how.seed, 0, how.size))
        words = np.frombuffer(self.message * how.batch, np.uint8).reshape(how.batch, how.size).copy()
        self.words, self.numbers = words, words[:, : NUMBER.size].view(np.int64)[:, 0]

    def phase(self, count: int) -> Phase:
        """Send messages 0 to `count` - 1 as fast as they are taken."""
        self.worker.meet()
        begun = clock()
        self._batches(count) if self.how.batch > 1 else self._messages(count)
        return self._end(count, begun)

    def _end(self, count: int, begun: int) -> Phase:
        done = Phase(count, begun, clock())
        size = self.how.size if self.how.batch > 1 else NUMBER.size
        self.way.tell(NUMBER.pack(END).ljust(size))
        self.worker.meet()
        return done

    def _messages(self, count: int) -> None:
        send, message, window = self.way.send, self.message, self.how.window
        answered = self.way.channel.recv if window else None
        for number in range(count):
            NUMBER.pack_into(message, 0, number)
            send(message)
            if answered and number % window == window - 1:
                answered(WAIT_NS)

    def _batches(self, count: int) -> None:
        batch, size, send = self.how.batch, self.how.size, self.way.channel.send_many
        self.numbers[:] = np.arange(batch)
        for _ in range(count // batch):
            send(self.words, size, WAIT_NS)
            self.numbers += batch
        if left := count % batch:
            send(self.words[:left], size, WAIT_NS)

    def timed(self, count: int, period_ns: int) -> None:
        """Send `count` messages, by a schedule fixed beforehand where `period_ns` is given, and keep what it took."""
        self.worker.meet()
        with self.worker.counting(SENT, count):
            begun = clock()
            if period_ns:
                self._paced(count, period_ns)
            elif self.how.batch > 1:
                self._batches(count)
            else:
                self._messages(count)
            done = self._end(count, begun)
        keep(self.worker, SENT, np.array([done.begun, done.ended]))

    def _paced(self, count: int, period_ns: int) -> None:
        """Send a message every `period_ns`, late ones at once; halfway, do nothing for as long as the plan says."""
        due, starts, send, message = zeros(count), zeros(count), self.way.send, self.message
        first = clock() + period_ns
        for number in range(count):
            due[number] = at = first + number * period_ns
            if number == count // 2 and self.how.stall_ns:
                time.sleep(self.how.stall_ns / 1e9)
            await_due(at)
            NUMBER.pack_into(message, 0, number)
            starts[number] = clock()
            send(message)
        self.worker.outcome.samples |= {DUE: due, STARTS: starts}

    def prove(self) -> list[str]:
        """Send messages of which every byte is known, to each consumer."""
        self.worker.meet()
        for sequence in range(PROOF_MESSAGES):
            self.way.tell(payload(self.how.seed, sequence, self.how.size))
        return []

    def fill(self) -> None:
        """Send while nobody receives, until there is no room or there seems to be no end of it."""
        offer, accepted = self.way.offer, 0
        most = max(1, min(FILL_MESSAGES, FILL_BYTES // self.how.size))
        with suppress(TimeoutError):
            while accepted < most:
                offer(self.message, FILL_NS)
                accepted += 1
        self.worker.meet(accepted=accepted)
        delivered = int(self.worker.meet()["consumer 1"]["delivered"])
        self.worker.outcome.facts |= {"accepted": accepted, "refused": int(accepted < most), "delivered": delivered}


class Consumer:
    """An end that receives."""

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
        accepted, delivered = int(self.worker.meet()[PRODUCER]["accepted"]), 0
        with suppress(TimeoutError, BrokenPipeError):
            while delivered < accepted:
                self.way.recv(10 * FILL_NS)
                delivered += 1
        self.worker.meet(delivered=delivered)
