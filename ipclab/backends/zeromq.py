"""ZeroMQ REQ and REP: over a Unix socket in the session's private folder, and over TCP on loopback."""

from dataclasses import replace
from functools import partial
from typing import Any

import zmq

from ipclab.backends.ends import ChannelEnd, too_long
from ipclab.backends.interface import VIEW, Backend, Data, Place
from ipclab.backends.waiting import BLOCK, WAITS, Peer, wait
from ipclab.backends.zmq_end import MS, ZmqEnd
from ipclab.backends.zmq_stores import ZmqTcpStore


class ZmqIpcChannel(ZmqEnd, ChannelEnd):
    """A REP socket at the serving end, a REQ socket at the other, over a Unix socket."""

    def __init__(self, place: Place, create: bool) -> None:
        """Make the socket; the serving end binds it."""
        super().__init__(place, create)
        self.open_socket(zmq.REP if create else zmq.REQ)
        if create:
            self.address = self.bind(place, "127.0.0.1")

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Begin to connect; the serving end's door waits for the one that knows the secret and lets nobody else in."""
        self.peer = peer
        if not self.create:
            self.reach(self.place, self.address)
        elif self.door:
            admits = self.door.admits
            wait(BLOCK, lambda: False, lambda left_ns: admits(-(-left_ns // MS)), timeout_ns, peer)

    def _await(self, event: int, timeout_ns: int) -> None:
        sock = self.socket
        block = partial(self._block, event)
        wait(self.strategy, lambda: int(sock.getsockopt(zmq.EVENTS)) & event, block, timeout_ns, self.peer)

    def _block(self, event: int, left_ns: int) -> int:
        return self.socket.poll(-(-left_ns // MS), event)

    def send(self, data: Data, timeout_ns: int) -> None:
        """Give `data` to the socket, which copies it."""
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
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


class ZmqTcpChannel(ZmqIpcChannel):
    """The same over TCP on loopback."""

    tcp = True


ipc = Backend("zmq-ipc", channel=ZmqIpcChannel, waits=WAITS, receives=VIEW, limit="echo-unix", look=("#E69F00", "s"))
tcp = replace(ipc, name="zmq-tcp", channel=ZmqTcpChannel, store=ZmqTcpStore, limit="echo-tcp", look=("#E69F00", "^"))
