"""Datagrams of UDP on loopback, with the launch's token and a number: missing ones are counted."""

import hmac
import secrets
import socket
from struct import Struct
from time import monotonic_ns as clock

from ipclab.backends.interface import Backend, Channel, Data, Place, too_long
from ipclab.backends.sockets import HOST, TimedSocket, no_loopback
from ipclab.backends.waiting import Peer, until

TOKEN_BYTES = 8
HEADER = Struct(f"={TOKEN_BYTES}sQ")  # the token and the number
LONGEST = 65_507 - HEADER.size  # udp(7): what a datagram of IPv4 carries
# the number of the datagram by which the ends meet, which may be lost as well
HELLO, AGAIN_NS = 0, 20_000_000


class UdpChannel(Channel):
    """A connected socket at each end: nothing `lost` is sent again, and nobody waits for room."""

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.sock = self.held.enter_context(TimedSocket(socket.AF_INET, socket.SOCK_DGRAM))
        self.sock.bind((HOST, 0))
        self.capacity = min(place.capacity, LONGEST)
        self.view = memoryview(bytearray(HEADER.size + self.capacity))
        self.sent = self.received = self.lost = 0
        if create:
            self.address = {
                "port": self.sock.getsockname()[1],
                "token": secrets.token_hex(TOKEN_BYTES),
            }

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Show the token until it is answered, or answer who shows it; nobody else is heard."""
        self.peer, end = peer, clock() + timeout_ns
        self.token = bytes.fromhex(str(self.address["token"]))
        if self.create:
            _, where = self._datagram(timeout_ns)
            self.sock.connect(where)
            self._hand(HELLO, b"", timeout_ns)
            return
        self.sock.connect((HOST, int(self.address["port"])))
        while True:
            self._hand(HELLO, b"", timeout_ns)
            try:
                self._datagram(min(AGAIN_NS, max(0, end - clock())))
                return
            except TimeoutError:
                if clock() >= end:
                    raise

    def _hand(self, number: int, data: Data, timeout_ns: int) -> None:
        parts = [HEADER.pack(self.token, number), data]
        until(lambda left_ns: self.sock.within(left_ns).sendmsg(parts), timeout_ns, self.peer)

    def _datagram(self, timeout_ns: int) -> tuple[int, tuple[str, int]]:
        """Return size and sender of the next datagram that shows the token; others are dropped."""
        end = clock() + timeout_ns
        while True:
            size, where = until(
                lambda left_ns: self.sock.within(left_ns).recvfrom_into(self.view),
                max(0, end - clock()),
                self.peer,
            )
            if size >= HEADER.size and hmac.compare_digest(self.view[:TOKEN_BYTES], self.token):
                return size, where

    def send(self, data: Data, timeout_ns: int) -> None:
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        self.sent += 1
        self._hand(self.sent, data, timeout_ns)

    def recv(self, timeout_ns: int) -> bytes:
        end, number = clock() + timeout_ns, HELLO
        while number == HELLO:  # once more, since the answer to it came late
            size, _ = self._datagram(max(0, end - clock()))
            _, number = HEADER.unpack_from(self.view)
        self.lost += number - self.received - 1
        self.received = number
        return bytes(self.view[HEADER.size : size])


backend = Backend(
    "udp",
    channel=UdpChannel,
    missing=no_loopback,
    longest=lambda: (LONGEST, "nothing"),
    demands=(),
    limit="udp",
    lossy=True,
    look=("#D55E00", "X"),
    brief=False,
)
