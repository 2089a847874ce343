"""TCP on loopback, without Nagle's delay."""

import hmac
import secrets
import socket
import time
from contextlib import suppress

from ipclab.backends.interface import INTO, Backend, Place
from ipclab.backends.stream import SocketChannel
from ipclab.backends.unix import accept
from ipclab.backends.waiting import WAITS, Peer

HOST = "127.0.0.1"
TOKEN_BYTES = 16


class TcpChannel(SocketChannel):
    """A connected TCP socket; whoever connects must first show the launch's token."""

    listening: socket.socket | None = None

    def __init__(self, place: Place, create: bool) -> None:
        """Listen at a free port, if this end does."""
        super().__init__(place, create)
        if create:
            self.listening = socket.create_server((HOST, 0), backlog=8)
            self.address = {"port": self.listening.getsockname()[1], "token": secrets.token_hex(TOKEN_BYTES)}

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Connect and show the token, or take the connection that shows it; a stranger's is closed."""
        token, end = bytes.fromhex(str(self.address["token"])), time.monotonic_ns() + timeout_ns
        if not self.listening:
            sock = socket.create_connection((HOST, int(self.address["port"])), timeout_ns / 1e9)
            sock.sendall(token)
            self._ready(sock)
        while self.listening and self.reading < 0:
            sock = accept(self.listening, max(1, end - time.monotonic_ns()))
            sock.settimeout(max(1, end - time.monotonic_ns()) / 1e9)
            shown = b""
            with suppress(OSError):
                shown = sock.recv(TOKEN_BYTES, socket.MSG_WAITALL)
            if hmac.compare_digest(shown, token):
                self._ready(sock)
            else:
                sock.close()

    def _ready(self, sock: socket.socket) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setblocking(True)
        self.adopt_socket(sock)

    def close(self) -> None:
        """Close the connection and the listener."""
        super().close()
        if self.listening:
            self.listening.close()


backend = Backend("tcp", channel=TcpChannel, waits=WAITS, receives=INTO, limit="echo-tcp", look=("#D55E00", "^"))
