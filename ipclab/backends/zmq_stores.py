"""ZeroMQ as a store: messages from one writer to many readers, none of them sent before every reader is connected.

The published program slept for a while instead of waiting for its readers, and lost messages. Here PUSH counts finished
handshakes, PUB counts subscriptions, and no queue has a limit at which PUB would drop or PUSH would favour a reader.
"""

from contextlib import suppress
from pathlib import Path
from time import monotonic_ns as clock
from typing import Any, ClassVar, Self

import zmq
from zmq.utils.monitor import recv_monitor_message

from ipclab.backends.interface import Address, Backend, Data, StorePlace
from ipclab.backends.unix import LONGEST_PATH
from ipclab.backends.zmq_door import Door, knock
from ipclab.errors import LabError

MS = 1_000_000
KNOCK_MS = 5  # knocks and subscriptions are awaited in turn


class ZmqStore:
    """One socket at the writer, one at each reader, each in a context of its own."""

    keeps: ClassVar[bool] = False
    fans_out: ClassVar[bool]
    writing: ClassVar[int]
    reading: ClassVar[int]

    def __init__(self, place: StorePlace, kind: int) -> None:
        """Make a socket of `kind`."""
        self.address: Address = {}
        self.readers = place.readers
        self.version, self.kept = 0, b""
        self.bound: Path | None = None
        self.context = zmq.Context()
        self.socket: zmq.Socket[bytes] = self.context.socket(kind)
        self.socket.linger = 0
        self.socket.sndhwm = self.socket.rcvhwm = 0

    @classmethod
    def create(cls, place: StorePlace) -> Self:
        """Bind, and listen for readers that come."""
        store = cls(place, cls.writing)
        try:
            store.watch()
            store.bind(place)
        except BaseException:
            store.close()
            raise
        return store

    def bind(self, place: StorePlace) -> None:
        """Bind to the launch's own path, which only its owner may use."""
        path = place.path("store")
        if len(str(path).encode()) > LONGEST_PATH:
            raise LabError(f"{path} is too long for a socket", f"{LONGEST_PATH} bytes at most", "set TMPDIR shorter")
        self.bound = path
        self.socket.bind(f"ipc://{path}")
        path.chmod(0o600)

    @classmethod
    def attach(cls, place: StorePlace, address: Address, timeout_ns: int) -> Self:
        """Connect."""
        store = cls(place, cls.reading)
        if cls.reading == zmq.SUB:
            store.socket.subscribe(b"")
        cls.prepare(store.socket, address)
        store.socket.connect(cls.endpoint(place, address))
        return store

    @classmethod
    def prepare(cls, sock: "zmq.Socket[bytes]", address: Address) -> None:
        """Make a reader's socket ready to connect."""

    @classmethod
    def endpoint(cls, place: StorePlace, address: Address) -> str:
        """Return where the writer is bound."""
        return f"ipc://{place.path('store')}"

    def watch(self) -> None:
        """Begin to note readers."""

    def seen(self, left_ms: int) -> int:
        """Return how many more readers came within `left_ms`."""
        raise NotImplementedError

    def accept(self, timeout_ns: int) -> None:
        """Wait until every reader is connected."""
        end, count = clock() + timeout_ns, 0
        while count < self.readers:
            left = (end - clock()) // MS
            if left <= 0:
                raise TimeoutError(f"{count} of {self.readers} readers connected in time")
            count += self.seen(int(left))
        self.unwatch()

    def unwatch(self) -> None:
        """Stop noting readers."""

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

    def close(self) -> None:
        """Close the socket, end its context and remove its path; what was not delivered is dropped."""
        self.context.destroy(linger=0)
        if self.bound:
            with suppress(FileNotFoundError):
                self.bound.unlink()


class ZmqPushStore(ZmqStore):
    """PUSH and PULL: each message goes to one reader, in turn."""

    fans_out = False
    writing, reading = zmq.PUSH, zmq.PULL
    monitor: Any = None

    def watch(self) -> None:
        """Have the socket tell of finished handshakes."""
        self.monitor = self.socket.get_monitor_socket(zmq.Event.HANDSHAKE_SUCCEEDED)

    def seen(self, left_ms: int) -> int:
        """Return 1 when another handshake was finished."""
        if not self.monitor.poll(left_ms):
            return 0
        return int(recv_monitor_message(self.monitor)["event"] == zmq.Event.HANDSHAKE_SUCCEEDED)

    def unwatch(self) -> None:
        """Let the socket work without telling."""
        self.socket.disable_monitor()


class ZmqPubStore(ZmqStore):
    """XPUB and SUB: each message goes to all readers; XPUB is PUB that sees its subscriptions."""

    fans_out = True
    writing, reading = zmq.XPUB, zmq.SUB

    def seen(self, left_ms: int) -> int:
        """Return 1 when another subscription arrived."""
        self.socket.setsockopt(zmq.XPUB_VERBOSE, 1)  # else only the first of equal subscriptions is told
        if not self.socket.poll(left_ms):
            return 0
        return int(self.socket.recv(zmq.DONTWAIT)[:1] == b"\x01")


class ZmqTcpStore(ZmqPubStore):
    """XPUB and SUB over TCP: on loopback, or on the address that `place` names for readers on other nodes.

    A reader must first show the launch's secret.
    """

    door: Door

    def bind(self, place: StorePlace) -> None:
        """Bind to a free port."""
        self.door = Door(self.context, self.socket)
        port = self.socket.bind_to_random_port(f"tcp://{place.host}")
        self.address = {"host": place.host, "port": port, "secret": self.door.secret}

    def seen(self, left_ms: int) -> int:
        """Let readers in; return 1 when the subscription of one arrived."""
        self.door.admits(min(left_ms, KNOCK_MS))
        return super().seen(min(left_ms, KNOCK_MS))

    @classmethod
    def prepare(cls, sock: "zmq.Socket[bytes]", address: Address) -> None:
        """Have the reader's socket show the secret."""
        knock(sock, address)

    @classmethod
    def endpoint(cls, place: StorePlace, address: Address) -> str:
        """Return the address that the writer published."""
        return f"tcp://{address['host']}:{address['port']}"


push = Backend("zmq-push", store=ZmqPushStore, look=("#E69F00", "o"))
pub = Backend("zmq-pub", store=ZmqPubStore, look=("#D55E00", "v"))
