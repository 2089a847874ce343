"""A process of a stream, phase by phase, and the end that sends."""

import time
from contextlib import suppress
from time import perf_counter_ns as clock
from typing import Any

import numpy as np

from ipclab.spawn.loops import await_due, fitting, keep
from ipclab.spawn.proof import payload
from ipclab.spawn.worker import Worker, zeros
from ipclab.studies.stream.consumer import Consumer
from ipclab.studies.stream.held import held, memory
from ipclab.studies.stream.plan import DUE, END, FILL_NS, NUMBER, PROOF_MESSAGES, SENT, STARTS, Phase, Plan
from ipclab.studies.stream.ways import PRODUCER, WAIT_NS, Way, join

WARM_UP, LARGE_WARM_UP, LARGE = 100, 4, 500_000
FILL_LEAST, FILL_MOST, FILL_PER_US = 400_000, 4_000_000, 64  # bytes to fill with, and for each us of the budget


def run(worker: Worker, **plan: Any) -> None:
    """Be one process of a stream: warm up, agree on a count, stream it, prove the payload, and fill the mechanism."""
    how = Plan(**plan)
    worker.meet()  # nobody is still to be forked, with whom pages would be shared
    before = held()
    way = join(worker, how.backend, how.size, how.consumers, how.sharing)
    keep(worker, "opening", np.array([way.opening_ns]))
    end = (Producer if worker.role == PRODUCER else Consumer)(worker, way, how)
    first = end.phase(1)
    keep(worker, "first", np.array([first.begun, first.ended]))
    slowest = agreed(worker, end.phase(LARGE_WARM_UP if how.size >= LARGE else WARM_UP))
    for budget_ns in (how.budget_ns // 8, how.budget_ns // 4):  # the first messages are the slowest
        slowest = agreed(worker, end.phase(fitting(round(slowest), budget_ns, LARGE_WARM_UP, how.most)))
    worker.outcome.facts |= {name: value - before[name] for name, value in held().items()}
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
        offer, accepted, before = self.way.offer, 0, memory()
        room = min(max(FILL_LEAST, FILL_PER_US * self.how.budget_ns // 1000), FILL_MOST)
        most = max(1, room // self.how.size)
        with suppress(TimeoutError):
            while accepted < most:
                offer(self.message, FILL_NS)
                accepted += 1
        grown = memory() - before
        self.worker.meet(accepted=accepted)
        other = self.worker.meet()["consumer 1"]
        self.worker.outcome.facts |= {"accepted": accepted, "refused": int(accepted < most)}
        self.worker.outcome.facts |= {"delivered": other["delivered"], "queue_bytes": grown + other["grown"]}
