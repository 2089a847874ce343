"""Ranks of somebody else's `mpiexec` or `srun`: rank 0 measures, the others serve it, all of it
over MPI alone.

These processes run every launch, since no others can be had; each launch notes that its ranks were
not fresh.
"""

import fcntl
import os
import shutil
import socket
import struct
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import IPv4Interface
from itertools import chain, zip_longest
from typing import Any

import msgspec

from ipclab.errors import LabError
from ipclab.spawn import mpi
from ipclab.spawn.heat import Contestant, Ends, Schedule, together_or_alone
from ipclab.spawn.launcher import Launcher, LaunchError
from ipclab.spawn.ledger import remove_launch
from ipclab.spawn.mpi_mail import CANCEL, MAIL_SECONDS, Answer, Command, Done, Mail, Part
from ipclab.spawn.mpi_worker import run
from ipclab.spawn.rank_bench import ends_of, names_of
from ipclab.spawn.worker import Failed
from ipclab.store.point import Point

HELLO_SECONDS = 120.0
GRACE_SECONDS = 15.0
SIOCGIFADDR, SIOCGIFNETMASK = 0x8915, 0x891B  # netdevice(7)


class Node(msgspec.Struct):
    """The ranks of one host, of which `leader` is the first; its CPUs, private folder, addresses,
    machine facts, and its name in a run that names its node.
    """

    leader: int
    ranks: list[int]
    cpus: set[int]
    folder: str = ""
    addresses: list[str] = []
    machine: dict[str, Any] = {}
    name: str = ""


class End(msgspec.Struct, tag=True):
    """There is nothing more to do; as a cancellation, a launch is given up."""


@dataclass
class World:
    """All ranks as rank 0 sees them: `nodes`, its own first."""

    mail: Mail
    nodes: list[Node]
    broken: str = ""

    def away(self) -> list[int]:
        """Return the ranks on other nodes than rank 0's, in turn over the nodes."""
        turns = zip_longest(*(node.ranks for node in self.nodes[1:]))
        return [rank for rank in chain.from_iterable(turns) if rank is not None]

    def between(self, ranks: Iterable[int]) -> str:
        """Return the nodes that `ranks` are on, by name or else by number; nothing of a single one."""
        names = []
        for number, node in enumerate(self.nodes):
            if not {*ranks}.isdisjoint(node.ranks):
                names.append(node.name or str(number))
        return f"nodes {', '.join(names)}" if len(names) > 1 else ""


_here: list[World] = []


def world() -> World | None:
    """Return the ranks around this process when it is rank 0 of somebody else's launcher."""
    return _here[0] if _here else None


@contextmanager
def around(named: bool = False) -> Iterator[bool]:
    """Join the ranks of a launcher around us; give True to a rank that has served and has nothing
    more to do.

    Nodes are known by number, or are `named`: by Slurm, else by their host names.
    Rank 0 gets False, as does a process without a launcher, and the other ranks serve it until it
    is done. Raises `LabError` when MPI does not work under that launcher.
    """
    size = mpi.outer()
    if size is None:
        yield False
        return
    if why := mpi.missing():
        raise LabError("started as one of several ranks, but without MPI", why, "")
    os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
    from mpi4py import MPI

    everyone = MPI.COMM_WORLD
    if everyone.size != size:
        why = f"it says {size} ranks and MPI counts {everyone.size}"
        raise LabError(
            "the launcher and MPI do not fit",
            why,
            "use the launcher of the environment's MPI: mpiexec",
        )
    mail = Mail(everyone.Dup())
    leader = _neighbours(everyone).bcast(everyone.rank)
    folder = (
        tempfile.mkdtemp(prefix="ipclab-node-") if everyone.rank and everyone.rank == leader else ""
    )
    try:
        mail.send(0, _hello(leader, everyone.rank, folder, named))
        if everyone.rank:
            _serve(mail, leader == 0)
            yield True
        else:
            yield from _measuring(mail)
    finally:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def _neighbours(everyone: Any) -> Any:
    """Return the ranks of this node: as Slurm has them where it started them, else as MPI does."""
    from mpi4py import MPI

    if os.environ.get("PMIX_NAMESPACE", "").startswith("slurm."):
        # MPI counts each for itself where a node's name is not its host's
        return everyone.Split(int(os.environ["SLURM_NODEID"]), everyone.rank)
    return everyone.Split_type(MPI.COMM_TYPE_SHARED)


