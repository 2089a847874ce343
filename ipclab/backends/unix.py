"""A Unix stream socket in the session's private folder."""

import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import Self

from ipclab.backends.interface import Address, Backend, Place
from ipclab.backends.stream import RECEIVES, WAITS, SocketChannel
from ipclab.backends.waiting import Peer
from ipclab.errors import LabError

LONGEST_PATH = 107  # unix(7): sun_path without its terminator


def socket_path(place: Place) -> Path:
    """Return the launch's socket; raises `LabError` when the kernel would not take its path."""
    path = place.path("socket")
    if len(os.fsencode(path)) > LONGEST_PATH:
        raise LabError(
            f"{path} is too long for a socket", f"{LONGEST_PATH} bytes at most", "set TMPDIR to a shorter one"
        )
    return path


def listener(path: Path) -> socket.socket:
    """Return a socket that listens at `path`, which only its owner may use."""
    sock = socket.socket(socket.AF_UNIX)
    try:
        sock.bind(str(path))
        path.chmod(0o600)
        sock.listen(1)
    except OSError:
        sock.close()
        raise
    return sock


def accept(listening: socket.socket, timeout_ns: int) -> socket.socket:
    """Return the first connection, in blocking mode; raises `TimeoutError` when there is none in time."""
    listening.settimeout(timeout_ns / 1e9)
    sock, _ = listening.accept()
    sock.setblocking(True)
    return sock


def connect(path: Path, timeout_ns: int) -> socket.socket:
    """Return a connection to `path`, in blocking mode."""
    sock = socket.socket(socket.AF_UNIX)
    try:
        sock.settimeout(timeout_ns / 1e9)
        sock.connect(str(path))
        sock.setblocking(True)
    except OSError:
        sock.close()
        raise
    return sock


class UnixChannel(SocketChannel):
    """A connected Unix stream socket."""

    listening: socket.socket | None = None

    @classmethod
    def listen(cls, place: Place) -> Self:
        """Listen at the launch's path."""
        channel = cls(place)
        channel.path = socket_path(place)
        channel.listening = listener(channel.path)
        return channel

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Take the connection."""
        if self.listening:
            self.adopt_socket(accept(self.listening, timeout_ns))

    @classmethod
    def connect(cls, place: Place, address: Address, peer: Peer, timeout_ns: int) -> Self:
        """Connect to the launch's path."""
        channel = cls(place)
        channel.adopt_socket(connect(socket_path(place), timeout_ns))
        return channel

    def close(self) -> None:
        """Close the connection, and the listener with its path."""
        super().close()
        if self.listening:
            self.listening.close()
            self.listening = None
            with suppress(FileNotFoundError):
                self.path.unlink()

    path: Path


backend = Backend("unix", channel=UnixChannel, waits=WAITS, receives=RECEIVES, limit="echo-unix", look=("#CC79A7", "D"))
