"""A rank's side: take commands, run this rank's role of each launch among the others, hand the outcome over."""

import gc
import importlib
import json
import os
import socket
import sys
import time
import traceback
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol

from ipclab.spawn.wire import Wire
from ipclab.spawn.worker import QUEUED, Outcome, Worker, failure

MEET, SIGNAL, MAKE = 1, 2, 3  # tags
ASKS = 200  # asks before the first sleep of a wait that nobody times
SLEEP_SECONDS = (0.000_05, 0.001)  # the shortest and the longest sleep between two asks
LOOPBACK = "127.0.0.1"
LOOK = 1024  # asks between two looks at the clock in a wait that is timed
Command = dict[str, Any]


class Link(Protocol):
    """How a rank hears of the measuring process."""

    def next(self) -> Command | None:
        """Return the next command, sleeping until there is one; None when all is over."""
        ...

    def tell(self, message: dict[str, Any], samples: "dict[str, array[int]]") -> None:
        """Hand an outcome over, or say why this rank cannot go on."""
        ...

    def cancelled(self) -> bool:
        """Tell whether another rank has failed, so that waiting is in vain."""
        ...


class RankWorker(Worker):
    """One rank of a launch: a worker that meets its peers through MPI and has their communicator.

    `roles` are the names of all, by their rank in `comm`; the first one is the writer's. `crowd` is how many of them
    there are for each CPU they may use, `fresh` whether these processes run this point for the first time (1 or 0),
    `address` what a writer listens on for readers that come over the network.
    """

    def __init__(self, comm: Any, roles: Sequence[str], place: tuple[str, str], seconds: float, link: Link) -> None:
        """Be a rank of `comm`; `place` is the prefix of shared names and the private folder."""
        from mpi4py import MPI

        self.mpi, self.comm, self.link = MPI, comm, link
        self.roles, self.index = list(roles), comm.rank
        self.role, (self.prefix, self.folder) = self.roles[self.index], place
        self.peers = [rank for rank in range(comm.size) if rank != self.index]
        self.deadline = time.monotonic() + seconds
        self.outcome = Outcome()
        self.crowd, self.fresh, self.address = 1.0, 1, LOOPBACK

    def meet(self, **published: Any) -> dict[str, dict[str, Any]]:
        """Wait, mostly asleep, until every peer has come to its meeting; return what each role published.

        Raises `TimeoutError` at the launch's deadline and `BrokenPipeError` when another rank has failed.
        """
        text = json.dumps(published).encode()
        sent = [self.comm.Isend([text, self.mpi.BYTE], dest=peer, tag=MEET) for peer in self.peers]
        met = {self.role: published}
        for peer in self.peers:
            status = self.mpi.Status()
            self._sleep_until(partial(self.comm.Iprobe, peer, MEET, status))
            told = bytearray(status.Get_count(self.mpi.BYTE))
            self.comm.Recv([told, self.mpi.BYTE], source=peer, tag=MEET)
            met[self.roles[peer]] = json.loads(told)
        for request in sent:
            self._sleep_until(request.Test)
        return {role: met[role] for role in self.roles}

    def signal(self, peer: int) -> None:
        """Send rank `peer` a message of no bytes."""
        self.comm.Send([b"", self.mpi.BYTE], dest=peer, tag=SIGNAL)

    def await_signals(self, peers: Sequence[int]) -> None:
        """Wait, without sleep, for one signal of each of `peers`."""
        for peer in peers:
            asks = 0
            while not self.comm.Iprobe(peer, SIGNAL):
                os.sched_yield()
                asks += 1
                if asks % LOOK == 0:
                    self._look()
            self.comm.Recv([bytearray(), self.mpi.BYTE], source=peer, tag=SIGNAL)

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

    def _sleep_until(self, ready: Callable[[], object]) -> None:
        shortest, longest = SLEEP_SECONDS
        for _ in range(ASKS):
            if ready():
                return
            os.sched_yield()
        pause = shortest
        while not ready():
            self._look()
            time.sleep(pause)
            pause = min(2 * pause, longest)

    def _look(self) -> None:
        if time.monotonic() > self.deadline:
            raise TimeoutError("the other ranks did not come in time")
        if self.link.cancelled():
            raise BrokenPipeError("another rank has failed")


def run(world: Any, command: Command, link: Link) -> bool:
    """Run this rank's role of `command`, if it has one, and tell whether that went well."""
    roles = sorted(command["roles"], key=lambda role: role["index"])
    mine = next((role for role in roles if role["rank"] == world.rank), None)
    if mine is None:
        return True
    try:
        gc.collect()
        os.sched_setaffinity(0, mine["cpus"] or os.sched_getaffinity(0))
        group = world.group.Incl([role["rank"] for role in roles])
        comm = world.Create_group(group, MAKE)
        place = command["prefix"], command["folder"]
        worker = RankWorker(comm, [role["role"] for role in roles], place, command["seconds"], link)
        worker.crowd, worker.fresh = command["crowd"], command["fresh"]
        worker.address = command.get("address", LOOPBACK)
        module, _, function = mine["target"].partition(":")
        outcome = getattr(importlib.import_module(module), function)(worker, **mine["arguments"])
        done = outcome or worker.outcome
        link.tell(done.message(), done.samples)
        comm.Free()
        group.Free()
    except Exception as error:
        traceback.print_exc()
        sys.stderr.flush()
        link.tell(failure(error), {})
        return False
    return True


class SocketLink:
    """Over a socket to the measuring process on this host."""

    def __init__(self, wire: Wire) -> None:
        """Use the connected `wire`."""
        self.wire = wire

    def next(self) -> Command | None:
        """Return the next command."""
        try:
            message, _ = self.wire.receive()
        except (EOFError, OSError):
            return None
        return message.get("command")

    def tell(self, message: dict[str, Any], samples: "dict[str, array[int]]") -> None:
        """Tell it."""
        self.wire.send(message, samples)

    def cancelled(self) -> bool:
        """Return False: the measuring process ends all ranks when one fails."""
        return False


def main() -> None:
    """Be a rank that the measuring process has started: arguments are the folder of its socket, and what to import."""
    from ipclab.spawn.supervisor import network
    from ipclab.spawn.zygote import die_with_parent

    die_with_parent(os.getppid())
    folder = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECTORY)
    rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
    stderr = os.open(f"stderr-{rank}", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600, dir_fd=folder)
    os.dup2(stderr, 1)
    os.dup2(stderr, 2)
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(f"/proc/self/fd/{folder}/socket")  # short, however long the folder's own path is
    link = SocketLink(Wire(sock))
    link.wire.send({"rank": rank, "pid": os.getpid(), "network": network()})
    try:
        import numpy  # noqa: F401
        from mpi4py import MPI

        for module in sys.argv[2:]:
            importlib.import_module(module)
    except Exception as error:
        traceback.print_exc()
        link.tell(failure(error), {})
        os._exit(1)
    gc.disable()
    gc.collect()
    gc.freeze()
    link.wire.send({"ready": MPI.COMM_WORLD.size})
    while (command := link.next()) is not None:
        run(MPI.COMM_WORLD, command, link)


if __name__ == "__main__":
    main()
