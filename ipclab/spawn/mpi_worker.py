"""A rank's side: take commands, run this rank's role of each launch among the others, hand the outcome over.

Messages between ranks are bytes, never pickles, and never waited for by spinning.
"""

import gc
import importlib
import math
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

import msgspec

from ipclab.errors import LabError
from ipclab.spawn.launcher import Role
from ipclab.spawn.wire import Wire, decode, encode
from ipclab.spawn.worker import QUEUED, Meeting, Outcome, Said, Worker, confessing, perform

MEET, SIGNAL, MAKE, LETTER, CANCEL = 1, 2, 3, 11, 12  # tags
MAIL_SECONDS = 0.002  # between two looks for a letter
ASKS = 200  # asks before the first sleep of a wait that nobody times
SLEEP_SECONDS = (0.000_05, 0.001)  # the shortest and the longest sleep between two asks
LOOK = 1024  # asks between two looks at the clock in a wait that is timed
Some = TypeVar("Some")


class Command(msgspec.Struct, tag=True):
    """One launch: its `roles` by the ranks that take them, the writer's first.

    `cpus` is how many CPUs they may use where they do not name any, `fresh` whether these processes run this point for
    the first time (1 or 0), `address` what a writer listens on for readers that come over the network.
    """

    roles: dict[int, Role]
    prefix: str
    folder: str
    seconds: float
    cpus: int = 0
    fresh: int = 1
    address: str = "127.0.0.1"


class Mail:
    """Letters between the ranks of a communicator of our own."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self.sent: list[tuple[Any, bytes]] = []

    def send(self, rank: int, message: msgspec.Struct, tag: int = LETTER) -> None:
        """Begin to send; the message is kept until it has left."""
        self.has_left()
        data = encode(message)
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
        return decode(data, kind)

    def wait(self, rank: int, kind: Any, deadline: float = math.inf) -> Any:
        """Return the next message of type `kind` from `rank`; raises `LabError` at `deadline` (of `time.monotonic`)."""
        while (message := self.take(rank, kind)) is None:
            if time.monotonic() > deadline:
                raise LabError(f"rank {rank} did not answer in time", "", "look at its node")
            time.sleep(MAIL_SECONDS)
        return message


class RankWorker(Worker):
    """One rank of a launch: a worker that meets its peers through MPI and has their communicator.

    `roles` are the names of all, by their rank in `comm`; the first one is the writer's. `crowd` is how many of them
    there are for each CPU they may use; `fresh` and `address` are the command's.
    """

    def __init__(self, comm: Any, command: Command, cancelled: Callable[[], object]) -> None:
        """Be a rank of `comm`; `cancelled` tells whether another rank has failed, so that waiting is in vain."""
        self.comm, self.mail, self.cancelled = comm, Mail(comm), cancelled
        self.roles, self.index = [role.name for role in command.roles.values()], comm.rank
        self.role, self.prefix, self.folder = self.roles[self.index], command.prefix, command.folder
        self.peers = [rank for rank in range(comm.size) if rank != self.index]
        self.deadline = time.monotonic() + command.seconds
        self.outcome = Outcome()
        cpus = command.cpus or len(frozenset[int]().union(*(role.cpus for role in command.roles.values())))
        self.crowd, self.fresh, self.address = comm.size / max(1, cpus), command.fresh, command.address

    def meet(self, **published: Any) -> dict[str, dict[str, Any]]:
        """Wait, mostly asleep, until every peer has come to its meeting; return what each role published.

        Raises `TimeoutError` at the launch's deadline and `BrokenPipeError` when another rank has failed.
        """
        for peer in self.peers:
            self.mail.send(peer, Meeting(published), MEET)
        met = {self.index: published}
        for peer in self.peers:
            met[peer] = self._sleep_until(partial(self.mail.take, peer, Meeting, MEET)).published
        self._sleep_until(self.mail.has_left)
        return {role: met[rank] for rank, role in enumerate(self.roles)}

    def signal(self, peer: int) -> None:
        """Send rank `peer` a message of no bytes."""
        self.comm.Send(b"", dest=peer, tag=SIGNAL)

    def await_signals(self, peers: Sequence[int]) -> None:
        """Wait, without sleep, for one signal of each of `peers`."""
        for peer in peers:
            self._awake_until(partial(self.comm.Iprobe, peer, SIGNAL))
            self.comm.Recv(bytearray(), source=peer, tag=SIGNAL)

    def barrier(self) -> None:
        """Wait, without sleep, until every rank has come, as programs under MPI do."""
        self._awake_until(self.comm.Ibarrier().Test)

    def signalled(self, peer: int) -> bool:
        """Tell, without waiting, whether rank `peer` has sent a signal that was not awaited yet."""
        return bool(self.comm.Iprobe(peer, SIGNAL))

    @contextmanager
    def counting(self, op: str, operations: int) -> Iterator[None]:
        """Count as every worker does; to queue for a CPU that ranks share by intent is no disturbance."""
        with super().counting(op, operations):
            yield
        if self.crowd > 1:
            self.outcome.counters[op].pop(QUEUED)

    def _awake_until(self, ready: Callable[[], object]) -> None:
        asks = 0
        while not ready():
            os.sched_yield()
            asks += 1
            if asks % LOOK == 0:
                self._look()

    def _sleep_until(self, ready: Callable[[], Some]) -> Some:
        pause, longest = SLEEP_SECONDS
        asks = 0
        while not (found := ready()):
            asks += 1
            if asks <= ASKS:
                os.sched_yield()
                continue
            self._look()
            time.sleep(pause)
            pause = min(2 * pause, longest)
        return found

    def _look(self) -> None:
        if time.monotonic() > self.deadline:
            raise TimeoutError("the other ranks did not come in time")
        if self.cancelled():
            raise BrokenPipeError("another rank has failed")


def run(
    world: Any, command: Command, tell: Callable[[Said], None], cancelled: Callable[[], object] = lambda: False
) -> None:
    """Run this rank's role of `command`, if it has one, and tell how that went."""
    role = command.roles.get(world.rank)
    if role is None:
        return
    with confessing(tell):
        gc.collect()
        os.sched_setaffinity(0, role.cpus or os.sched_getaffinity(0))
        group = world.group.Incl([*command.roles])
        comm = world.Create_group(group, MAKE)
        perform(RankWorker(comm, command, cancelled), role.target, role.arguments, tell)
        comm.Free()
        group.Free()


def main() -> None:
    """Be a rank that the measuring process has started: arguments are the folder of its socket, and what to import."""
    from ipclab.spawn.network import network
    from ipclab.spawn.zygote import die_with_parent

    die_with_parent(os.getppid())
    folder = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
    rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
    stderr = os.open(f"stderr-{rank}", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600, dir_fd=folder)
    os.dup2(stderr, 1)
    os.dup2(stderr, 2)
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(f"/proc/self/fd/{folder}/socket")  # short, however long the folder's own path is
    wire = Wire(sock)
    with confessing(wire.send):
        import numpy  # noqa: F401
        from mpi4py import MPI

        for module in sys.argv[2:]:
            importlib.import_module(module)
        gc.disable()
        gc.collect()
        gc.freeze()
        wire.send(Meeting({"rank": rank, "ranks": MPI.COMM_WORLD.size, "network": network()}))
    with suppress(EOFError, OSError):  # the measuring process ends all ranks when one fails
        while True:
            run(MPI.COMM_WORLD, wire.receive(Command), wire.send)


if __name__ == "__main__":
    main()
