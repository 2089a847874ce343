"""ZeroMQ as a store: messages from one writer to many readers, none of them sent before every reader is connected.

The published program slept for a while instead of waiting for its readers, and lost messages. Here PUSH counts finished
handshakes, PUB counts subscriptions, and no queue has a limit at which PUB would drop or PUSH would favour a reader.
"""

from time import monotonic_ns as clock
from typing import Any, ClassVar, Self

import zmq
from zmq.utils.monitor import recv_monitor_message

from ipclab.backends.ends import StoreEnd
from ipclab.backends.interface import Address, Backend, Data, StorePlace
from ipclab.backends.zmq_end import MS, ZmqEnd

KNOCK_MS = 5  # knocks and subscriptions are awaited in turn


class ZmqStore(ZmqEnd, StoreEnd):
    """One socket at the writer, one at each reader, of the two `kinds`."""

    keeps = False
    kinds: ClassVar[tuple[int, int]]

    def __init__(self, place: StorePlace, create: bool) -> None:
        """Make the socket; the writer binds it and listens for readers that come."""
        super().__init__(place, create)
        self.version, self.kept = 0, b""
        self.open_socket(self.kinds[0] if create else self.kinds[1])
        self.socket.sndhwm = self.socket.rcvhwm = 0
        try:
            self._prepare()
            if create:
                self.address = self.bind(place, place.host)
        except BaseException:
            self.close()
            raise

    @classmethod
    def attach(cls, place: StorePlace, address: Address, timeout_ns: int) -> Self:
        """Connect."""
        store = cls(place, False)
        store.reach(place, address)
        return store

    def _prepare(self) -> None:
        """Begin to note readers, or be one."""

    def _seen(self, left_ms: int) -> bool:
        """Tell whether another reader came within `left_ms`."""
        raise NotImplementedError

    def accept(self, timeout_ns: int) -> None:
        """Wait until every reader is connected."""
        end, count = clock() + timeout_ns, 0
        while count < self.place.readers:
            left = (end - clock()) // MS
            if left <= 0:
                raise TimeoutError(f"{count} of {self.place.readers} readers connected in time")
            if self.door:
                left = min(left, KNOCK_MS)
                self.door.admits(left)
            count += self._seen(left)

    def write(self, data: Data, timeout_ns: int) -> None:
        """Give `data` to the socket, which copies and queues it."""
        self.socket.send(data)

    def read(self, after: int, timeout_ns: int) -> tuple[int, bytes]:
        """Return what was received last when it is above `after`, else a copy of the next message."""
        if self.version <= after:
            if not self.socket.poll(-(-timeout_ns // MS)):
                raise TimeoutError(f"message {self.version + 1} did not come in time")
            self.kept = self.socket.recv(zmq.DONTWAIT)
            self.version += 1
        return self.version, self.kept


class ZmqPubStore(ZmqStore):
    """XPUB and SUB: each message goes to all readers; XPUB is PUB that sees its subscriptions."""

    kinds = zmq.XPUB, zmq.SUB

    def _prepare(self) -> None:
        if self.writer:
            self.socket.setsockopt(zmq.XPUB_VERBOSE, 1)  # else only the first of equal subscriptions is told
        else:
            self.socket.subscribe(b"")

    def _seen(self, left_ms: int) -> bool:
        return bool(self.socket.poll(left_ms)) and self.socket.recv(zmq.DONTWAIT)[:1] == b"\x01"


class ZmqTcpStore(ZmqPubStore):
    """The same over TCP: on loopback, or on the address that `place` names for readers on other nodes."""

    tcp = True


class ZmqPushStore(ZmqStore):
    """PUSH and PULL: each message goes to one reader, in turn."""

    fans_out = False
    kinds = zmq.PUSH, zmq.PULL
    monitor: Any = None

    def _prepare(self) -> None:
        if self.writer:
            self.monitor = self.socket.get_monitor_socket(zmq.Event.HANDSHAKE_SUCCEEDED)

    def accept(self, timeout_ns: int) -> None:
        """Wait until every reader is connected; from then on the socket works without telling."""
        super().accept(timeout_ns)
        self.socket.disable_monitor()

    def _seen(self, left_ms: int) -> bool:
        found = self.monitor.poll(left_ms) and recv_monitor_message(self.monitor)["event"]
        return bool(found == zmq.Event.HANDSHAKE_SUCCEEDED)


push = Backend("zmq-push", store=ZmqPushStore, look=("#E69F00", "o"))
pub = Backend("zmq-pub", store=ZmqPubStore, look=("#D55E00", "v"))
