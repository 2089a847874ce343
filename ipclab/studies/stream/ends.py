"""The processes of a stream, phase by phase: the end that sends, and the end that receives."""

import time
from contextlib import nullcontext, suppress
from statistics import median
from struct import Struct
from time import perf_counter_ns as clock
from typing import Any

import numpy as np

from ipclab.spawn.loops import DISCARDED, fitting, keep, paced
from ipclab.spawn.proof import digest, payload
from ipclab.spawn.worker import Stamps, Turns, Worker, zeros
from ipclab.store.launch import Samples
from ipclab.studies.joining import WAIT_NS
from ipclab.studies.stream.memory import held, memory
from ipclab.studies.stream.plan import Plan
from ipclab.studies.stream.ways import PRODUCER, Way, consumer_role, join
from ipclab.studies.stream.work import compute, worth

SENT, RECEIVED = "sent", "received"
# once in a launch; these and what follows are for `joined`
OPENING, FIRST, CLOSING = "opening", "first", "closing"
TOTAL = "total"  # how many messages were sent, in all phases and turns
SEQUENCES = "sequences"  # the numbers of those that came, in their order
COUNTS = "counts"  # by turn: how many messages it had
DUE, STARTS = "due", "starts"  # of each message of an open loop
PLACES, STAMPS = "places", "stamps"  # of each that came there: its place in its turn, and when
# with which a message begins; `END` stands in the one after the last of a phase
NUMBER = Struct("=q")
END = -1
PROOF_MESSAGES = 3
ANSWER = b"."
WARM_UP, LARGE_WARM_UP, LARGE = 100, 4, 500_000
FILL_NS = 20_000_000  # how long the producer waits for room
# bytes to fill with, and for each us of the budget
FILL_LEAST, FILL_MOST, FILL_PER_US = 400_000, 4_000_000, 64


def run(worker: Worker, **plan: Any) -> Turns:
    """Be one process of a stream: warm up, stream some messages in each turn, prove the payload,
    fill the mechanism.

    All ends agree on how many a turn has by what one took at the slowest end the last time.
    """
    how = Plan(**plan)
    worker.meet()  # nobody is still to be forked, with whom pages would be shared
    before = held()
    way = join(worker, how.backend, how.size, how.consumers, how.sharing)
    keep_times(worker, OPENING, way.opening_ns)
    end = (Producer if worker.role == PRODUCER else Consumer)(worker, way, how)
    keep_times(worker, FIRST, *end.phase(1))
    slowest = end.slowest_ns(LARGE_WARM_UP if how.size >= LARGE else WARM_UP)
    slowest = end.slowest_ns(fitting(round(slowest), how.budget_ns, LARGE_WARM_UP, how.most))
    worker.outcome.facts |= {name: value - before[name] for name, value in held().items()}
    while roles := (yield {"each_ns": slowest}):
        slowest = end.turn(max(float(end_told["each_ns"]) for end_told in roles.values()))
    end.prove()
    worker.meet()
    if how.fill:
        end.fill()
    begun = clock()
    way.close()
    keep_times(worker, CLOSING, clock() - begun)


def keep_times(worker: Worker, op: str, *times: int) -> None:
    """Keep a few times (ns) as samples of `op`."""
    keep(worker, op, np.array(times, np.int64))


def numbers_of(messages: Any) -> Any:
    """Return the numbers with which the rows of `messages` begin, in place."""
    return messages[:, : NUMBER.size].view(np.int64)[:, 0]


class End:
    """What the two ends have in common. Messages are numbered over all phases."""

    def __init__(self, worker: Worker, way: Way, how: Plan) -> None:
        self.worker = worker
        self.way = way
        self.how = how
        self.count = 0  # messages of all phases before this one
        self.period_ns = 0  # of an open loop, from its first turn that is recorded
        self.took: list[float] = []  # by turn: the ns of one message
        self.sequences = zeros(0)

    def turn(self, slowest_ns: float) -> float:
        """Stream the messages of a turn, after some that are not counted; return what one took here
        so far (ns).

        An open loop follows its schedule in turns that are recorded; the others tell how fast it
        could go.
        """
        if self.how.opens and self.worker.recording and not self.period_ns:
            self.period_ns = self.how.period_ns(slowest_ns)
            facts = self.worker.outcome.facts
            facts["offered_per_second"] = 1e9 / self.period_ns
            facts["closed_per_second"] = 1e9 / slowest_ns
        self.phase(DISCARDED)
        count = self.how.messages(slowest_ns, self.period_ns)
        begun, ended = self.phase(count, self.period_ns, kept=True)
        self.took.append((ended - begun) / count)
        return median(self.took)

    def phase(self, count: int, period_ns: int = 0, kept: bool = False) -> tuple[int, int]:
        """Stream `count` messages and return the clocks (ns) before and after; keep counters and
        times where `kept`.

        They follow one another, or a schedule that is fixed beforehand, one every `period_ns`.
        """
        raise NotImplementedError

    def slowest_ns(self, count: int) -> float:
        """Stream `count` messages; return what one took at the slowest process (ns), the same at
        all of them.
        """
        begun, ended = self.phase(count)
        ends_told = self.worker.meet(each_ns=(ended - begun) / count)
        return max(float(end["each_ns"]) for end in ends_told.values())


