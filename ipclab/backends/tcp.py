"""TCP on loopback, without Nagle's delay."""

import hmac
import secrets
import socket
import time
from contextlib import suppress
from typing import Self

from ipclab.backends.interface import Address, Backend, Place
from ipclab.backends.stream import RECEIVES, WAITS, SocketChannel
from ipclab.backends.unix import accept
from ipclab.backends.waiting import Peer

HOST = "127.0.0.1"
TOKEN_BYTES = 16


class TcpChannel(SocketChannel):
    """A connected TCP socket; whoever connects must first show the launch's token."""

    listening: socket.socket | None = None

    @classmethod
    def listen(cls, place: Place) -> Self:
        """Listen at a free port."""
        channel = cls(place)
        channel.listening = socket.create_server((HOST, 0), backlog=8)
        channel.address = {"port": channel.listening.getsockname()[1], "token": secrets.token_hex(TOKEN_BYTES)}
        return channel

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Take the connection that shows the token; a stranger's is closed."""
        end = time.monotonic_ns() + timeout_ns
        while self.listening and self.reading < 0:
            sock = accept(self.listening, max(1, end - time.monotonic_ns()))
            sock.settimeout(max(1, end - time.monotonic_ns()) / 1e9)
            shown = b""
            with suppress(OSError):
                shown = sock.recv(TOKEN_BYTES, socket.MSG_WAITALL)
            if hmac.compare_digest(shown, bytes.fromhex(str(self.address["token"]))):
                self._ready(sock)
            else:
                sock.close()

    @classmethod
    def connect(cls, place: Place, address: Address, peer: Peer, timeout_ns: int) -> Self:
        """Connect to the published port."""
        channel = cls(place)
        sock = socket.create_connection((HOST, int(address["port"])), timeout_ns / 1e9)
        sock.sendall(bytes.fromhex(str(address["token"])))
        channel._ready(sock)
        return channel

    def _ready(self, sock: socket.socket) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setblocking(True)
        self.adopt_socket(sock)

    def close(self) -> None:
        """Close the connection and the listener."""
        super().close()
        if self.listening:
            self.listening.close()
            self.listening = None


backend = Backend("tcp", channel=TcpChannel, waits=WAITS, receives=RECEIVES, limit="echo-tcp", look=("#D55E00", "^"))
