"""A rank's side: take commands, run this rank's role of each launch, hand the outcome over."""

import gc
import importlib
import math
import os
import socket
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from ipclab.errors import LabError
from ipclab.spawn.conduct import Conduct, this_thread
from ipclab.spawn.exits import die_with_parent
from ipclab.spawn.heat import BEGINNING, ENDING
from ipclab.spawn.mpi_mail import MAKE, MEET, SIGNAL, Answer, Command, Done, Mail, RankPart
from ipclab.spawn.started import Role
from ipclab.spawn.wire import Wire
from ipclab.spawn.worker import (
    QUEUED,
    Meeting,
    Outcome,
    Roles,
    Turns,
    Worker,
    call_target,
    confessing,
)

ASKS = 200  # asks before the first sleep of a wait that nobody times
SLEEP_SECONDS = (0.000_05, 0.001)  # the shortest and the longest sleep between two asks
LOOK = 1024  # asks between two looks at the clock in a wait that is timed
Some = TypeVar("Some")


class RankWorker(Worker):
    """One rank of a launch: a worker that meets its peers through MPI and has their communicator.

    `roles` are the names of all, by their rank in `comm`; the first one is the writer's. `crowd` is
    how many of them there are for each CPU they may use; `fresh` and `address` are the command's.
    """

    def __init__(
        self, comm: Any, part: RankPart, command: Command, cancelled: Callable[[], object]
    ) -> None:
        """Be a rank of `comm`; `cancelled` tells whether another one failed: waiting is in vain."""
        self.comm = comm
        self.mail = Mail(comm)
        self.cancelled = cancelled
        self.roles = [role.name for role in part.roles.values()]
        self.index = comm.rank
        self._begin(self.roles[self.index], part.prefix, part.folder)
        self.peers = [rank for rank in range(comm.size) if rank != self.index]
        self.deadline = math.inf if command.patient else time.monotonic() + command.seconds
        cpus = part.cpus or len(
            frozenset[int]().union(*(role.cpus for role in part.roles.values()))
        )
        self.crowd = comm.size / max(1, cpus)
        self.fresh = command.fresh
        self.address = part.address

    def meet(self, **published: Any) -> dict[str, dict[str, Any]]:
        """Wait, mostly asleep, until each peer has come to its meeting; return what all published.

        Raises `TimeoutError` at the launch's deadline and `BrokenPipeError` when another rank has
        failed.
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
        """Count as every worker does; waiting for a CPU that ranks share is no disturbance."""
        with super().counting(op, operations):
            yield
        if self.crowd > 1 and self.recording:
            self.outcome.counters[op].pop(QUEUED)

    def gather_asleep(self) -> None:
        """Wait, mostly asleep, until every rank has come."""
        self._sleep_until(self.comm.Ibarrier().Test)

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
        while not (result := ready()):
            asks += 1
            if asks <= ASKS:
                os.sched_yield()
                continue
            self._look()
            time.sleep(pause)
            pause = min(2 * pause, longest)
        return result

    def _look(self) -> None:
        if time.monotonic() > self.deadline:
            raise TimeoutError("the other ranks did not come in time")
        if self.cancelled():
            raise BrokenPipeError("another rank has failed")


@dataclass
class RankHeat:
    """A heat as one of its ranks runs it: contestants live in the same ranks and take turns.

    Every rank follows the same schedule, so that none has to be told whose turn it is.
    """

    world: Any
    command: Command
    cancelled: Callable[[], object]
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    tasks: dict[str, tuple[RankWorker, Turns]] = field(default_factory=dict)
    published: dict[str, dict[str, Any]] = field(default_factory=dict)
    parked: list[str] = field(default_factory=list)  # the same at every rank

    def run(self) -> dict[str, Outcome]:
        """Run this rank's part of all contestants and return its outcomes."""
        schedule = self.command.schedule
        with ExitStack() as held:
            whole = RankPart(
                {rank: Role(f"rank {rank}", "", {}, frozenset()) for rank in self.command.names},
                "",
                "",
            )
            self.everyone = RankWorker(self._comm(held, whole), whole, self.command, self.cancelled)
            for name in schedule.order(self.command.parts, BEGINNING):
                self._begin(held, name, self.command.parts[name])
            for name, recorded in schedule.cycles(self.parked, self._first_says):
                self._go_on(name, recorded)
            for name in schedule.order(self.parked, ENDING):
                self._go_on(name, more=False)
        return self.outcomes

    def _comm(self, held: ExitStack, part: RankPart) -> Any:
        group = self.world.group.Incl([*part.roles])
        held.callback(group.Free)
        comm = self.world.Create_group(group, MAKE)
        held.callback(comm.Free)
        return comm

    def _begin(self, held: ExitStack, name: str, part: RankPart) -> None:
        self.everyone.gather_asleep()
        role = part.roles.get(self.world.rank)
        parks = False
        if role is not None:
            worker = RankWorker(self._comm(held, part), part, self.command, self.cancelled)
            if Path(part.folder).is_dir():  # of another node's session there is none here
                worker.name("")  # reads the key of names, lest a study times that
            os.sched_setaffinity(0, role.cpus or os.sched_getaffinity(0))
            worker.conduct = Conduct(this_thread)
            task = call_target(worker, role.target, role.arguments)
            if isinstance(task, Generator):
                self.tasks[name] = worker, task
                parks = self._advance(name, None)
            else:
                worker.conduct.check_place()
                self.outcomes[name] = task or worker.outcome
        if any(self._all_say(parks)):
            self.parked.append(name)

    def _go_on(self, name: str, recorded: bool = True, more: bool = True) -> None:
        """Give a contestant its turn, or let it end; ranks that are not its own sleep."""
        self.everyone.gather_asleep()
        if name not in self.tasks:
            return
        worker, _ = self.tasks[name]
        role = self.command.parts[name].roles[self.world.rank]
        os.sched_setaffinity(0, role.cpus or os.sched_getaffinity(0))
        worker.recording = recorded
        roles = worker.meet(**self.published[name])
        if self._advance(name, roles if more else None) != more:
            raise LabError(f"{role.name} did not take as many turns as its peers", "", "")

    def _advance(self, name: str, roles: Roles | None) -> bool:
        """Let a contestant run to where it parks, or ends; tell whether it has parked."""
        worker, task = self.tasks[name]
        try:
            self.published[name] = task.send(roles)
            parks = True
        except StopIteration:
            self.outcomes[name] = worker.outcome
            parks = False
        worker.conduct.check_place()
        return parks

    def _all_say(self, mine: bool) -> list[bool]:
        """Return what the ranks say, in their order."""
        return [answer["says"] for answer in self.everyone.meet(says=mine).values()]

    def _first_says(self, mine: bool) -> bool:
        """Return what the first of all ranks says, so that their clocks need not agree."""
        return self._all_say(mine)[0]


