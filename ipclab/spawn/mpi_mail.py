"""Messages between the ranks of one MPI world: bytes, never pickles, and never waited for by spinning."""

import fcntl
import json
import socket
import struct
import time
from array import array
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from ipclab.errors import LabError
from ipclab.spawn.mpi_worker import Command
from ipclab.spawn.wire import pack

HELLO, COMMAND, RESULT, CANCEL = 11, 12, 13, 14
SLEEP_SECONDS = 0.002
SIOCGIFADDR, SIOCGIFNETMASK = 0x8915, 0x891B  # netdevice(7)
Message = tuple[dict[str, Any], dict[str, "array[int]"]]


def unpack(data: bytes) -> Message:
    """Return what `pack` packed."""
    line, _, rest = data.partition(b"\n")
    message, arrays, start = json.loads(line), {}, 0
    for name, size in message.pop("arrays").items():
        arrays[name] = array("q", rest[start : start + size])
        start += size
    return message, arrays


class Mail:
    """Packed messages between ranks, none of them waited for by spinning."""

    def __init__(self, comm: Any) -> None:
        """Use a communicator of our own."""
        from mpi4py import MPI

        self.mpi, self.comm = MPI, comm
        self.sent: list[tuple[Any, bytes]] = []

    def send(self, rank: int, tag: int, message: dict[str, Any], arrays: "dict[str, array[int]] | None" = None) -> None:
        """Begin to send; the message is kept until it has left."""
        self.sent = [(request, data) for request, data in self.sent if not request.Test()]
        data = pack(message, arrays)
        self.sent.append((self.comm.Isend([data, self.mpi.BYTE], dest=rank, tag=tag), data))

    def flush(self, seconds: float) -> None:
        """Wait until all has left, or `seconds` have passed."""
        end = time.monotonic() + seconds
        while self.sent and time.monotonic() < end:
            self.sent = [(request, data) for request, data in self.sent if not request.Test()]
            time.sleep(SLEEP_SECONDS)

    def take(self, rank: int, tag: int) -> Message | None:
        """Return a message that has come from `rank`, or None."""
        status = self.mpi.Status()
        if not self.comm.Iprobe(rank, tag, status):
            return None
        data = bytearray(status.Get_count(self.mpi.BYTE))
        self.comm.Recv([data, self.mpi.BYTE], source=rank, tag=tag)
        return unpack(bytes(data))


def addresses() -> list[tuple[int, int]]:
    """Return address and netmask, as numbers, of every IPv4 interface but loopback."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode()[:15])
            with suppress(OSError):
                both = [fcntl.ioctl(sock, code, request)[20:24] for code in (SIOCGIFADDR, SIOCGIFNETMASK)]
                address, mask = (int.from_bytes(part, "big") for part in both)
                if address >> 24 != 127:  # noqa: PLR2004  loopback
                    found.append((address, mask))
    return found


def reachable(mine: Sequence[Sequence[int]], theirs: Sequence[Sequence[int]]) -> str:
    """Return that of our addresses which lies in a network of theirs; raises `LabError` when none does."""
    for address, mask in mine:
        if any(address & mask == other & mask for other, _ in theirs):
            return socket.inet_ntoa(address.to_bytes(4, "big"))
    raise LabError("the nodes share no IPv4 network", "zmq-tcp needs an address that the other node reaches", "")


class MailLink:
    """A serving rank's way to rank 0."""

    def __init__(self, mail: Mail) -> None:
        """Answer over `mail`."""
        self.mail = mail

    def next(self) -> Command | None:
        """Return the next command."""
        while (message := self.mail.take(0, COMMAND)) is None:
            time.sleep(SLEEP_SECONDS)
        while self.mail.take(0, CANCEL):  # what was said of an earlier launch
            pass
        return message[0].get("command")

    def tell(self, message: dict[str, Any], samples: "dict[str, array[int]]") -> None:
        """Tell it."""
        self.mail.send(0, RESULT, message, samples)

    def cancelled(self) -> bool:
        """Tell whether rank 0 gave the launch up."""
        return bool(self.mail.comm.Iprobe(0, CANCEL))
