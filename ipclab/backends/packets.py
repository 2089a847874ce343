"""Unix sockets of whole messages: sequenced packets and datagrams."""

import errno
import socket
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from ipclab.backends.interface import Backend, Channel, Data, Place, too_long
from ipclab.backends.sockets import TimedSocket, UnixEnd, socket_path
from ipclab.backends.waiting import Peer, closed, there, until

LIMIT = Path("/proc/sys/net/core/wmem_max")
USUAL_LIMIT = 212_992  # bytes, net.core.wmem_max as Linux ships it
# the most that the kernel takes in one piece (KMALLOC_MAX_SIZE), as a packet's first part is
ALLOCATED = 4_193_984
LEAD = b"\0"
# a packet has 32 bytes less than its socket's buffer (unix_dgram_sendmsg), and our own
OVERHEAD = 33


def _longest() -> tuple[int, str]:
    try:
        allowed = int(LIMIT.read_text())
    except (OSError, ValueError):  # a container may hide it; the usual setting then stands for it
        allowed = USUAL_LIMIT
    most = 2 * allowed - OVERHEAD  # socket(7): the buffer is twice what is asked for
    return (ALLOCATED, "nothing") if most > ALLOCATED else (most, "sysctl net.core.wmem_max")


class _PacketChannel(Channel):
    """A socket of whole messages that blocks, with its deadline left to the kernel.

    A byte goes before each message, since the end of a connection is received as a message of no
    bytes.
    """

    def adopt(self, sock: TimedSocket) -> None:
        """Use `sock`; its buffer is made as large as a message where the usual one is smaller."""
        sock.setblocking(True)
        need = len(LEAD) + self.capacity + OVERHEAD
        if need > sock.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, need // 2 + 1)
        self.view = memoryview(bytearray(len(LEAD) + self.capacity))
        self.sock = sock

    def send(self, data: Data, timeout_ns: int) -> None:
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        try:
            until(
                lambda left_ns: self.sock.within(left_ns).sendmsg([LEAD, data]),
                timeout_ns,
                self.peer,
            )
        except OSError as error:
            if error.errno == errno.EMSGSIZE:
                raise too_long(len(data), _longest()[0]) from error
            raise

    def recv(self, timeout_ns: int) -> bytes:
        view = self.view
        size = until(
            lambda left_ns: self.sock.within(left_ns).recv_into(view), timeout_ns, self.peer
        )
        if not size:
            raise closed()
        return bytes(view[len(LEAD) : size])


class _SequencedChannel(UnixEnd, _PacketChannel):
    """A connection of sequenced packets."""

    kind = socket.SOCK_SEQPACKET

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Take the connection; its end tells that the peer is gone."""
        self.adopt(self.held.enter_context(self.join(timeout_ns)))


class _DatagramChannel(_PacketChannel):
    """Two sockets, each with its own path and connected to the other: they hear nobody else."""

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        mine = socket_path(place, self.tag_in)
        self.bound = self.held.enter_context(TimedSocket(socket.AF_UNIX, socket.SOCK_DGRAM))
        self.bound.bind(str(mine))
        self.guard(mine)

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Connect to the other's path as soon as it is there."""
        self.peer = peer
        there(self._connected, timeout_ns, peer)
        self.adopt(self.bound)

    def _connected(self) -> bool:
        with suppress(FileNotFoundError, ConnectionRefusedError):
            self.bound.connect(str(socket_path(self.place, self.tag_out)))
            return True
        return False


sequenced = Backend(
    "unix-seqpacket",
    channel=_SequencedChannel,
    longest=_longest,
    limit="packet",
    look=("#CC79A7", "s"),
)
datagram = replace(sequenced, name="unix-dgram", channel=_DatagramChannel, look=("#CC79A7", "X"))