def _hello(leader: int, rank: int, folder: str, named: bool) -> Node:
    node = Node(leader, [rank], os.sched_getaffinity(0), folder)
    if rank == leader:
        if named:
            node.name = os.environ.get("SLURMD_NODENAME") or socket.gethostname()
        from ipclab.machine import Source, collect

        machine = collect(Source())
        node.addresses = addresses()
        node.machine = {
            "digest": machine.digest,
            "facts": machine.facts,
            "reasons": machine.reasons,
        }
    return node


def _measuring(mail: Mail) -> Iterator[bool]:
    here = World(mail, _nodes(mail))
    _here.append(here)
    try:
        yield False
    finally:
        _here.clear()
        for rank in range(1, mail.comm.size):
            mail.send(rank, End())
        mail.flush(GRACE_SECONDS)
        if here.broken:
            mail.comm.Abort(1)


def _nodes(mail: Mail) -> list[Node]:
    """Return the nodes from what every rank says of itself."""
    nodes: dict[int, Node] = {}
    deadline = time.monotonic() + HELLO_SECONDS
    for rank in range(mail.comm.size):
        hello = mail.wait(rank, Node, deadline)
        node = nodes.setdefault(hello.leader, hello)  # the leader is the first of its node
        if node is not hello:
            node.ranks.append(rank)
            node.cpus |= hello.cpus
    return list(nodes.values())


def _serve(mail: Mail, at_home: bool) -> None:
    """Run what rank 0 commands until it ends; where its ledger does not reach, remove what a launch
    left.
    """
    while isinstance(command := mail.wait(0, Command | End), Command):
        while mail.take(0, End, CANCEL):  # what was said of an earlier launch
            pass
        run(mail.comm, command, partial(mail.send, 0), partial(mail.comm.Iprobe, 0, CANCEL))
        if not at_home:
            for part in command.parts.values():
                remove_launch(part.prefix, part.folder)
    mail.flush(GRACE_SECONDS)


