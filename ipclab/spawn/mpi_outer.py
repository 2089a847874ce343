"""Ranks of somebody else's `mpiexec` or `srun`: rank 0 measures, the others serve it, all of it over MPI alone.

These processes run every launch, since no others can be had; each launch notes that its ranks were not fresh.
"""

import os
import shutil
import tempfile
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ipclab.errors import LabError
from ipclab.spawn import mpi
from ipclab.spawn.launcher import Launcher, LaunchError, Role
from ipclab.spawn.ledger import remove_launch
from ipclab.spawn.mpi_launcher import command_of
from ipclab.spawn.mpi_mail import (
    CANCEL,
    COMMAND,
    HELLO,
    RESULT,
    SLEEP_SECONDS,
    Mail,
    MailLink,
    addresses,
    reachable,
)
from ipclab.spawn.mpi_worker import Command, run
from ipclab.spawn.worker import Outcome
from ipclab.store.point import Point

HELLO_SECONDS = 120.0
GRACE_SECONDS = 15.0


@dataclass
class Node:
    """The ranks of one host, its private folder, its CPUs, its addresses and its machine facts."""

    ranks: list[int]
    folder: str
    cpus: set[int] = field(default_factory=set)
    addresses: list[list[int]] = field(default_factory=list)
    machine: dict[str, Any] = field(default_factory=dict)


@dataclass
class World:
    """All ranks as rank 0 sees them: `nodes`, its own first."""

    mail: Mail
    nodes: list[Node]
    broken: str = ""

    @property
    def size(self) -> int:
        """Return how many ranks there are."""
        return sum(len(node.ranks) for node in self.nodes)

    def away(self) -> list[int]:
        """Return the ranks on other nodes than rank 0's, in turn over the nodes."""
        ranks = [node.ranks for node in self.nodes[1:]]
        most = max(map(len, ranks), default=0)
        return [of_node[i] for i in range(most) for of_node in ranks if i < len(of_node)]


_here: list[World] = []


def world() -> World | None:
    """Return the ranks around this process when it is rank 0 of somebody else's launcher."""
    return _here[0] if _here else None


@contextmanager
def around() -> Iterator[bool]:
    """Join the ranks of a launcher around us; give True to a rank that has served and has nothing more to do.

    Rank 0 gets False, as does a process without a launcher, and the other ranks serve it until it is done. Raises
    `LabError` when MPI does not work under that launcher.
    """
    told = mpi.outer()
    if told is None:
        yield False
        return
    if why := mpi.missing():
        raise LabError("started as one of several ranks, but without MPI", why, "")
    os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
    from mpi4py import MPI

    if MPI.COMM_WORLD.size != told.size:
        why = f"it says {told.size} ranks and MPI counts {MPI.COMM_WORLD.size}"
        raise LabError("the launcher and MPI do not fit", why, "use the launcher of the environment's MPI: mpiexec")
    mail = Mail(MPI.COMM_WORLD.Dup())
    node = MPI.COMM_WORLD.Split_type(MPI.COMM_TYPE_SHARED)
    leader = node.bcast(MPI.COMM_WORLD.rank)
    folder = tempfile.mkdtemp(prefix="ipclab-node-") if node.rank == 0 and MPI.COMM_WORLD.rank else ""
    try:
        mail.send(0, HELLO, _hello(leader, node.rank == 0, folder))
        if MPI.COMM_WORLD.rank:
            _serve(mail, leader == 0)
            yield True
        else:
            yield from _measuring(mail)
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _hello(leader: int, leads: bool, folder: str) -> dict[str, Any]:
    hello: dict[str, Any] = {"leader": leader, "cpus": sorted(os.sched_getaffinity(0)), "folder": folder}
    if leads:
        from ipclab.machine import Source, collect

        machine = collect(Source())
        hello |= {"addresses": addresses()}
        hello |= {"machine": {"digest": machine.digest, "facts": machine.facts, "reasons": machine.reasons}}
    return hello


def _measuring(mail: Mail) -> Iterator[bool]:
    here = World(mail, _nodes(mail))
    _here.append(here)
    try:
        yield False
    finally:
        _here.clear()
        for rank in range(1, mail.comm.size):
            mail.send(rank, COMMAND, {"end": True})
        mail.flush(GRACE_SECONDS)
        if here.broken:
            mail.comm.Abort(1)


def _nodes(mail: Mail) -> list[Node]:
    """Return the nodes from what every rank says of itself."""
    nodes: dict[int, Node] = {}
    deadline = time.monotonic() + HELLO_SECONDS
    for rank in range(mail.comm.size):
        while (message := mail.take(rank, HELLO)) is None:
            if time.monotonic() > deadline:
                raise LabError(f"rank {rank} did not answer within {HELLO_SECONDS:g} s", "", "look at its node")
            time.sleep(SLEEP_SECONDS)
        hello = message[0]
        node = nodes.setdefault(hello["leader"], Node([], ""))
        node.ranks.append(rank)
        node.cpus |= set(hello["cpus"])
        node.folder = node.folder or hello["folder"]
        node.addresses = node.addresses or hello.get("addresses", [])
        node.machine = node.machine or hello.get("machine", {})
    return [nodes[leader] for leader in sorted(nodes)]


