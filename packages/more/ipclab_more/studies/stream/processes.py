"""The processes of a stream, phase by phase, and the end that sends."""

import secrets
import time
from contextlib import nullcontext, suppress
from time import perf_counter_ns as clock
from typing import Any

import numpy as np

from ipclab.spawn.loops import await_due, fitting, keep, paced, sleep_until
from ipclab.spawn.proof import END, AwaitedError
from ipclab.spawn.worker import Turns, Worker
from ipclab.studies.joining import WAIT_NS
from ipclab_more.studies.stream.base import SENT, StreamEnd, StreamPlan, keep_times
from ipclab_more.studies.stream.connection import PRODUCER, consumer_role, join
from ipclab_more.studies.stream.consumer import Consumer
from ipclab_more.studies.stream.memory import own_memory, resources

WARM_UP, LARGE_WARM_UP, LARGE = 100, 4, 500_000
FILL_NS = 20_000_000  # how long the producer waits for room
# bytes to fill with, and for each us of the budget
FILL_LEAST, FILL_MOST, FILL_PER_US = 400_000, 4_000_000, 64


def run_stream(worker: Worker, **levels: Any) -> Turns:
    """Be one process of a stream: warm up, stream in turns, fill the mechanism.

    All ends agree on how many a turn has by what one took at the slowest end the last time.
    """
    plan = StreamPlan(**levels)
    sends = worker.role == PRODUCER
    own = {"secret": secrets.token_hex(16)} if sends else {}
    met = worker.meet(**own)  # nobody is still to be forked, with whom pages would be shared
    before = resources()
    way = join(worker, plan.backend, plan.size, plan.consumers, plan.sharing)
    keep_times(worker, "opening", way.opening_ns)
    end = (Producer if sends else Consumer)(worker, way, plan, met[PRODUCER]["secret"])
    keep_times(worker, "first", *end.phase(1))
    slowest = end.slowest_ns(LARGE_WARM_UP if plan.size >= LARGE else WARM_UP)
    slowest = end.slowest_ns(fitting(round(slowest), plan.budget_ns, LARGE_WARM_UP, plan.most))
    worker.outcome.facts |= {name: value - before[name] for name, value in resources().items()}
    while roles := (yield {"each_ns": slowest}):
        slowest = end.turn(max(float(told["each_ns"]) for told in roles.values()))
    end.finish()
    worker.meet()
    if plan.fill:
        end.fill()
    begun = clock()
    way.close()
    keep_times(worker, "closing", clock() - begun)


class Producer(StreamEnd):
    """The end that sends."""

    def phase(self, count: int, period_ns: int = 0, kept: bool = False) -> tuple[int, int]:
        batches = self.plan.batch > 1
        if not batches:
            self.messages.stamps.ahead(self.count, count)
        self.worker.meet()
        with self.worker.counting(SENT, count) if kept else nullcontext():
            begun = clock()
            try:
                self._send(count, period_ns)
                ended = clock()
                self.way.tell(self.messages.message(END) if batches else self.last)
            except TimeoutError as error:
                what = f"a message of {self.count} to {self.count + count} was not taken"
                raise AwaitedError(what, "the mechanism has no room for it") from error
            self.worker.meet()
        if kept:
            keep_times(self.worker, SENT, begun, ended)
            keep_times(self.worker, "counts", count)
        self.count += count
        self.batches += -(-count // self.plan.batch)
        return begun, ended

    def _send(self, count: int, period_ns: int) -> None:
        if period_ns:
            self._paced(count, period_ns)
        elif self.plan.batch > 1:
            self._batches(count)
        elif self.plan.window:
            self._windows(count)
        else:
            self._messages(self.count, count)

    def _messages(self, first: int, count: int) -> None:
        send, message = self.way.send, self.messages.message
        for number in range(first, first + count):
            send(message(number))

    def _windows(self, count: int) -> None:
        """Send windows of messages, each after the answer to the one before."""
        window, answered = self.plan.window, self.way.channel.recv
        for place in range(0, count, window):
            self._messages(self.count + place, min(window, count - place))
            if count - place >= window:
                answered(WAIT_NS)

    def _batches(self, count: int) -> None:
        batch, size, send = self.plan.batch, self.plan.size, self.way.channel.send_many
        self.numbers[:] = self.messages.first + self.count + np.arange(batch)
        for number in range(self.batches, self.batches + count // batch):
            self.stamp_rows(number)
            send(self.rows, size, WAIT_NS)
            self.numbers += batch
        if left := count % batch:
            self.stamp_rows(self.batches + count // batch)
            send(self.rows[:left], size, WAIT_NS)

    def _paced(self, count: int, period_ns: int) -> None:
        """Send a message every `period_ns`, late ones at once; halfway, stall as planned."""
        send, message = self.way.send, self.messages.message
        stalled = count // 2 - 1

        def step(place: int) -> None:
            send(message(self.count + place))
            if place == stalled and self.plan.stall_ns:
                time.sleep(self.plan.stall_ns / 1e9)

        wait = sleep_until if self.plan.sleeps else await_due
        due, starts, _ = paced(step, count, period_ns, wait)
        keep(self.worker, "due", due)
        keep(self.worker, "starts", starts)

    def finish(self) -> None:
        """Note how many messages were sent, in all phases and turns."""
        keep_times(self.worker, "total", self.count)

    def fill(self) -> None:
        """Send while nobody receives, until there is no room or there seems to be no end of it."""
        offer = self.way.offer
        accepted = 0
        before = own_memory("Rss")
        room = min(max(FILL_LEAST, FILL_PER_US * self.plan.budget_ns // 1000), FILL_MOST)
        most = max(1, room // self.plan.size)
        with suppress(TimeoutError):
            while accepted < most:
                offer(self.messages.message(accepted), FILL_NS)
                accepted += 1
        grown = own_memory("Rss") - before
        self.worker.meet(accepted=accepted)
        other = self.worker.meet()[consumer_role(0)]
        self.worker.outcome.facts |= {
            "accepted": accepted,
            "refused": int(accepted < most),
            "delivered": other["delivered"],
            "queue_bytes": grown + other["grown"],
        }
