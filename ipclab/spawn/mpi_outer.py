"""Ranks of somebody else's `mpiexec` or `srun`: rank 0 measures, the others serve it over MPI.

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
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Interface
from itertools import chain, zip_longest
from typing import Any

import msgspec

from ipclab.errors import LabError
from ipclab.spawn import mpi
from ipclab.spawn.ledger import remove_launch
from ipclab.spawn.mpi_mail import CANCEL, Command, Mail
from ipclab.spawn.mpi_worker import run_roles

HELLO_SECONDS = 120.0
GRACE_SECONDS = 15.0
SIOCGIFADDR, SIOCGIFNETMASK = 0x8915, 0x891B  # netdevice(7)


class Node(msgspec.Struct):
    """The ranks of one host, of which `leader` is the first, and what is known of the host.

    `name` is its own in a run that names its node.
    """

    leader: int
    ranks: list[int]
    cpus: set[int]
    folder: str = ""
    addresses: list[str] = []
    machine: dict[str, Any] = {}
    name: str = ""


class NoMore(msgspec.Struct, tag=True):
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

    def nodes_of(self, ranks: Iterable[int]) -> list[Node]:
        """Return the nodes that `ranks` are on."""
        return [node for node in self.nodes if not {*ranks}.isdisjoint(node.ranks)]

    def between(self, ranks: Iterable[int]) -> str:
        """Return the nodes that `ranks` are on, by name or by number; nothing of a single one."""
        names = [node.name or str(self.nodes.index(node)) for node in self.nodes_of(ranks)]
        return f"nodes {', '.join(names)}" if len(names) > 1 else ""


_here: list[World] = []


def world() -> World | None:
    """Return the ranks around this process when it is rank 0 of somebody else's launcher."""
    return _here[0] if _here else None


@contextmanager
def around(named: bool = False) -> Iterator[bool]:
    """Join the ranks of a launcher around us; give True to a rank that has served and is done.

    Nodes are known by number, or are `named`: by Slurm, else by their host names.
    Rank 0 gets False, as does a process without a launcher, and the other ranks serve it until it
    is done. Raises `LabError` when MPI does not work under that launcher.
    """
    size = mpi.outer()
    if size is None:
        yield False
        return
    if why := mpi.mpi_missing():
        raise LabError("started as one of several ranks, but without MPI", why, "")
    os.environ.setdefault("OMPI_MCA_mpi_yield_when_idle", "1")
    from mpi4py import MPI

    everyone = MPI.COMM_WORLD
    if everyone.size != size:
        why = f"it says {size} ranks and MPI counts {everyone.size}"
        fix = "use the launcher of the environment's MPI: mpiexec"
        raise LabError("the launcher and MPI do not fit", why, fix)
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
            mail.send(rank, NoMore())
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
    """Run what rank 0 commands until it ends; remove what launches left beyond its ledger."""
    while isinstance(command := mail.wait(0, Command | NoMore), Command):
        while mail.take(0, NoMore, CANCEL):  # what was said of an earlier launch
            pass
        run_roles(mail.comm, command, partial(mail.send, 0), partial(mail.comm.Iprobe, 0, CANCEL))
        if not at_home:
            for part in command.parts.values():
                remove_launch(part.prefix, part.folder)
    mail.flush(GRACE_SECONDS)


def addresses() -> list[str]:
    """Return each IPv4 interface's address and netmask, loopback apart, for `IPv4Interface`."""
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
    """Return that of our addresses which lies in a network of theirs.

    Raises `LabError` when none does.
    """
    for interface in map(IPv4Interface, mine):
        if any(IPv4Interface(other).ip in interface.network for other in theirs):
            return str(interface.ip)
    why = "zmq-tcp needs an address that the other node reaches"
    raise LabError("the nodes share no IPv4 network", why)