def run_roles(
    world: Any,
    command: Command,
    tell: Callable[[Answer], None],
    cancelled: Callable[[], object] = lambda: False,
) -> None:
    """Run this rank's roles of `command`, if it has any, and tell how that went."""
    if world.rank not in command.names:
        return
    allowed = os.sched_getaffinity(0)
    try:
        with confessing(tell):
            gc.collect()
            tell(Done(RankHeat(world, command, cancelled).run()))
    finally:
        os.sched_setaffinity(0, allowed)  # the next heat may have no CPUs of its own


def main() -> None:
    """Be a rank of the measuring process; arguments: its socket's folder, and what to import."""
    die_with_parent(os.getppid())
    folder, *modules = sys.argv[1:]
    rank = int(os.environ["OMPI_COMM_WORLD_RANK"])
    stderr = os.open(f"{folder}/stderr-{rank}", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    os.dup2(stderr, 1)
    os.dup2(stderr, 2)
    sock = socket.socket(socket.AF_UNIX)
    sock.connect(f"{folder}/socket")
    wire = Wire(sock)
    with confessing(wire.send):
        import numpy  # noqa: F401
        from mpi4py import MPI

        for module in modules:
            importlib.import_module(module)
        gc.disable()
        gc.collect()
        gc.freeze()
        wire.send(Meeting({"rank": rank, "ranks": MPI.COMM_WORLD.size}))
    with suppress(EOFError, OSError):  # the measuring process ends all ranks when one fails
        while True:
            run_roles(MPI.COMM_WORLD, wire.receive(Command), wire.send)


if __name__ == "__main__":
    main()
