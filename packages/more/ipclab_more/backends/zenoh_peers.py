"""Zenoh: a peer at each end that publishes and subscribes, over a private Unix socket.

Peers look for nobody: multicast and gossip are off. What is put waits for room instead of being
dropped.
"""

import json
import queue
from typing import Any

from ipclab.backends.interface import Backend, Channel, Data, Place, too_long
from ipclab.backends.library import Library
from ipclab.backends.sockets import socket_path
from ipclab.backends.waiting import Peer, there, until

zenoh = Library("eclipse-zenoh", "zenoh")


class _ZenohChannel(Channel):
    """A session at each end.

    A publisher one way, a subscriber the other, whose messages come through a queue.
    """

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.path = socket_path(place)
        self.session = zenoh.open(self._config(create))
        if create:
            for path in (self.path, self.path.with_name(f"{self.path.name}.lock")):
                self.guard(path)
        self.held.callback(self.session.close)
        self.inbox: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.subscriber = self.session.declare_subscriber(self.tag_in, self.inbox.put)
        waits = {"congestion_control": zenoh.CongestionControl.BLOCK, "express": True}
        self.publisher = self.session.declare_publisher(self.tag_out, **waits)

    def _config(self, create: bool) -> Any:
        config, here = zenoh.Config(), f"unixsock-stream/{self.path}"
        config.insert_json5("mode", '"peer"')
        # Shared memory is off since what a killed end leaves of it has no name of ours.
        for off in ("scouting/multicast", "scouting/gossip", "transport/shared_memory"):
            config.insert_json5(f"{off}/enabled", "false")
        for way, ours in (("listen", create), ("connect", not create)):
            config.insert_json5(f"{way}/endpoints", json.dumps([here] if ours else []))
        return config

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Wait until the other end's subscriber is known: what is put before, it would not get."""
        self.peer = peer
        there(lambda: self.publisher.matching_status.matching, timeout_ns, peer)

    def send(self, data: Data, timeout_ns: int) -> None:
        """Put `data`; Zenoh's own wait for room has no deadline."""
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        self.publisher.put(bytes(data))

    def recv(self, timeout_ns: int) -> bytes:
        get = self.inbox.get
        sample = until(lambda left_ns: get(True, left_ns / 1e9), timeout_ns, self.peer, queue.Empty)
        return bytes(sample.payload.to_bytes())


backend = Backend(
    "zenoh",
    channel=_ZenohChannel,
    missing=zenoh.missing,
    limit="unix",
    gathers=True,
    look=("#56B4E9", "P"),
)
