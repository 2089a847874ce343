"""The processes of a planted fault: who keeps the victim, and who must live with what happens to
it.
"""

import random
import signal
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from time import perf_counter_ns as clock
from typing import Any

from ipclab.backends.interface import Channel
from ipclab.spawn.worker import Worker
from ipclab.studies.faults.seen import (
    SILENCE,
    WELL,
    Numbers,
    became,
    left,
    message,
    number_of,
    outcome,
    shares,
)
from ipclab.studies.forked import DONE, LATEST, OVER, READY, WRONG, Forked
from ipclab.studies.joining import WAIT_NS
from ipclab.studies.stream.ends import keep_times
from ipclab.studies.stream.ways import EACH, PRODUCER, Way, consumer_role, join

FIRST, SECOND = consumer_role(0), consumer_role(1)
BESIDE = ("stopped-reading", "slow-reading")  # faults of one of two consumers
NOTICED, WATCHED, RECOVERED, LOSSES, LEFT = "noticed", "watched", "recovered", "messages", "left"
PACE, SLOW = 0.0002, 0.002  # seconds after each message, of a sender and of a slow receiver
SLACK_NS = round(LATEST * 1e9)
WATCH_NS = 200_000_000  # enough for several looks whether the peer's process lives
STOP, SLOWNESS = 1.2, 0.6  # deadlines that a stop, or a slow peer, lasts
LAST = -1  # the number of the message after the last one


@dataclass(frozen=True)
class Plan:
    """A point's levels, and how long one waits for a peer to which something has happened."""

    backend: str
    size: int
    fault: str
    seed: int
    deadline_ns: int

    @property
    def writes(self) -> bool:
        """Tell whether the fault happens to the producer."""
        return self.fault in ("killed-idle", "killed-writing", "stopped-writing")

    @property
    def kills(self) -> bool:
        """Tell whether the fault is the end of what it happens to."""
        return self.fault.startswith("killed")

    @property
    def lasts_ns(self) -> int:
        """Return for how long a peer is stopped or slow."""
        return round((SLOWNESS if self.fault == "slow-reading" else STOP) * self.deadline_ns)

    def chance(self, worker: Worker) -> random.Random:
        """Return where the moment of the launch's fault comes from."""
        launch = worker.prefix.rpartition("-")[2]
        return random.Random(f"{self.seed} {launch} {self.backend} {self.fault}")

    def joined(self, worker: Worker, part: str = "") -> Way:
        """Return the worker's end of a stream; a part beside the first has one consumer."""
        consumers = 2 if self.fault in BESIDE and not part else 1
        return join(worker, self.backend, self.size, consumers, EACH, part)


def run(worker: Worker, **plan: Any) -> None:
    """Be one process of a launch in which the fault of the plan is planted."""
    how = Plan(**plan)
    worker.outcome.facts["deadline_ns"] = how.deadline_ns
    hit = PRODUCER if how.writes else FIRST
    if worker.role == hit:
        _plant(worker, how)
    else:
        with closing(how.joined(worker)) as way:
            LIVING[how.fault, worker.role](Survivor(worker, how, way))
    worker.meet()
    if worker.role == hit:
        worker.outcome.counters[LEFT] = left(worker.prefix, worker.folder)
    if how.kills:
        again(worker, how)


def _plant(worker: Worker, how: Plan) -> None:
    """Kill the victim, stop it for a while or leave it slow; say when that was and how many
    messages it has done.
    """
    victim = Forked(partial(_work, worker, how))
    chance = how.chance(worker)
    if how.kills:
        at = victim.hit(signal.SIGKILL, chance)
    elif how.fault == "slow-reading":
        at = clock()
        time.sleep(how.lasts_ns / 1e9)
    else:
        at = victim.hit(signal.SIGSTOP, chance, how.lasts_ns)
    victim.end()
    if not how.kills:
        worker.outcome.counters["victim"] = {"failed": float(victim.tally[WRONG])}
    worker.meet(at=at, done=victim.tally[DONE])


def _work(worker: Worker, how: Plan, tally: memoryview) -> None:
    """Be the victim: hand over, or take, one message after the other, up to the last one where that
    comes.
    """

    def send() -> None:
        over = tally[OVER]
        way.tell(message(LAST if over else tally[DONE], how.size))
        if over:
            raise StopIteration
        tally[DONE] += 1
        if not how.kills:
            time.sleep(PACE)

    def receive() -> None:
        if number_of(way.recv(WAIT_NS), how.size) == LAST:
            raise StopIteration
        tally[DONE] += 1
        if how.fault == "slow-reading" and not tally[OVER]:
            time.sleep(SLOW)

    with closing(how.joined(worker)) as way:
        if how.fault == "killed-idle":
            send()
            time.sleep(LATEST)  # whatever sends it has the time to
        tally[READY] = 1
        while how.fault == "killed-idle":
            time.sleep(1)
        if outcome(send if how.writes else receive)[0] != WELL:
            tally[WRONG] = 1
            way.close()  # before the others are met, who may wait for it
        worker.meet()


def again(worker: Worker, how: Plan) -> None:
    """Begin anew with a new peer, which runs already, and keep how long it is until it has the
    first message.
    """
    begun = clock()
    with closing(how.joined(worker, "again-")) as way:
        if worker.role == PRODUCER:
            way.tell(message(0, how.size))
        elif number_of(way.recv(WAIT_NS), how.size) != 0:
            raise ValueError("the first message of the new peer is torn")
        meeting = worker.meet(at=clock())
    if worker.role == FIRST:
        keep_times(worker, RECOVERED, meeting[FIRST]["at"] - begun)


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
