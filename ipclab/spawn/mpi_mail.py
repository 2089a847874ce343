"""Messages between the ranks of one MPI world: bytes, never pickles, and never waited for by spinning."""

import fcntl
import math
import socket
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import IPv4Interface
from typing import Any

import msgspec

from ipclab.errors import LabError
from ipclab.spawn.wire import decode, encode

LETTER, CANCEL = 11, 12
SLEEP_SECONDS = 0.002
SIOCGIFADDR, SIOCGIFNETMASK = 0x8915, 0x891B  # netdevice(7)


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
            time.sleep(SLEEP_SECONDS)

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
            time.sleep(SLEEP_SECONDS)
        return message


def addresses() -> list[str]:
    """Return address and netmask of every IPv4 interface but loopback, as `IPv4Interface` reads them."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:15])
            with suppress(OSError):
                both = [fcntl.ioctl(sock, code, request)[20:24] for code in (SIOCGIFADDR, SIOCGIFNETMASK)]
                found.append("/".join(map(socket.inet_ntoa, both)))
    return [each for each in found if not IPv4Interface(each).is_loopback]


def reachable(mine: Sequence[str], theirs: Sequence[str]) -> str:
    """Return that of our addresses which lies in a network of theirs; raises `LabError` when none does."""
    for each in map(IPv4Interface, mine):
        if any(IPv4Interface(other).ip in each.network for other in theirs):
            return str(each.ip)
    raise LabError("the nodes share no IPv4 network", "zmq-tcp needs an address that the other node reaches", "")
