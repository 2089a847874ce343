"""Who must live with what happens to a peer: how each fault is faced, and what is seen of it."""

import time
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise
from time import perf_counter_ns as clock

from ipclab.backends.interface import Channel
from ipclab.spawn.worker import Worker
from ipclab.studies.faults.plan import (
    BESIDE,
    FIRST,
    LAST,
    LOSSES,
    NOTICED,
    PACE,
    SECOND,
    SLACK_NS,
    WATCHED,
    Plan,
)
from ipclab.studies.faults.seen import (
    SILENCE,
    Numbers,
    became,
    message,
    number_of,
    outcome,
    shares,
)
from ipclab.studies.joining import WAIT_NS
from ipclab.studies.stream.end import keep_times
from ipclab.studies.stream.ways import PRODUCER, Way

WATCH_NS = 200_000_000  # enough for several looks whether the peer's process lives


class Survivor:
    """A process to whose peer something happens, and what it sees of that."""

    def __init__(self, worker: Worker, how: Plan, way: Way) -> None:
        self.worker = worker
        self.how = how
        self.way = way
        self.seen: Numbers = []
        self.sent, self.until = 0, 0
        self.end = way.ends[0]

    def receive(self, timeout_ns: int) -> None:
        """Receive the next message."""
        self.seen.append(number_of(self.way.recv(timeout_ns), self.how.size))

    def send(self) -> None:
        """Hand the next message over; at `until` the time is over in which a kill shows, or the
        others are done.
        """
        left_ns = self.until - clock()
        data = message(self.sent, self.how.size)
        if left_ns <= 0:
            raise TimeoutError if self.how.kills else StopIteration
        self.way.offer(data, left_ns) if self.how.kills else self.way.tell(data)
        self.sent += 1
        time.sleep(PACE)

    def face(self, attempt: Callable[[], None]) -> tuple[str, int]:
        """Go on by `attempt` until the fault shows by the mechanism alone; return how, and the
        clock (ns) then.
        """
        if isinstance(self.end, Channel):
            self.peer = self.end.peer
            self.end.peer = None
        kind, at = outcome(attempt, lambda: getattr(self.end, "filled", 0))
        self.worker.outcome.counters[NOTICED] = shares(kind)
        return kind, at

    def watch(self, attempt: Callable[[], None], kind: str, noticed_ns: int) -> None:
        """Keep when the mechanism noticed, or else how long a watch over the peer's process takes
        to.
        """
        keep_times(self.worker, NOTICED, noticed_ns)
        if not isinstance(self.end, Channel):
            return
        if kind == SILENCE:
            self.end.peer = self.peer
            begun = clock()
            kind, at = outcome(attempt)
            noticed_ns = at - begun
        keep_times(self.worker, WATCHED, noticed_ns)
        self.worker.outcome.counters[WATCHED] = shares(kind)

    def account(self, accepted: int, seen: Numbers) -> None:
        """Keep what became of `accepted` messages."""
        self.worker.outcome.counters[LOSSES] = became(accepted, seen)


def _beside_idle(one: Survivor) -> None:
    kind, at = one.face(lambda: one.receive(one.how.deadline_ns + SLACK_NS))
    one.watch(lambda: one.receive(WATCH_NS), kind, at - one.worker.meet()[PRODUCER]["at"])
    one.account(1, one.seen)


def _beside_writing(one: Survivor) -> None:
    # nothing is received before: what was on its way is all there
    counted = one.worker.meet()[PRODUCER]
    kind, at = one.face(lambda: one.receive(one.how.deadline_ns))
    one.account(counted["done"], one.seen)
    one.watch(lambda: one.receive(WATCH_NS), kind, at - counted["at"])


def _beside_reading(one: Survivor) -> None:
    one.until = clock() + one.how.deadline_ns + SLACK_NS
    kind, at = one.face(one.send)
    counted = one.worker.meet()[FIRST]
    one.account(one.sent, [*range(counted["done"])])
    one.until = clock() + WATCH_NS
    one.watch(one.send, kind, at - counted["at"])


def _beside_stopped(one: Survivor) -> None:
    """Receive up to the last message, waiting half a deadline for each; one that passes is what is
    seen of the stop.
    """

    def receive() -> None:
        one.receive(one.how.deadline_ns // 2)
        if one.seen[-1] == LAST:
            raise StopIteration

    kind, at = one.face(receive)
    with suppress(OSError):
        while kind == SILENCE and one.seen[-1:] not in ([LAST], [None]):
            one.receive(WAIT_NS)
    if one.seen[-1:] != [LAST]:
        one.way.close()  # no more of it can be understood: let the sender know
    one.account(_settled(one, at, PRODUCER), [number for number in one.seen if number != LAST])


def _beside_held_up(one: Survivor) -> None:
    """Send to both consumers at a steady pace for as long as one is stopped or slow, and then the
    last message.
    """
    one.until = clock() + one.how.lasts_ns + 2 * SLACK_NS
    _, at = one.face(one.send)
    one.way.tell(message(LAST, one.how.size))
    one.account(one.sent, [*range(_settled(one, at, FIRST))])


def _settled(one: Survivor, noticed_at: int, hit: str) -> int:
    """Keep when the fault was noticed, with all others done; return how many messages `hit` was
    done with.
    """
    one.worker.meet()  # with the victim: nothing is closed under it
    seen_there = one.worker.meet()[hit]
    keep_times(one.worker, NOTICED, noticed_at - seen_there["at"])
    return int(seen_there["done"])


def _other(one: Survivor) -> None:
    """Receive beside the one that is stopped or slow; keep the time between two messages."""
    stamps = []
    with suppress(OSError):
        while one.seen[-1:] != [LAST]:
            one.receive(WAIT_NS)
            stamps.append(clock())
    one.worker.meet()
    one.worker.meet()
    gaps = [late - early for early, late in pairwise(stamps)]
    keep_times(one.worker, "gap", *gaps)
    keep_times(one.worker, "longest-gap", max(gaps))


LIVING: dict[tuple[str, str], Callable[[Survivor], None]] = {
    ("killed-idle", FIRST): _beside_idle,
    ("killed-writing", FIRST): _beside_writing,
    ("killed-reading", PRODUCER): _beside_reading,
    ("stopped-writing", FIRST): _beside_stopped,
    **{(fault, PRODUCER): _beside_held_up for fault in BESIDE},
    **{(fault, SECOND): _other for fault in BESIDE},
}