class Producer(End):
    """The end that sends."""

    def __init__(self, worker: Worker, way: Way, how: Plan) -> None:
        super().__init__(worker, way, how)
        self.message = bytearray(payload(how.seed, 0, how.size))
        self.words = np.frombuffer(self.message * how.batch, np.uint8).reshape(-1, how.size)
        self.numbers = numbers_of(self.words)

    def phase(self, count: int, period_ns: int = 0, kept: bool = False) -> tuple[int, int]:
        self.worker.meet()
        with self.worker.counting(SENT, count) if kept else nullcontext():
            begun = clock()
            if period_ns:
                self._paced(count, period_ns)
            elif self.how.batch > 1:
                self._batches(count)
            elif self.how.window:
                self._windows(count)
            else:
                self._messages(self.count, count)
            ended = clock()
            last = NUMBER.pack(END)
            self.way.tell(last.ljust(self.how.size) if self.how.batch > 1 else last)
            self.worker.meet()
        if kept:
            keep_times(self.worker, SENT, begun, ended)
            keep_times(self.worker, COUNTS, count)
        self.count += count
        return begun, ended

    def _messages(self, first: int, count: int) -> None:
        send = self.way.send
        message = self.message
        for number in range(first, first + count):
            NUMBER.pack_into(message, 0, number)
            send(message)

    def _windows(self, count: int) -> None:
        """Send windows of messages, each after the answer to the one before."""
        window = self.how.window
        answered = self.way.channel.recv
        for place in range(0, count, window):
            self._messages(self.count + place, min(window, count - place))
            if count - place >= window:
                answered(WAIT_NS)

    def _batches(self, count: int) -> None:
        batch = self.how.batch
        size = self.how.size
        send = self.way.channel.send_many
        self.numbers[:] = np.arange(self.count, self.count + batch)
        for _ in range(count // batch):
            send(self.words, size, WAIT_NS)
            self.numbers += batch
        if left := count % batch:
            send(self.words[:left], size, WAIT_NS)

    def _paced(self, count: int, period_ns: int) -> None:
        """Send a message every `period_ns`, late ones at once; halfway, do nothing for as long as
        the plan says.
        """
        send = self.way.send
        message = self.message
        stalled = count // 2 - 1

        def step(place: int) -> None:
            NUMBER.pack_into(message, 0, self.count + place)
            send(message)
            if place == stalled and self.how.stall_ns:
                time.sleep(self.how.stall_ns / 1e9)

        due, starts, _ = paced(step, count, period_ns)
        keep(self.worker, DUE, due)
        keep(self.worker, STARTS, starts)

    def prove(self) -> None:
        """Send messages of which every byte is known, to each consumer."""
        for sequence in range(PROOF_MESSAGES):
            self.way.tell(payload(self.how.seed, sequence, self.how.size))
        keep_times(self.worker, TOTAL, self.count)

    def fill(self) -> None:
        """Send while nobody receives, until there is no room or there seems to be no end of it."""
        offer = self.way.offer
        accepted = 0
        before = memory("Rss")
        room = min(max(FILL_LEAST, FILL_PER_US * self.how.budget_ns // 1000), FILL_MOST)
        most = max(1, room // self.how.size)
        with suppress(TimeoutError):
            while accepted < most:
                offer(self.message, FILL_NS)
                accepted += 1
        grown = memory("Rss") - before
        self.worker.meet(accepted=accepted)
        other = self.worker.meet()[consumer_role(0)]
        self.worker.outcome.facts |= {
            "accepted": accepted,
            "refused": int(accepted < most),
            "delivered": other["delivered"],
            "queue_bytes": grown + other["grown"],
        }


class Consumer(End):
    """An end that receives, and computes on what it got for as long as the plan says."""

    def __init__(self, worker: Worker, way: Way, how: Plan) -> None:
        super().__init__(worker, way, how)
        self.digests = worth(how.work_ns) if how.work_ns else 0
        self.buffer = np.zeros((how.batch, how.size), np.uint8)
        self.numbers = numbers_of(self.buffer)

    def phase(self, count: int, period_ns: int = 0, kept: bool = False) -> tuple[int, int]:
        """Receive up to the message that says it is the last; keep which came, and when they came
        in an open loop.
        """
        came = zeros(count + 1)
        stamps = zeros(count + 1 if period_ns else 0)
        self.worker.meet()
        with self.worker.counting(RECEIVED, count) if kept else nullcontext():
            begun = clock()
            got = self._batches(came) if self.how.batch > 1 else self._messages(came, stamps)
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
        """Receive messages into `came`, with the clock of each in `stamps` where there is room;
        return how many.
        """
        recv = self.way.recv
        stamped = bool(stamps)
        digests = self.digests
        window = self.how.window
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
        size = self.how.size
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
                self.way.recv(10 * FILL_NS)
                delivered += 1
        self.worker.meet(delivered=delivered, grown=grown)
