"""Letters between ranks: what the first asks of the others, their answers, and how both are sent.

Messages between ranks are bytes, never pickles, and never waited for by spinning.
"""

import math
import time
from typing import Any

import msgspec

from ipclab.errors import LabError
from ipclab.spawn.heat import Schedule
from ipclab.spawn.started import Role
from ipclab.spawn.wire import from_wire, wire_bytes
from ipclab.spawn.worker import Failed, Outcome

MEET, SIGNAL, MAKE, LETTER, CANCEL = 1, 2, 3, 11, 12  # tags
MAIL_SECONDS = 0.002  # between two looks for a letter


class RankPart(msgspec.Struct):
    """A contestant's part of a command: its `roles` by the ranks that take them, writer first.

    `cpus` is how many CPUs they may use where they do not name any, `address` what a writer listens
    on for readers that come over the network.
    """

    roles: dict[int, Role]
    prefix: str
    folder: str
    cpus: int = 0
    address: str = "127.0.0.1"


class Command(msgspec.Struct, tag=True):
    """One heat of contestants that these ranks hold together, by name, and its schedule.

    `fresh` says whether these processes run its points for the first time (1 or 0), `patient` that
    whoever sent it ends late ranks: none of them gives up before that.
    """

    parts: dict[str, RankPart]
    schedule: Schedule
    fresh: int = 1
    patient: bool = False

    @property
    def seconds(self) -> float:
        """Return the deadline of all of it."""
        return self.schedule.seconds * len(self.parts)

    @property
    def names(self) -> dict[int, str]:
        """Return the ranks that take part, each with its role in the first of its contestants."""
        names: dict[int, str] = {}
        for part in self.parts.values():
            for rank, role in part.roles.items():
                names.setdefault(rank, role.name)
        return dict(sorted(names.items()))


class Done(msgspec.Struct, tag=True):
    """A rank's outcomes, by contestant."""

    outcomes: dict[str, Outcome]


Answer = Done | Failed


class Mail:
    """Letters between the ranks of a communicator of our own."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self.sent: list[tuple[Any, bytes]] = []

    def send(self, rank: int, message: msgspec.Struct, tag: int = LETTER) -> None:
        """Begin to send; the message is kept until it has left."""
        self.has_left()
        data = wire_bytes(message)
        self.sent.append((self.comm.Isend(data, dest=rank, tag=tag), data))

    def has_left(self) -> bool:
        """Tell whether all that was sent has left."""
        self.sent = [(request, data) for request, data in self.sent if not request.Test()]
        return not self.sent

    def flush(self, seconds: float) -> None:
        """Wait until all has left, or `seconds` have passed."""
        end = time.monotonic() + seconds
        while not self.has_left() and time.monotonic() < end:
            time.sleep(MAIL_SECONDS)

    def take(self, rank: int, kind: Any, tag: int = LETTER) -> Any:
        """Return a message of type `kind` that has come from `rank`, or None."""
        from mpi4py import MPI

        status = MPI.Status()
        if not self.comm.Iprobe(rank, tag, status):
            return None
        data = bytearray(status.Get_count())
        self.comm.Recv(data, source=rank, tag=tag)
        return from_wire(data, kind)

    def wait(self, rank: int, kind: Any, deadline: float = math.inf) -> Any:
        """Return the next message of type `kind` from `rank`.

        Raises `LabError` at `deadline` (of `time.monotonic`).
        """
        while (message := self.take(rank, kind)) is None:
            if time.monotonic() > deadline:
                raise LabError(f"rank {rank} did not answer in time", "", "look at its node")
            time.sleep(MAIL_SECONDS)
        return message
