"""What both ends of a stream have in common: turns, phases, and what they keep under which name."""

from statistics import median
from struct import Struct
from typing import Any

import numpy as np

from ipclab.spawn.loops import DISCARDED, keep
from ipclab.spawn.proof import END, Messages, noise
from ipclab.spawn.stamps import Stamps
from ipclab.spawn.worker import Worker, zeros
from ipclab_more.studies.stream.plan import StreamPlan
from ipclab_more.studies.stream.ways import StreamWay

SENT, RECEIVED = "sent", "received"
# once in a launch; these and what follows are for `joined`
OPENING, FIRST, CLOSING = "opening", "first", "closing"
TOTAL = "total"  # how many messages were sent, in all phases and turns
SEQUENCES = "sequences"  # the numbers of those that came, in their order
COUNTS = "counts"  # by turn: how many messages it had
DUE, STARTS = "due", "starts"  # of each message of an open loop
PLACES, STAMPS = "places", "stamps"  # of each that came there: its place in its turn, and when
NUMBER = Struct("=q")  # with which a message begins, counted from the first one's
FILL_NS = 20_000_000  # how long the producer waits for room
# Without another message for so long, the rest is lost. TCP asks a receiver that was full only after
# 200 ms whether it has room again, and then less and less often.
LOST_NS = 2_000_000_000


def keep_times(worker: Worker, op: str, *times: int) -> None:
    """Keep a few times (ns) as samples of `op`."""
    keep(worker, op, np.array(times, np.int64))


def numbers_of(messages: Any) -> Any:
    """Return the numbers with which the rows of `messages` begin, in place."""
    return messages[:, : NUMBER.size].view(np.int64)[:, 0]


class StreamEnd:
    """What the two ends have in common. Messages are numbered over all phases.

    What follows the last one of a phase is its number's beginning, too short for a message; in
    batches, where all are as long, it is filled up.
    """

    def __init__(self, worker: Worker, way: StreamWay, plan: StreamPlan, secret: str) -> None:
        self.worker = worker
        self.way = way
        self.plan = plan
        self.count = 0  # messages of all phases before this one
        self.period_ns = 0  # of an open loop, from its first turn that is recorded
        self.took: list[float] = []  # by turn: the ns of one message
        self.sequences = zeros(0)
        key = f"{worker.prefix} {secret}"
        self.messages = Messages(key, plan.size)
        self.last = bytes(self.messages.message(END)[: NUMBER.size - 1])
        self.rows = np.zeros((plan.batch, plan.size), np.uint8)
        if plan.batch > 1:
            self.rows[:] = np.frombuffer(noise(key, self.rows.size), np.uint8).reshape(
                self.rows.shape
            )
        self.base = self.rows.copy()
        self.numbers = numbers_of(self.rows)
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
        if self.plan.opens and self.worker.recording and not self.period_ns:
            self.period_ns = self.plan.period_ns(slowest_ns)
            facts = self.worker.outcome.facts
            facts["offered_per_second"] = 1e9 / self.period_ns
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
        ends_told = self.worker.meet(each_ns=(ended - begun) / count)
        return max(float(end["each_ns"]) for end in ends_told.values())