def _serve(mail: Mail, at_home: bool) -> None:
    """Run what rank 0 commands until it ends; where its ledger does not reach, remove what a launch left."""
    link = MailLink(mail)
    while (command := link.next()) is not None:
        run(mail.comm, command, link)
        if not at_home:
            remove_launch(command["prefix"], command["folder"])
    mail.flush(GRACE_SECONDS)


class OuterBench:
    """Launches points on the ranks of `world`: within one node, in turn over the nodes, or across them."""

    def __init__(self, launcher: Launcher, here: World) -> None:
        """Use the session of `launcher` for names."""
        self.launcher, self.world, self.mail = launcher, here, here.mail
        self.launches: dict[str, int] = {}
        self.outcomes: dict[int, Outcome] = {}
        self.failed: dict[int, str] = {}
        self.owing: set[int] = set()

    def __call__(self, point: Point, roles: Sequence[Role], seconds: float) -> dict[str, Outcome]:
        """Run one launch of `point`; raises `LabError` when it failed."""
        if self.world.broken:
            raise LabError("the ranks no longer answer", self.world.broken, "measure again")
        self.launcher.started += 1
        number, session = self.launcher.started, self.launcher.session
        node, ranks = self._where(point, len(roles))
        folder = self.world.nodes[node].folder or session.folder
        command = command_of(roles, session.prefix(number), folder, seconds, ranks, fresh=0)
        if point.placement == "free":
            for role in command["roles"]:
                role["cpus"] = []  # as the launcher has bound them
            command["crowd"] = len(ranks) / max(1, sum(len(self.world.nodes[i].cpus) for i in self._nodes_of(ranks)))
        if int(point.levels["nodes"]) > 1:
            theirs = [address for rank in ranks[1:] for address in self.world.nodes[self._node(rank)].addresses]
            command["address"] = reachable(self.world.nodes[node].addresses, theirs)
        try:
            outcomes = self._launch(command, seconds)
        finally:
            remove_launch(session.prefix(number), session.folder)
        outcomes[roles[0].name].facts["node"] = node
        return outcomes

    def _node(self, rank: int) -> int:
        return next(i for i, node in enumerate(self.world.nodes) if rank in node.ranks)

    def _nodes_of(self, ranks: Sequence[int]) -> set[int]:
        return {self._node(rank) for rank in ranks}

    def _where(self, point: Point, count: int) -> tuple[int, list[int]]:
        """Return the writer's node and the ranks of this launch."""
        if int(point.levels["nodes"]) > 1:
            return 0, [0, *self.world.away()[: count - 1]]
        fit = [i for i, node in enumerate(self.world.nodes) if len(node.ranks) >= count]
        if not fit:
            raise LabError(f"{count} ranks on one node are needed", "no node has so many", "start more of them")
        done = self.launches[point.id] = self.launches.get(point.id, -1) + 1
        node = fit[done % len(fit)]
        return node, self.world.nodes[node].ranks[:count]

    def _launch(self, command: Command, seconds: float) -> dict[str, Outcome]:
        names = {role["rank"]: role["role"] for role in command["roles"]}
        self.outcomes, self.failed, self.owing = {}, {}, set(names)
        for rank in self.owing - {0}:
            self.mail.send(rank, COMMAND, {"command": command})
        end = time.monotonic() + seconds
        if 0 in names:
            allowed = os.sched_getaffinity(0)
            run(self.mail.comm, command, self)
            os.sched_setaffinity(0, allowed)
        self._hear(lambda: bool(self.failed) or time.monotonic() > end)
        if self.owing:
            late = min(self.owing)
            self.failed = self.failed or {late: f"did not finish within {seconds:g} s"}
            for rank in self.owing - {0}:
                self.mail.send(rank, CANCEL, {})
            grace = time.monotonic() + GRACE_SECONDS
            self._hear(lambda: time.monotonic() > grace)
            if self.owing:
                self.world.broken = f"rank {min(self.owing)} did not end a launch that failed"
        if self.failed:
            rank, reason = next(iter(self.failed.items()))
            raise LaunchError(f"rank {rank} ({names[rank]}) failed", reason)
        return {name: self.outcomes[rank] for rank, name in names.items()}

    def _hear(self, enough: Callable[[], bool]) -> None:
        """Take what the ranks say until all have spoken, or it is `enough`."""
        while self.owing:
            self._take()
            if not self.owing or enough():
                return
            time.sleep(SLEEP_SECONDS)

    def _take(self) -> None:
        for rank in sorted(self.owing - {0}):
            if told := self.mail.take(rank, RESULT):
                self._note(rank, *told)

    def _note(self, rank: int, message: dict[str, Any], samples: "dict[str, array[int]]") -> None:
        self.owing.discard(rank)
        if "failed" in message:
            self.failed.setdefault(rank, message["failed"])
        else:
            self.outcomes[rank] = Outcome.of(message, samples)

    # Rank 0 takes part too: these are its own link.
    def next(self) -> Command | None:
        """Return None: rank 0 commands itself."""
        return None

    def tell(self, message: dict[str, Any], samples: "dict[str, array[int]]") -> None:
        """Take what rank 0 itself has to say."""
        self._note(0, message, samples)

    def cancelled(self) -> bool:
        """Tell whether another rank has failed."""
        self._take()
        return bool(self.failed)
