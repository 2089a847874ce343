"""Sockets: Unix ones in the session's private folder, streams and packets, and TCP on loopback."""

import hmac
import os
import secrets
import select
import socket
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import ClassVar, Self

from ipclab.backends.interface import INTO, Backend, Channel, Data, Place
from ipclab.backends.stream import StreamChannel
from ipclab.backends.waiting import BLOCK, WAITS, Peer, closed, until
from ipclab.errors import LabError

LONGEST_PATH = 107  # unix(7): sun_path without its terminator
LONGEST_NOTE, MOST_DESCRIPTORS = 64, 8
HOST = "127.0.0.1"
TOKEN_BYTES = 16
MOST_WAITING = 64  # connections that may still show the token; then the oldest goes


def socket_path(place: Place, tag: str = "socket") -> Path:
    """Return the launch's socket; raises `LabError` when the kernel would not take its path."""
    path = place.path(tag)
    if len(os.fsencode(path)) > LONGEST_PATH:
        limit, fix = f"{LONGEST_PATH} bytes at most", "set TMPDIR to a shorter one"
        raise LabError(f"{path} is too long for a socket", limit, fix)
    return path


def admitted(listening: socket.socket, token: bytes, timeout_ns: int) -> socket.socket:
    """Return the first connection to `listening` that shows `token`; all others are closed.

    All that have connected are heard at once: who is silent, or slow, keeps nobody waiting. Raises
    `TimeoutError` when none has shown it in time.
    """
    end, shown = time.monotonic_ns() + timeout_ns, dict[socket.socket, bytes]()
    listening.setblocking(False)
    try:
        while (left_ns := end - time.monotonic_ns()) > 0:
            for sock in select.select([listening, *shown], [], [], left_ns / 1e9)[0]:
                if sock is listening:
                    with suppress(OSError):  # who has gone again
                        shown[sock.accept()[0]] = b""
                    continue
                said = _heard(sock, len(token) - len(shown[sock]))
                shown[sock] += said
                if hmac.compare_digest(shown[sock], token):
                    del shown[sock]
                    return sock
                # A wrong beginning is heard to its end: who shows part of it learns nothing.
                if not said or len(shown[sock]) == len(token):
                    _dismiss([sock], shown)
            _dismiss([*shown][:-MOST_WAITING], shown)
    finally:
        _dismiss([*shown], shown)
    raise TimeoutError("the other end did not come in time")


def _heard(sock: socket.socket, most: int) -> bytes:
    with suppress(OSError):
        return sock.recv(most)
    return b""


def _dismiss(strangers: Sequence[socket.socket], shown: dict[socket.socket, bytes]) -> None:
    for sock in strangers:
        del shown[sock]
        sock.close()


def no_loopback() -> str | None:
    """Return why nobody here can reach `HOST`, with the fix; None where it is there."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        try:
            sock.connect((HOST, 9))  # which sends nothing
        except OSError as error:
            return f"there is no loopback ({error.strerror}): ip link set lo up"
    return None


class TimedSocket(socket.socket):
    """A blocking socket whose reads and writes the kernel ends in time (socket(7), SO_RCVTIMEO)."""

    set_ns = -1

    def within(self, timeout_ns: int) -> Self:
        """Return the socket, whose reads and writes end after `timeout_ns` from now on."""
        if timeout_ns != self.set_ns:
            self.set_ns = timeout_ns
            limit = struct.pack("@ll", *divmod(max(1, timeout_ns // 1000), 1_000_000))
            self.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, limit)
            self.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, limit)
        return self


class UnixEnd(Channel):
    """An end at the launch's socket, which only its owner may use: one listens, one connects."""

    kind: ClassVar = socket.SOCK_STREAM

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.path = socket_path(place)
        self.meeting = self.held.enter_context(socket.socket(socket.AF_UNIX, self.kind))
        if create:
            self.meeting.bind(str(self.path))
            self.guard(self.path)
            self.meeting.listen(1)

    def join(self, timeout_ns: int) -> TimedSocket:
        """Return the connection to the other end, in blocking mode, which the caller closes."""
        sock = self.meeting
        sock.settimeout(timeout_ns / 1e9)
        if self.create:
            sock, _ = sock.accept()
        else:
            sock.connect(str(self.path))
        sock.setblocking(True)
        return TimedSocket(fileno=sock.detach())


class NotesEnd(UnixEnd):
    """An end that passes short notes and descriptors; the connection's end tells of the peer's."""

    kind = socket.SOCK_SEQPACKET

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        self.notes = self.held.enter_context(self.join(timeout_ns))

    def send_note(self, note: bytes, timeout_ns: int, descriptors: Sequence[int] = ()) -> None:
        """Send `note`, which is not empty, with `descriptors`, which stay open here."""

        def give(left_ns: int) -> int:
            return socket.send_fds(self.notes.within(left_ns), [note], [*descriptors])

        until(give, timeout_ns)

    def next_note(self, timeout_ns: int) -> tuple[bytes, list[int]]:
        """Return the next note and the descriptors that came with it, which the caller closes."""

        def take(left_ns: int) -> tuple[bytes, list[int]]:
            sock, flags = self.notes.within(left_ns), socket.MSG_CMSG_CLOEXEC
            return socket.recv_fds(sock, LONGEST_NOTE, MOST_DESCRIPTORS, flags)[:2]

        note, descriptors = until(take, timeout_ns)
        if not note:
            raise closed()
        return note, descriptors


class _SocketChannel(StreamChannel):
    """A channel over a connected stream socket.

    One that blocks leaves its deadline to the kernel, in the same call.
    """

    def adopt_socket(self, sock: TimedSocket) -> None:
        self.sock = self.held.enter_context(sock)
        self.adopt(sock.fileno(), sock.fileno())
        sock.setblocking(self.strategy == BLOCK)

    def send(self, data: Data, timeout_ns: int) -> None:
        self.sock.within(timeout_ns)
        super().send(data, timeout_ns)

    def _await(self, poller: select.poll, strategy: str, timeout_ns: int) -> None:
        if self.strategy != BLOCK:
            super()._await(poller, strategy, timeout_ns)
        elif poller is self.writable:
            raise TimeoutError("there was no room in time")
        else:
            self.sock.within(timeout_ns)


class _UnixChannel(UnixEnd, _SocketChannel):
    """A connected Unix stream socket."""

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        self.adopt_socket(self.join(timeout_ns))


class _TcpChannel(_SocketChannel):
    """A TCP socket without Nagle's delay; whoever connects must first show the launch's token."""

    listening: socket.socket | None = None

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        if create:
            self.listening = self.held.enter_context(
                socket.create_server((HOST, 0), backlog=MOST_WAITING)
            )
            self.address = {
                "port": self.listening.getsockname()[1],
                "token": secrets.token_hex(TOKEN_BYTES),
            }

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Connect and show the token, or take the connection that shows it; close others."""
        token = bytes.fromhex(str(self.address["token"]))
        if self.listening:
            sock = admitted(self.listening, token, timeout_ns)
        else:
            sock = socket.create_connection((HOST, int(self.address["port"])), timeout_ns / 1e9)
            sock.sendall(token)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.adopt_socket(TimedSocket(fileno=sock.detach()))


unix = Backend(
    "unix", channel=_UnixChannel, waits=WAITS, receives=INTO, limit="unix", look=("#CC79A7", "D")
)
tcp = replace(
    unix,
    name="tcp",
    channel=_TcpChannel,
    missing=no_loopback,
    limit="tcp",
    demands=(),
    look=("#D55E00", "^"),
)
