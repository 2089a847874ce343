"""ZeroMQ REQ and REP: over a Unix socket in the session's private folder, and over TCP on loopback.

Each end has a context of its own with one I/O thread, as the published program had; it runs where
the process may.
"""

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Self

import zmq

from ipclab.backends.interface import Address, Backend, Data, Place
from ipclab.backends.unix import socket_path
from ipclab.backends.waiting import BLOCK, SPIN, SPIN_THEN_BLOCK, Peer, wait
from ipclab.backends.zmq_door import Door, knock
from ipclab.backends.zmq_stores import ZmqTcpStore


class ZmqChannel:
    """A REP socket at the serving end, a REQ socket at the other."""

    def __init__(self, place: Place, kind: int) -> None:
        """Make a socket of `kind` in a context of its own."""
        self.address: Address = {}
        self.capacity, self.strategy = place.capacity, place.wait
        self.peer: Peer | None = None
        self.context = zmq.Context()
        self.socket: zmq.Socket[bytes] = self.context.socket(kind)
        self.socket.linger = 0

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Note whose end to look at while waiting: ZeroMQ does not tell that a peer is gone."""
        self.peer = peer

    @classmethod
    def reaching(cls, place: Place, endpoint: str, peer: Peer, address: Address | None = None) -> Self:
        """Return a REQ socket that is about to be connected to `endpoint`, with the secret of `address` if given."""
        channel = cls(place, zmq.REQ)
        channel.peer = peer
        if address:
            knock(channel.socket, address)
        channel.socket.connect(endpoint)
        return channel

    def _await(self, event: int, timeout_ns: int) -> None:
        sock = self.socket
        block = partial(self._block, event)
        wait(self.strategy, lambda: int(sock.getsockopt(zmq.EVENTS)) & event, block, timeout_ns, self.peer)

    def _block(self, event: int, left_ns: int) -> int:
        return self.socket.poll(-(-left_ns // 1_000_000), event)

    def send(self, data: Data, timeout_ns: int) -> None:
        """Give `data` to the socket, which copies it."""
        if len(data) > self.capacity:
            raise ValueError(f"{len(data)} bytes are above the capacity of {self.capacity}")
        try:
            self.socket.send(data, zmq.DONTWAIT)
        except zmq.Again:
            self._await(zmq.POLLOUT, timeout_ns)
            self.socket.send(data, zmq.DONTWAIT)

    def recv(self, timeout_ns: int) -> bytes:
        """Return a copy of the next message."""
        self._await(zmq.POLLIN, timeout_ns)
        return self.socket.recv(zmq.DONTWAIT)

    def recv_view(self, timeout_ns: int) -> memoryview:
        """Return the next message in ZeroMQ's own memory."""
        self._await(zmq.POLLIN, timeout_ns)
        frame: Any = self.socket.recv(zmq.DONTWAIT, copy=False)
        view: memoryview = frame.buffer
        return view

    def close(self) -> None:
        """Close the socket and end its context; what was not delivered is dropped."""
        self.context.destroy(linger=0)


class ZmqIpcChannel(ZmqChannel):
    """Over a Unix socket."""

    bound: Path | None = None

    @classmethod
    def listen(cls, place: Place) -> Self:
        """Bind to the launch's path, which only its owner may use."""
        channel = cls(place, zmq.REP)
        channel.bound = socket_path(place)
        channel.socket.bind(f"ipc://{channel.bound}")
        channel.bound.chmod(0o600)
        return channel

    @classmethod
    def connect(cls, place: Place, address: Address, peer: Peer, timeout_ns: int) -> Self:
        """Connect to the launch's path."""
        return cls.reaching(place, f"ipc://{socket_path(place)}", peer)

    def close(self) -> None:
        """Close the socket and remove its path."""
        super().close()
        if self.bound:
            with suppress(FileNotFoundError):
                self.bound.unlink()


class ZmqTcpChannel(ZmqChannel):
    """Over TCP on loopback; whoever connects must first show the launch's secret."""

    door: Door

    @classmethod
    def listen(cls, place: Place) -> Self:
        """Bind to a free port."""
        channel = cls(place, zmq.REP)
        channel.door = Door(channel.context, channel.socket)
        port = channel.socket.bind_to_random_port("tcp://127.0.0.1")
        channel.address = {"port": port, "secret": channel.door.secret}
        return channel

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Wait for the one that knows the secret, and let nobody in after it."""
        super().accept(peer, timeout_ns)
        wait(BLOCK, lambda: False, lambda left_ns: self.door.admits(-(-left_ns // 1_000_000)), timeout_ns, peer)

    @classmethod
    def connect(cls, place: Place, address: Address, peer: Peer, timeout_ns: int) -> Self:
        """Connect to the published port."""
        return cls.reaching(place, f"tcp://127.0.0.1:{address['port']}", peer, address)


WAITS = (BLOCK, SPIN_THEN_BLOCK, SPIN)
ipc = Backend(
    "zmq-ipc", channel=ZmqIpcChannel, waits=WAITS, receives=("bytes", "view"), limit="echo-unix", look=("#E69F00", "s")
)
tcp = Backend(
    "zmq-tcp",
    channel=ZmqTcpChannel,
    store=ZmqTcpStore,
    waits=WAITS,
    receives=("bytes", "view"),
    limit="echo-tcp",
    look=("#E69F00", "^"),
)