class OuterBench:
    """Launches points on the ranks of `world`: within one node, in turn over the nodes, or across
    them.
    """

    def __init__(self, launcher: Launcher, here: World) -> None:
        self.launcher, self.world, self.mail = launcher, here, here.mail
        self.launches: dict[str, int] = {}
        self.asked: set[int] = set()  # for this launch
        self.said: dict[int, Answer] = {}  # by rank, in the order in which it came

    def __call__(self, heat: Mapping[str, Contestant], schedule: Schedule) -> Ends:
        """Run a heat; where it fails as a whole, its contestants one by one."""
        return together_or_alone(self._heat, heat, schedule)

    def _heat(self, heat: Mapping[str, Contestant], schedule: Schedule) -> Ends:
        if self.world.broken:
            raise LabError("the ranks no longer answer", self.world.broken, "measure again")
        homes = dict[str, Node]()
        parts = dict[str, Part]()
        with ExitStack() as names:
            for name, contestant in heat.items():
                prefix = names.enter_context(self.launcher.naming())
                homes[name], parts[name] = self._part(contestant, prefix)
            ends = self._launch(Command(parts, schedule, fresh=0))
        for name, ended in ends.items():
            if isinstance(ended, LabError):
                continue
            facts = ended[heat[name].roles[0].name].facts
            facts["node"] = self.world.nodes.index(homes[name])
            if pair := self.world.between(parts[name].roles):
                facts["relation"] = pair
        return ends

    def _part(self, contestant: Contestant, prefix: str) -> tuple[Node, Part]:
        point, roles = contestant.point, contestant.roles
        home, ranks = self._where(point, len(roles))
        folder = home.folder or self.launcher.session.folder
        part = Part(dict(zip(ranks, roles, strict=True)), prefix, folder)
        if point.placement == "free":  # as the launcher has bound them
            part.roles = {
                rank: replace(role, cpus=frozenset()) for rank, role in part.roles.items()
            }
            theirs = [node for node in self.world.nodes if not {*ranks}.isdisjoint(node.ranks)]
            part.cpus = sum(len(node.cpus) for node in theirs)
        if int(point.levels["nodes"]) > 1:
            others = [node for node in self.world.nodes if not {*ranks[1:]}.isdisjoint(node.ranks)]
            part.address = reachable(
                home.addresses, [address for node in others for address in node.addresses]
            )
        return home, part

    def _where(self, point: Point, count: int) -> tuple[Node, list[int]]:
        """Return the writer's node and the ranks of this launch."""
        if int(point.levels["nodes"]) > 1:
            return self.world.nodes[0], [0, *self.world.away()[: count - 1]]
        fit = [node for node in self.world.nodes if len(node.ranks) >= count]
        if not fit:
            raise LabError(
                f"{count} ranks on one node are needed", "no node has so many", "start more of them"
            )
        done = self.launches[point.id] = self.launches.get(point.id, -1) + 1
        node = fit[done % len(fit)]
        return node, node.ranks[:count]

    def _launch(self, command: Command) -> Ends:
        names = names_of(command)
        self.asked, self.said = set(names), {}
        end = time.monotonic() + command.seconds
        for rank in self.asked - {0}:
            self.mail.send(rank, command)
        if 0 in names:
            run(self.mail.comm, command, partial(self.said.__setitem__, 0), self._failed)
        while not (failed := self._failed()) and self._owing() and time.monotonic() < end:
            time.sleep(MAIL_SECONDS)
        if owing := self._owing():
            failed = failed or {min(owing): f"did not finish within {command.seconds:g} s"}
            self._give_up()
        for rank, why in failed.items():
            raise LaunchError(f"rank {rank} ({names[rank]}) failed", why)
        return ends_of(
            command, {rank: said for rank, said in self.said.items() if isinstance(said, Done)}
        )

    def _give_up(self) -> None:
        """Have the ranks end a launch that failed."""
        for rank in self._owing() - {0}:
            self.mail.send(rank, End(), CANCEL)
        end = time.monotonic() + GRACE_SECONDS
        while self._owing() and time.monotonic() < end:
            time.sleep(MAIL_SECONDS)
            self._failed()
        if owing := self._owing():
            self.world.broken = f"rank {min(owing)} did not end a launch that failed"

    def _owing(self) -> set[int]:
        return self.asked - self.said.keys()

    def _failed(self) -> dict[int, str]:
        """Note what the other ranks have said, and return why ranks have failed, the first one
        first.
        """
        for rank in sorted(self._owing() - {0}):
            if said := self.mail.take(rank, Answer):
                self.said[rank] = said
        return {rank: said.why for rank, said in self.said.items() if isinstance(said, Failed)}


def addresses() -> list[str]:
    """Return address and netmask of every IPv4 interface but loopback, as `IPv4Interface` reads
    them.
    """
    addresses_found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:15])
            with suppress(OSError):
                both = [
                    fcntl.ioctl(sock, code, request)[20:24]
                    for code in (SIOCGIFADDR, SIOCGIFNETMASK)
                ]
                addresses_found.append("/".join(map(socket.inet_ntoa, both)))
    return [address for address in addresses_found if not IPv4Interface(address).is_loopback]


def reachable(mine: Sequence[str], theirs: Sequence[str]) -> str:
    """Return that of our addresses which lies in a network of theirs; raises `LabError` when none
    does.
    """
    for interface in map(IPv4Interface, mine):
        if any(IPv4Interface(other).ip in interface.network for other in theirs):
            return str(interface.ip)
    raise LabError(
        "the nodes share no IPv4 network",
        "zmq-tcp needs an address that the other node reaches",
        "",
    )
