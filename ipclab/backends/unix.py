"""A Unix stream socket in the session's private folder."""

import os
import socket
from pathlib import Path

from ipclab.backends.interface import INTO, Backend, Place
from ipclab.backends.stream import SocketChannel
from ipclab.backends.waiting import WAITS, Peer
from ipclab.errors import LabError

LONGEST_PATH = 107  # unix(7): sun_path without its terminator


def socket_path(place: Place) -> Path:
    """Return the launch's socket; raises `LabError` when the kernel would not take its path."""
    path = place.path("socket")
    if len(os.fsencode(path)) > LONGEST_PATH:
        limit, fix = f"{LONGEST_PATH} bytes at most", "set TMPDIR to a shorter one"
        raise LabError(f"{path} is too long for a socket", limit, fix)
    return path


def accept(listening: socket.socket, timeout_ns: int) -> socket.socket:
    """Return the first connection, in blocking mode; raises `TimeoutError` when there is none in time."""
    listening.settimeout(timeout_ns / 1e9)
    sock, _ = listening.accept()
    sock.setblocking(True)
    return sock


class UnixSocket:
    """The launch's socket, which only its owner may use: one end listens there, the other one connects."""

    def __init__(self, place: Place, create: bool) -> None:
        """Listen, if this end does."""
        self.path = socket_path(place)
        self.listening = socket.socket(socket.AF_UNIX) if create else None
        if self.listening:
            try:
                self.listening.bind(str(self.path))
                self.path.chmod(0o600)
                self.listening.listen(1)
            except OSError:
                self.listening.close()
                raise

    def join(self, timeout_ns: int) -> socket.socket:
        """Return the connection to the other end, in blocking mode."""
        if self.listening:
            return accept(self.listening, timeout_ns)
        sock = socket.socket(socket.AF_UNIX)
        try:
            sock.settimeout(timeout_ns / 1e9)
            sock.connect(str(self.path))
            sock.setblocking(True)
        except OSError:
            sock.close()
            raise
        return sock

    def close(self) -> None:
        """Close the listener and remove its path."""
        if self.listening:
            self.listening.close()
            self.listening = None
            self.path.unlink(missing_ok=True)


class UnixChannel(SocketChannel):
    """A connected Unix stream socket."""

    def __init__(self, place: Place, create: bool) -> None:
        """Listen at the launch's path, or find it."""
        super().__init__(place, create)
        self.meeting = UnixSocket(place, create)

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Take the connection."""
        self.adopt_socket(self.meeting.join(timeout_ns))

    def close(self) -> None:
        """Close the connection, and the listener with its path."""
        super().close()
        self.meeting.close()


backend = Backend("unix", channel=UnixChannel, waits=WAITS, receives=INTO, limit="echo-unix", look=("#CC79A7", "D"))
