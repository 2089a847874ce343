"""The processes of a stream, phase by phase, and the end that sends."""

import time
from contextlib import nullcontext, suppress
from time import perf_counter_ns as clock
from typing import Any

import numpy as np

from ipclab.spawn.loops import fitting, keep, paced
from ipclab.spawn.proof import payload
from ipclab.spawn.worker import Turns, Worker
from ipclab.studies.joining import WAIT_NS
from ipclab.studies.stream.consumer import Consumer
from ipclab.studies.stream.end import (
    CLOSING,
    COUNTS,
    DUE,
    END,
    FILL_NS,
    FIRST,
    NUMBER,
    OPENING,
    PROOF_MESSAGES,
    SENT,
    STARTS,
    TOTAL,
    End,
    keep_times,
    numbers_of,
)
from ipclab.studies.stream.memory import memory, resources
from ipclab.studies.stream.plan import Plan
from ipclab.studies.stream.ways import PRODUCER, Way, consumer_role, join

WARM_UP, LARGE_WARM_UP, LARGE = 100, 4, 500_000
# bytes to fill with, and for each us of the budget
FILL_LEAST, FILL_MOST, FILL_PER_US = 400_000, 4_000_000, 64


def run(worker: Worker, **levels: Any) -> Turns:
    """Be one process of a stream: warm up, stream in turns, prove, fill the mechanism.

    All ends agree on how many a turn has by what one took at the slowest end the last time.
    """
    plan = Plan(**levels)
    worker.meet()  # nobody is still to be forked, with whom pages would be shared
    before = resources()
    way = join(worker, plan.backend, plan.size, plan.consumers, plan.sharing)
    keep_times(worker, OPENING, way.opening_ns)
    end = (Producer if worker.role == PRODUCER else Consumer)(worker, way, plan)
    keep_times(worker, FIRST, *end.phase(1))
    slowest = end.slowest_ns(LARGE_WARM_UP if plan.size >= LARGE else WARM_UP)
    slowest = end.slowest_ns(fitting(round(slowest), plan.budget_ns, LARGE_WARM_UP, plan.most))
    worker.outcome.facts |= {name: value - before[name] for name, value in resources().items()}
    while roles := (yield {"each_ns": slowest}):
        slowest = end.turn(max(float(end_told["each_ns"]) for end_told in roles.values()))
    end.prove()
    worker.meet()
    if plan.fill:
        end.fill()
    begun = clock()
    way.close()
    keep_times(worker, CLOSING, clock() - begun)


class Producer(End):
    """The end that sends."""

    def __init__(self, worker: Worker, way: Way, plan: Plan) -> None:
        super().__init__(worker, way, plan)
        self.message = bytearray(payload(plan.seed, 0, plan.size))
        self.words = np.frombuffer(self.message * plan.batch, np.uint8).reshape(-1, plan.size)
        self.numbers = numbers_of(self.words)

    def phase(self, count: int, period_ns: int = 0, kept: bool = False) -> tuple[int, int]:
        self.worker.meet()
        with self.worker.counting(SENT, count) if kept else nullcontext():
            begun = clock()
            if period_ns:
                self._paced(count, period_ns)
            elif self.plan.batch > 1:
                self._batches(count)
            elif self.plan.window:
                self._windows(count)
            else:
                self._messages(self.count, count)
            ended = clock()
            last = NUMBER.pack(END)
            self.way.tell(last.ljust(self.plan.size) if self.plan.batch > 1 else last)
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
        window = self.plan.window
        answered = self.way.channel.recv
        for place in range(0, count, window):
            self._messages(self.count + place, min(window, count - place))
            if count - place >= window:
                answered(WAIT_NS)

    def _batches(self, count: int) -> None:
        batch = self.plan.batch
        size = self.plan.size
        send = self.way.channel.send_many
        self.numbers[:] = np.arange(self.count, self.count + batch)
        for _ in range(count // batch):
            send(self.words, size, WAIT_NS)
            self.numbers += batch
        if left := count % batch:
            send(self.words[:left], size, WAIT_NS)

    def _paced(self, count: int, period_ns: int) -> None:
        """Send a message every `period_ns`, late ones at once; halfway, stall as planned."""
        send = self.way.send
        message = self.message
        stalled = count // 2 - 1

        def step(place: int) -> None:
            NUMBER.pack_into(message, 0, self.count + place)
            send(message)
            if place == stalled and self.plan.stall_ns:
                time.sleep(self.plan.stall_ns / 1e9)

        due, starts, _ = paced(step, count, period_ns)
        keep(self.worker, DUE, due)
        keep(self.worker, STARTS, starts)

    def prove(self) -> None:
        """Send messages of which every byte is known, to each consumer."""
        for sequence in range(PROOF_MESSAGES):
            self.way.tell(payload(self.plan.seed, sequence, self.plan.size))
        keep_times(self.worker, TOTAL, self.count)

    def fill(self) -> None:
        """Send while nobody receives, until there is no room or there seems to be no end of it."""
        offer = self.way.offer
        accepted = 0
        before = memory("Rss")
        room = min(max(FILL_LEAST, FILL_PER_US * self.plan.budget_ns // 1000), FILL_MOST)
        most = max(1, room // self.plan.size)
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
