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
from ipclab_more.studies.faults import plan as plans
from ipclab_more.studies.faults.effects import SILENCE, SeenNumbers, attempt_outcome, losses, shares
from ipclab_more.studies.faults.plan import FIRST, LAST, SLACK_NS, Content, FaultPlan
from ipclab_more.studies.stream.base import keep_times
from ipclab_more.studies.stream.connection import PRODUCER, StreamWay

WATCH_NS = 200_000_000  # enough for several looks whether the peer's process lives


class Survivor:
    """A process to whose peer something happens, and what it sees of that."""

    def __init__(self, worker: Worker, plan: FaultPlan, way: StreamWay, content: Content) -> None:
        self.worker, self.plan, self.way, self.content = worker, plan, way, content
        self.seen: SeenNumbers = []
        self.sent, self.until = 0, 0
        self.end = way.ends[0]

    def live(self) -> None:
        """Face the fault of the plan, in the role of this process."""
        beside = self.plan.fault in plans.BESIDE
        if beside and self.worker.role == PRODUCER:
            self.send_to_both()
        elif beside:
            self.receive_beside()
        else:
            face = {
                "killed-idle": self.lose_idle_sender,
                "killed-writing": self.lose_sender,
                "killed-reading": self.lose_receiver,
                "stopped-writing": self.wait_for_stopped,
            }
            face[self.plan.fault]()
        self.finish()

    def receive(self, timeout_ns: int) -> None:
        """Receive the next message."""
        self.seen.append(self.content.number_of(self.way.recv(timeout_ns)))

    def send(self) -> None:
        """Hand the next message over; at `until` the time ends in which a fault can show."""
        left_ns = self.until - clock()
        data = self.content.whole(self.sent)
        if left_ns <= 0:
            raise TimeoutError if self.plan.kills else StopIteration
        self.way.offer(data, left_ns) if self.plan.kills else self.way.tell(data)
        self.sent += 1
        time.sleep(plans.PACE)

    def face(self, attempt: Callable[[], None]) -> tuple[str, int]:
        """Go on by `attempt` until the mechanism shows the fault; return how, and when (ns)."""
        if isinstance(self.end, Channel):
            self.peer = self.end.peer
            self.end.peer = None
        kind, at = attempt_outcome(attempt, lambda: getattr(self.end, "filled", 0))
        self.worker.outcome.counters[plans.NOTICED] = shares(kind)
        return kind, at

    def watch(self, attempt: Callable[[], None], kind: str, noticed_ns: int) -> None:
        """Keep when the mechanism noticed, or how long a watch over the peer's process takes to."""
        keep_times(self.worker, plans.NOTICED, noticed_ns)
        if not isinstance(self.end, Channel):
            return
        if kind == SILENCE:
            self.end.peer = self.peer
            begun = clock()
            kind, at = attempt_outcome(attempt)
            noticed_ns = at - begun
        keep_times(self.worker, plans.WATCHED, noticed_ns)
        self.worker.outcome.counters[plans.WATCHED] = shares(kind)

    def account(self, accepted: int, seen: SeenNumbers) -> None:
        """Keep what became of `accepted` messages."""
        self.worker.outcome.counters[plans.LOSSES] = losses(accepted, seen)

    def settled(self, noticed_at: int, hit: str) -> int:
        """Keep when the fault was noticed; return how many messages `hit` was done with."""
        self.worker.meet()  # with the victim: nothing is closed under it
        told = self.worker.meet()[hit]
        keep_times(self.worker, plans.NOTICED, noticed_at - told["at"])
        return int(told["done"])

    def finish(self) -> None:
        """Note of who receives that every message that came was compared whole, be it none."""
        if self.worker.role != PRODUCER:
            self.worker.outcome.facts |= dict.fromkeys(PROVED, len(self.seen))

    def lose_idle_sender(self) -> None:
        """Receive the one message of a sender that is killed later."""
        kind, at = self.face(lambda: self.receive(self.plan.deadline_ns + SLACK_NS))
        hit = self.worker.meet()[PRODUCER]
        self.watch(lambda: self.receive(WATCH_NS), kind, at - hit["at"])
        self.account(1, self.seen)

    def lose_sender(self) -> None:
        """Receive what a sender had sent when it was killed: all that was on its way is there."""
        hit = self.worker.meet()[PRODUCER]
        kind, at = self.face(lambda: self.receive(self.plan.deadline_ns))
        self.account(hit["done"], self.seen)
        self.watch(lambda: self.receive(WATCH_NS), kind, at - hit["at"])

    def lose_receiver(self) -> None:
        """Send to a receiver that is killed."""
        self.until = clock() + self.plan.deadline_ns + SLACK_NS
        kind, at = self.face(self.send)
        hit = self.worker.meet()[FIRST]
        self.account(self.sent, [*range(hit["done"])])
        self.until = clock() + WATCH_NS
        self.watch(self.send, kind, at - hit["at"])

    def wait_for_stopped(self) -> None:
        """Receive up to the last message, waiting half a deadline for each; note the stop by that."""

        def receive() -> None:
            self.receive(self.plan.deadline_ns // 2)
            if self.seen[-1] == LAST:
                raise StopIteration

        kind, at = self.face(receive)
        with suppress(OSError):
            while kind == SILENCE and self.seen[-1:] not in ([LAST], [None]):
                self.receive(WAIT_NS)
        if self.seen[-1:] != [LAST]:
            self.way.close()  # no more of it can be understood: let the sender know
        sent = self.settled(at, PRODUCER)
        self.account(sent, [number for number in self.seen if number != LAST])

    def send_to_both(self) -> None:
        """Send to both consumers steadily while one is stopped or slow, then the last message."""
        self.until = clock() + self.plan.lasts_ns + 2 * SLACK_NS
        _, at = self.face(self.send)
        self.way.tell(self.content.whole(LAST))
        self.account(self.sent, [*range(self.settled(at, FIRST))])

    def receive_beside(self) -> None:
        """Receive beside the one that is stopped or slow; keep the time between two messages."""
        stamps = []
        with suppress(OSError):
            while self.seen[-1:] != [LAST]:
                self.receive(WAIT_NS)
                stamps.append(clock())
        self.worker.meet()
        self.worker.meet()
        gaps = [late - early for early, late in pairwise(stamps)]
        keep_times(self.worker, "gap", *gaps)
        keep_times(self.worker, "longest-gap", max(gaps))
