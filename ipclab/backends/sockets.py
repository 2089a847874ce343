"""Stream sockets: a Unix socket in the session's private folder, and TCP on loopback without Nagle's delay."""

import hmac
import os
import secrets
import select
import socket
import struct
import time
from contextlib import ExitStack, suppress
from pathlib import Path

from ipclab.backends.interface import INTO, Backend, Data, Place
from ipclab.backends.stream import StreamChannel
from ipclab.backends.waiting import BLOCK, WAITS, Peer
from ipclab.errors import LabError

LONGEST_PATH = 107  # unix(7): sun_path without its terminator
HOST = "127.0.0.1"
TOKEN_BYTES = 16


def socket_path(place: Place, tag: str = "socket") -> Path:
    """Return the launch's socket; raises `LabError` when the kernel would not take its path."""
    path = place.path(tag)
    if len(os.fsencode(path)) > LONGEST_PATH:
        limit, fix = f"{LONGEST_PATH} bytes at most", "set TMPDIR to a shorter one"
        raise LabError(f"{path} is too long for a socket", limit, fix)
    return path


class UnixSocket:
    """The launch's socket, which only its owner may use: one end listens there, the other one connects."""

    def __init__(self, place: Place, create: bool, held: ExitStack, kind: int = socket.SOCK_STREAM) -> None:
        self.path, self.create = socket_path(place), create
        self.sock = held.enter_context(socket.socket(socket.AF_UNIX, kind))
        if create:
            self.sock.bind(str(self.path))
            held.callback(self.path.unlink, missing_ok=True)
            self.path.chmod(0o600)
            self.sock.listen(1)

    def join(self, timeout_ns: int) -> int:
        """Return the descriptor of the connection to the other end, in blocking mode, which the caller closes."""
        self.sock.settimeout(timeout_ns / 1e9)
        if self.create:
            sock, _ = self.sock.accept()
        else:
            sock = self.sock
            sock.connect(str(self.path))
        sock.setblocking(True)
        return sock.detach()


class Deadline:
    """Has the kernel end every read and write of a blocking socket after so many ns (socket(7), SO_RCVTIMEO)."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor, self.set_ns = descriptor, -1

    def __call__(self, timeout_ns: int) -> None:
        if timeout_ns == self.set_ns:
            return
        self.set_ns = timeout_ns
        seconds, micros = divmod(max(1, timeout_ns // 1000), 1_000_000)
        sock = socket.socket(fileno=self.descriptor)
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            sock.setsockopt(socket.SOL_SOCKET, option, struct.pack("@ll", seconds, micros))
        sock.detach()


class _SocketChannel(StreamChannel):
    """A channel over a connected stream socket; one that blocks leaves its deadline to the kernel, in the same call."""

    def adopt_socket(self, descriptor: int) -> None:
        self.limit = Deadline(descriptor)
        self.held.callback(os.close, descriptor)
        self.adopt(descriptor, descriptor)
        os.set_blocking(descriptor, self.strategy == BLOCK)

    def send(self, data: Data, timeout_ns: int) -> None:
        self.limit(timeout_ns)
        super().send(data, timeout_ns)

    def _await(self, poller: select.poll, strategy: str, timeout_ns: int) -> None:
        if self.strategy != BLOCK:
            super()._await(poller, strategy, timeout_ns)
        elif poller is self.writable:
            raise TimeoutError("there was no room in time")
        else:
            self.limit(timeout_ns)


class _UnixChannel(_SocketChannel):
    """A connected Unix stream socket."""

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.meeting = UnixSocket(place, create, self.held)

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        self.adopt_socket(self.meeting.join(timeout_ns))


class _TcpChannel(_SocketChannel):
    """A connected TCP socket; whoever connects must first show the launch's token."""

    listening: socket.socket | None = None

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        if create:
            self.listening = self.held.enter_context(socket.create_server((HOST, 0), backlog=8))
            self.address = {"port": self.listening.getsockname()[1], "token": secrets.token_hex(TOKEN_BYTES)}

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Connect and show the token, or take the connection that shows it; a stranger's is closed."""
        token, end = bytes.fromhex(str(self.address["token"])), time.monotonic_ns() + timeout_ns
        if not self.listening:
            sock = socket.create_connection((HOST, int(self.address["port"])), timeout_ns / 1e9)
            sock.sendall(token)
            self._ready(sock)
        while self.listening and self.reading < 0:
            self.listening.settimeout(max(1, end - time.monotonic_ns()) / 1e9)
            sock, _ = self.listening.accept()
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
        self.adopt_socket(sock.detach())


unix = Backend("unix", channel=_UnixChannel, waits=WAITS, receives=INTO, limit="echo-unix", look=("#CC79A7", "D"))
tcp = Backend(
    "tcp", channel=_TcpChannel, waits=WAITS, receives=INTO, limit="echo-tcp", demands=(), look=("#D55E00", "^")
)
