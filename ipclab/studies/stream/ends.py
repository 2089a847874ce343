"""The processes of a stream, phase by phase: the end that sends, and the end that receives."""

import time
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from time import perf_counter_ns as clock
from typing import Any

import numpy as np

from ipclab.spawn.loops import await_due, fitting, keep
from ipclab.spawn.proof import digest, payload
from ipclab.spawn.worker import Worker, zeros
from ipclab.store.launch import Samples
from ipclab.studies.stream.ways import PRODUCER, WAIT_NS, Way, consumer_role, join

SENT, RECEIVED = "sent", "received"
SEQUENCES, STAMPS, DUE, STARTS = "sequences", "stamps", "due", "starts"  # handed over as samples, for `collect` alone
MEMORY = "proportional_bytes"
NUMBER = Struct("=q")  # with which a message begins; `END` stands in the one after the last
END = -1
PROOF_MESSAGES = 3
ANSWER = b"."
WARM_UP, LARGE_WARM_UP, LARGE = 100, 4, 500_000
FILL_NS = 20_000_000  # how long the producer waits for room
FILL_LEAST, FILL_MOST, FILL_PER_US = 400_000, 4_000_000, 64  # bytes to fill with, and for each us of the budget
BLOCK = bytes(1024)


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


def run(worker: Worker, **plan: Any) -> None:
    """Be one process of a stream: warm up, agree on a count, stream it, prove the payload, and fill the mechanism."""
    how = Plan(**plan)
    worker.meet()  # nobody is still to be forked, with whom pages would be shared
    before = held()
    way = join(worker, how.backend, how.size, how.consumers, how.sharing)
    keep(worker, "opening", np.array([way.opening_ns]))
    end = (Producer if worker.role == PRODUCER else Consumer)(worker, way, how)
    keep(worker, "first", np.array(end.phase(1)))
    slowest = end.slowest_ns(LARGE_WARM_UP if how.size >= LARGE else WARM_UP)
    for budget_ns in (how.budget_ns // 8, how.budget_ns // 4):  # the first messages are the slowest
        slowest = end.slowest_ns(fitting(round(slowest), budget_ns, LARGE_WARM_UP, how.most))
    facts = worker.outcome.facts
    facts |= {name: value - before[name] for name, value in held().items()}
    count, period = fitting(round(slowest), how.budget_ns, how.least, how.most), 0
    if how.rate or how.load:
        slowest = end.slowest_ns(count)
        period = round(1e9 / how.rate if how.rate else slowest * 100 / how.load)
        count = max(how.least, how.open_ns // period)
        facts |= {"offered_per_second": 1e9 / period, "closed_per_second": 1e9 / slowest}
    end.phase(count, period, kept=True)
    facts["messages"] = count
    worker.meet()
    end.prove()
    worker.meet()
    if how.fill:
        end.fill()
    begun = clock()
    way.close()
    keep(worker, "closing", np.array([clock() - begun]))


def held() -> dict[str, int]:
    """Return the descriptors that this process holds, and its proportional set size in bytes (proc(5), smaps_rollup).

    A page that n processes share counts as a part of n, so it is compared only while no process begins or ends.
    """
    return {"descriptors": len([*Path("/proc/self/fd").iterdir()]), MEMORY: memory("Pss")}


def memory(kind: str = "Rss") -> int:
    """Return this process's memory of `kind` in bytes: `Rss`, all that is resident, or another line of smaps_rollup."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(f"{kind}:"))


class End:
    """What the two ends have in common."""

    def __init__(self, worker: Worker, way: Way, how: Plan) -> None:
        self.worker, self.way, self.how = worker, way, how

    def phase(self, count: int, period_ns: int = 0, kept: bool = False) -> tuple[int, int]:
        """Stream `count` messages and return the clocks (ns) before and after; keep counters and times where `kept`.

        They follow one another, or a schedule that is fixed beforehand, one every `period_ns`.
        """
        raise NotImplementedError

    def slowest_ns(self, count: int) -> float:
        """Stream `count` messages; return what one took at the slowest process (ns), the same at all of them."""
        begun, ended = self.phase(count)
        told = self.worker.meet(each_ns=(ended - begun) / count)
        return max(float(each["each_ns"]) for each in told.values())


class Producer(End):
    """The end that sends."""

    def __init__(self, worker: Worker, way: Way, how: Plan) -> None:
        super().__init__(worker, way, how)
        self.message = bytearray(payload(how.seed, 0, how.size))
        words = np.frombuffer(self.message * how.batch, np.uint8).reshape(how.batch, how.size).copy()
        self.words, self.numbers = words, words[:, : NUMBER.size].view(np.int64)[:, 0]

    def phase(self, count: int, period_ns: int = 0, kept: bool = False) -> tuple[int, int]:
        self.worker.meet()
        with self.worker.counting(SENT, count) if kept else nullcontext():
            begun = clock()
            if period_ns:
                self._paced(count, period_ns)
            elif self.how.batch > 1:
                self._batches(count)
            else:
                self._messages(count)
            ended = clock()
            self.way.tell(NUMBER.pack(END).ljust(self.how.size if self.how.batch > 1 else NUMBER.size))
            self.worker.meet()
        if kept:
            keep(self.worker, SENT, np.array([begun, ended]))
        return begun, ended

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

    def prove(self) -> None:
        """Send messages of which every byte is known, to each consumer."""
        for sequence in range(PROOF_MESSAGES):
            self.way.tell(payload(self.how.seed, sequence, self.how.size))

    def fill(self) -> None:
        """Send while nobody receives, until there is no room or there seems to be no end of it."""
        offer, accepted, before = self.way.offer, 0, memory()
        room = min(max(FILL_LEAST, FILL_PER_US * self.how.budget_ns // 1000), FILL_MOST)
        most = max(1, room // self.how.size)
        with suppress(TimeoutError):
            while accepted < most:
                offer(self.message, FILL_NS)
                accepted += 1
        grown = memory() - before
        self.worker.meet(accepted=accepted)
        other = self.worker.meet()[consumer_role(0)]
        told = {"delivered": other["delivered"], "queue_bytes": grown + other["grown"]}
        self.worker.outcome.facts |= {"accepted": accepted, "refused": int(accepted < most), **told}


class Consumer(End):
    """An end that receives, and computes on what it got for as long as the plan says."""

    def __init__(self, worker: Worker, way: Way, how: Plan) -> None:
        super().__init__(worker, way, how)
        self.digests = worth(how.work_ns) if how.work_ns else 0
        self.buffer = np.zeros((how.batch, how.size), np.uint8)
        self.numbers = self.buffer[:, : NUMBER.size].view(np.int64)[:, 0]
        self.sequences, self.stamps = zeros(0), zeros(0)

    def phase(self, count: int, period_ns: int = 0, kept: bool = False) -> tuple[int, int]:
        """Receive up to the message that says it is the last; keep which came, and when they came in an open loop."""
        self.sequences, self.stamps = zeros(count + 1), zeros(count + 1)
        self.worker.meet()
        with self.worker.counting(RECEIVED, count) if kept else nullcontext():
            begun = clock()
            got = self._batches() if self.how.batch > 1 else self._messages(stamped=bool(period_ns))
            ended = clock()
        self.worker.meet()
        if kept:
            keep(self.worker, RECEIVED, np.array([ended]))
            self.worker.outcome.samples[SEQUENCES] = self.sequences[:got]
            self.worker.outcome.samples |= {STAMPS: self.stamps[:got]} if period_ns else {}
        return begun, ended

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
        seen: Samples = np.frombuffer(self.sequences, np.int64)
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


def worth(ns: int) -> int:
    """Return how many digests of `BLOCK` take `ns` of computing here."""
    times = []
    for _ in range(3):
        begun = clock()
        compute(100)
        times.append((clock() - begun) / 100)
    return round(ns / min(times))


def compute(digests: int) -> None:
    """Compute `digests` digests, the same work whatever else the CPU does."""
    for _ in range(digests):
        digest(BLOCK)
