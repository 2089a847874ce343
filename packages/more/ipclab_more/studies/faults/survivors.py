"""Who must live with what happens to a peer: how each fault is faced, and what is seen of it."""

import time
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from time import perf_counter_ns as clock

from ipclab.backends.interface import Channel
from ipclab.spawn.proof import PROVED
from ipclab.spawn.worker import Worker
from ipclab.studies.joining import WAIT_NS
from ipclab_more.studies.faults.plan import (
    BESIDE,
    FIRST,
    LAST,
    LOSSES,
    NOTICED,
    PACE,
    SECOND,
    SLACK_NS,
    WATCHED,
    FaultPlan,
)
from ipclab_more.studies.faults.seen import (
    SILENCE,
    Content,
    Numbers,
    attempt_outcome,
    losses,
    shares,
)
from ipclab_more.studies.stream.end import keep_times
from ipclab_more.studies.stream.ways import PRODUCER, StreamWay

WATCH_NS = 200_000_000  # enough for several looks whether the peer's process lives


class Survivor:
    """A process to whose peer something happens, and what it sees of that."""

    def __init__(self, worker: Worker, plan: FaultPlan, way: StreamWay, content: Content) -> None:
        self.worker = worker
        self.plan = plan
        self.way = way
        self.content = content
        self.seen: Numbers = []
        self.sent, self.until = 0, 0
        self.end = way.ends[0]

    def receive(self, timeout_ns: int) -> None:
        """Receive the next message."""
        self.seen.append(self.content.number_of(self.way.recv(timeout_ns)))

    def send(self) -> None:
        """Hand the next message over; at `until` the time ends in which a fault can show."""
        left_ns = self.until - clock()
        data = self.content.message(self.sent)
        if left_ns <= 0:
            raise TimeoutError if self.plan.kills else StopIteration
        self.way.offer(data, left_ns) if self.plan.kills else self.way.tell(data)
        self.sent += 1
        time.sleep(PACE)

    def face(self, attempt: Callable[[], None]) -> tuple[str, int]:
        """Go on by `attempt` until the mechanism shows the fault; return how, and when (ns)."""
        if isinstance(self.end, Channel):
            self.peer = self.end.peer
            self.end.peer = None
        kind, at = attempt_outcome(attempt, lambda: getattr(self.end, "filled", 0))
        self.worker.outcome.counters[NOTICED] = shares(kind)
        return kind, at

    def watch(self, attempt: Callable[[], None], kind: str, noticed_ns: int) -> None:
        """Keep when the mechanism noticed, or how long a watch over the peer's process takes to."""
        keep_times(self.worker, NOTICED, noticed_ns)
        if not isinstance(self.end, Channel):
            return
        if kind == SILENCE:
            self.end.peer = self.peer
            begun = clock()
            kind, at = attempt_outcome(attempt)
            noticed_ns = at - begun
        keep_times(self.worker, WATCHED, noticed_ns)
        self.worker.outcome.counters[WATCHED] = shares(kind)

    def finish(self) -> None:
        """Note of who receives that every message that came was compared whole, be it none."""
        if self.worker.role != PRODUCER:
            self.worker.outcome.facts |= dict.fromkeys(PROVED, len(self.seen))

    def account(self, accepted: int, seen: Numbers) -> None:
        """Keep what became of `accepted` messages."""
        self.worker.outcome.counters[LOSSES] = losses(accepted, seen)


def _beside_idle(survivor: Survivor) -> None:
    kind, at = survivor.face(lambda: survivor.receive(survivor.plan.deadline_ns + SLACK_NS))
    survivor.watch(
        lambda: survivor.receive(WATCH_NS), kind, at - survivor.worker.meet()[PRODUCER]["at"]
    )
    survivor.account(1, survivor.seen)


def _beside_writing(survivor: Survivor) -> None:
    # nothing is received before: what was on its way is all there
    counted = survivor.worker.meet()[PRODUCER]
    kind, at = survivor.face(lambda: survivor.receive(survivor.plan.deadline_ns))
    survivor.account(counted["done"], survivor.seen)
    survivor.watch(lambda: survivor.receive(WATCH_NS), kind, at - counted["at"])


def _beside_reading(survivor: Survivor) -> None:
    survivor.until = clock() + survivor.plan.deadline_ns + SLACK_NS
    kind, at = survivor.face(survivor.send)
    counted = survivor.worker.meet()[FIRST]
    survivor.account(survivor.sent, [*range(counted["done"])])
    survivor.until = clock() + WATCH_NS
    survivor.watch(survivor.send, kind, at - counted["at"])


def _beside_stopped(survivor: Survivor) -> None:
    """Receive up to the last message, waiting half a deadline for each; note the stop by that."""

    def receive() -> None:
        survivor.receive(survivor.plan.deadline_ns // 2)
        if survivor.seen[-1] == LAST:
            raise StopIteration

    kind, at = survivor.face(receive)
    with suppress(OSError):
        while kind == SILENCE and survivor.seen[-1:] not in ([LAST], [None]):
            survivor.receive(WAIT_NS)
    if survivor.seen[-1:] != [LAST]:
        survivor.way.close()  # no more of it can be understood: let the sender know
    survivor.account(
        _settled(survivor, at, PRODUCER), [number for number in survivor.seen if number != LAST]
    )


def _beside_held_up(survivor: Survivor) -> None:
    """Send to both consumers steadily while one is stopped or slow, then the last message."""
    survivor.until = clock() + survivor.plan.lasts_ns + 2 * SLACK_NS
    _, at = survivor.face(survivor.send)
    survivor.way.tell(survivor.content.message(LAST))
    survivor.account(survivor.sent, [*range(_settled(survivor, at, FIRST))])


def _settled(survivor: Survivor, noticed_at: int, hit: str) -> int:
    """Keep when the fault was noticed; return how many messages `hit` was done with."""
    survivor.worker.meet()  # with the victim: nothing is closed under it
    seen_there = survivor.worker.meet()[hit]
    keep_times(survivor.worker, NOTICED, noticed_at - seen_there["at"])
    return int(seen_there["done"])


def _other(survivor: Survivor) -> None:
    """Receive beside the one that is stopped or slow; keep the time between two messages."""
    stamps = []
    with suppress(OSError):
        while survivor.seen[-1:] != [LAST]:
            survivor.receive(WAIT_NS)
            stamps.append(clock())
    survivor.worker.meet()
    survivor.worker.meet()
    gaps = [late - early for early, late in pairwise(stamps)]
    keep_times(survivor.worker, "gap", *gaps)
    keep_times(survivor.worker, "longest-gap", max(gaps))


LIVING: dict[tuple[str, str], Callable[[Survivor], None]] = {
    ("killed-idle", FIRST): _beside_idle,
    ("killed-writing", FIRST): _beside_writing,
    ("killed-reading", PRODUCER): _beside_reading,
    ("stopped-writing", FIRST): _beside_stopped,
    **{(fault, PRODUCER): _beside_held_up for fault in BESIDE},
    **{(fault, SECOND): _other for fault in BESIDE},
}
