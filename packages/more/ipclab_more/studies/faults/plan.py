"""What the processes of a planted fault must know: its plan, and the messages that are numbered."""

import random
import secrets
from dataclasses import dataclass

from ipclab.backends.interface import Data
from ipclab.spawn.proof import FAR, Messages
from ipclab.spawn.worker import Worker
from ipclab_more.studies.faults.victim import LATEST
from ipclab_more.studies.stream.connection import EACH, PRODUCER, StreamWay, consumer_role, join

FIRST = consumer_role(0)
BESIDE = ("stopped-reading", "slow-reading")  # faults of one of two consumers
NOTICED, WATCHED, RECOVERED, LOSSES, LEFT = "noticed", "watched", "recovered", "messages", "left"
PACE, SLOW = 0.0002, 0.002  # seconds after each message, of a sender and of a slow receiver
SLACK_NS = round(LATEST * 1e9)
STOP, SLOWNESS = 1.2, 0.6  # deadlines that a stop, or a slow peer, lasts
# the numbers of the message after the last one, and of the first one of a new peer
LAST, ANEW = -1, -2


class Content(Messages):
    """The messages of a launch, of which every one is compared whole."""

    def whole(self, number: int) -> bytes:
        """Return message `number`."""
        return bytes(self.at(number))

    def number_of(self, data: Data) -> int | None:
        """Return the number of a message; None when it is torn, cut or altered."""
        number = self.number(data)
        known = len(data) == self.size and abs(number) < FAR
        return number if known and self.whole(number) == data else None


def agreed(worker: Worker, size: int) -> Content:
    """Return the messages of `size` bytes that all processes of the launch know by its secret."""
    own = {"secret": secrets.token_hex(16)} if worker.role == PRODUCER else {}
    secret = worker.meet(**own)[PRODUCER]["secret"]
    return Content(f"{worker.prefix} {secret}", size)


@dataclass(frozen=True)
class FaultPlan:
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

    def joined(self, worker: Worker, part: str = "") -> StreamWay:
        """Return the worker's end of a stream; a part beside the first has one consumer."""
        consumers = 2 if self.fault in BESIDE and not part else 1
        return join(worker, self.backend, self.size, consumers, EACH, part)
