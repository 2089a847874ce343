"""What both ends of a stream have in common: the plan, numbered messages, turns and phases."""

from dataclasses import dataclass
from statistics import median
from struct import Struct
from typing import Any

import numpy as np

from ipclab.spawn.loops import DISCARDED, fitting, keep
from ipclab.spawn.proof import END, Messages, noise
from ipclab.spawn.stamps import Stamps
from ipclab.spawn.worker import Worker
from ipclab_more.studies.stream.connection import StreamWay

SENT, RECEIVED = "sent", "received"
NUMBER = Struct("=q")  # with which a message begins, counted from the first one's


@dataclass(frozen=True)
class StreamPlan:
    """What both ends of a stream must know: a point's levels, and how long a turn is."""

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
    sleeps: bool  # until a message is due, so that the CPU time is that of messages alone
    open_ns: int
    budget_ns: int
    least: int
    most: int

    def period_ns(self, slowest_ns: float) -> int:
        """Return how far apart messages are due in an open loop (ns), 0 in a closed one.

        One takes `slowest_ns` in a closed one.
        """
        if self.rate:
            return round(1e9 / self.rate)
        return round(slowest_ns * 100 / self.load) if self.load else 0

    def messages(self, slowest_ns: float, period_ns: int) -> int:
        """Return how many messages a turn has: one takes so long, or is due every `period_ns`."""
        if period_ns:
            return max(self.least, self.open_ns // period_ns)
        count = fitting(round(slowest_ns), self.budget_ns, self.least, self.most)
        return count + -count % max(1, self.window)  # the last window is whole, too


def keep_times(worker: Worker, op: str, *times: int) -> None:
    """Keep a few times (ns) as samples of `op`."""
    keep(worker, op, np.array(times, np.int64))


def message_numbers(messages: Any) -> Any:
    """Return the numbers with which the rows of `messages` begin, in place."""
    return messages[:, : NUMBER.size].view(np.int64)[:, 0]


class StreamEnd:
    """What the two ends have in common. Messages are numbered over all phases.

    What follows the last one of a phase is its number's beginning, too short for a message; in
    batches, where all are as long, it is filled up.
    """

    def __init__(self, worker: Worker, way: StreamWay, plan: StreamPlan, secret: str) -> None:
        self.worker, self.way, self.plan = worker, way, plan
        self.count = 0  # messages of all phases before this one
        self.period_ns = 0  # of an open loop, from its first turn that is recorded
        self.took: list[float] = []  # by turn: the ns of one message
        key = f"{worker.prefix} {secret}"
        self.messages = Messages(key, plan.size)
        self.last = bytes(self.messages.message(END)[: NUMBER.size - 1])
        self.rows = np.zeros((plan.batch, plan.size), np.uint8)
        if plan.batch > 1:
            self.rows.reshape(-1)[:] = np.frombuffer(noise(key, self.rows.size), np.uint8)
        self.base = self.rows.copy()
        self.numbers = message_numbers(self.rows)
        self.batches = 0  # of all phases before this one
        self.stamps = Stamps(f"rows of {key}", NUMBER.size, plan.size)
        self.stamped: tuple[slice, ...] = ()

    def stamp_rows(self, batch: int) -> None:
        """Stamp the rows of `batch`, counted from the launch's first one: each with other bytes."""
        rows, base = self.rows, self.base
        for place in self.stamped:
            rows[:, place] = base[:, place]
        self.stamped, contents = self.stamps.of(batch)
        for place, content in zip(self.stamped, contents, strict=True):
            rows[:, place] = base[:, place] ^ np.frombuffer(content, np.uint8)

    def turn(self, slowest_ns: float) -> float:
        """Stream the messages of a turn, after uncounted ones; return what one took here (ns).

        An open loop follows its schedule in turns that are recorded; the others tell how fast it
        could go.
        """
        period_ns = self.plan.period_ns(slowest_ns)
        if period_ns and self.worker.recording and not self.period_ns:
            self.period_ns = period_ns
            facts = self.worker.outcome.facts
            facts["offered_per_second"] = 1e9 / period_ns
            facts["closed_per_second"] = 1e9 / slowest_ns
        self.phase(DISCARDED)
        count = self.plan.messages(slowest_ns, self.period_ns)
        begun, ended = self.phase(count, self.period_ns, kept=True)
        self.took.append((ended - begun) / count)
        return median(self.took)

    def phase(self, count: int, period_ns: int = 0, kept: bool = False) -> tuple[int, int]:
        """Stream `count` messages; return the clocks (ns) around them; keep counters if `kept`.

        They follow one another, or a schedule that is fixed beforehand, one every `period_ns`.
        """
        raise NotImplementedError

    def slowest_ns(self, count: int) -> float:
        """Stream `count` messages; return what one took at the slowest process (ns), for all."""
        begun, ended = self.phase(count)
        told = self.worker.meet(each_ns=(ended - begun) / count)
        return max(float(end["each_ns"]) for end in told.values())
