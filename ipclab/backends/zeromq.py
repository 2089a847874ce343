"""ZeroMQ: request and answer, and a store of messages, over a private Unix socket or TCP.

Over TCP come in those that know the launch's secret, while somebody asks at the door: PLAIN (RFC
24) shows it in the handshake, and ZAP (RFC 27) asks us; messages are the same as without. Who
knocks later waits in vain.

The published program slept for a while instead of waiting for its readers, and lost messages. Here
PUSH counts finished handshakes, PUB counts subscriptions, and no queue has a limit at which PUB
would drop or PUSH would favour a reader.
"""

import hmac
import secrets
from dataclasses import replace
from time import monotonic_ns as clock
from typing import Any, ClassVar

import zmq
from zmq.utils.monitor import recv_monitor_message

from ipclab.backends.interface import (
    VIEW,
    Backend,
    Channel,
    Data,
    End,
    Place,
    Store,
    too_long,
    variant,
)
from ipclab.backends.sockets import no_loopback, socket_path
from ipclab.backends.waiting import BLOCK, MS, WAITS, Peer, in_ms, wait

ZAP = "inproc://zeromq.zap.01"
NAME = b"ipclab"
SECRET_BYTES = 16
KNOCK_MS = 5  # knocks and subscriptions are awaited in turn


class _ZmqEnd(End):
    """What channels and stores over ZeroMQ share: one socket at each end, of the two `kinds`.

    Each end has one I/O thread, as the published programs had.
    """

    tcp: ClassVar[bool] = False
    kinds: ClassVar[tuple[int, int]]
    door: "zmq.Socket[bytes] | None" = None

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.context = zmq.Context()
        self.held.callback(self.context.destroy, linger=0)  # what was not delivered is dropped
        self.socket: zmq.Socket[bytes] = self.context.socket(self.kinds[not create])
        self.socket.linger = 0
        with self.whole():
            self.prepare()
            if create:
                self.bind()

    def prepare(self) -> None:
        """Set the socket up before it is bound or connected."""

    def bind(self) -> None:
        """Bind to the launch's path, its owner's only, or to a free port behind a door."""
        if not self.tcp:
            path = socket_path(self.place)
            self.socket.bind(f"ipc://{path}")
            self.guard(path)
            return
        host, self.secret = self.place.host, secrets.token_hex(SECRET_BYTES)
        self.door = self.context.socket(zmq.REP)
        self.door.linger = 0
        self.door.bind(ZAP)  # before the socket is bound, which then asks here
        self.socket.plain_server, self.socket.zap_domain = True, NAME
        port = self.socket.bind_to_random_port(f"tcp://{host}")
        self.address = {"host": host, "port": port, "secret": self.secret}

    def admits(self, left_ms: int) -> bool:
        """Answer whoever knocks at the door within `left_ms`; tell whether one was let in."""
        if not self.door or not self.door.poll(left_ms):
            return False
        version, request, *_, mechanism, name, shown = self.door.recv_multipart()
        admitted = (
            mechanism == b"PLAIN"
            and name == NAME
            and hmac.compare_digest(shown, self.secret.encode())
        )
        self.door.send_multipart([version, request, b"200" if admitted else b"400", b"", b"", b""])
        return admitted

    def reach(self) -> None:
        """Connect to what was bound, showing the secret where there is a door."""
        if not self.tcp:
            self.socket.connect(f"ipc://{socket_path(self.place)}")
            return
        self.socket.plain_username = NAME
        self.socket.plain_password = str(self.address["secret"]).encode()
        self.socket.connect(f"tcp://{self.address['host']}:{self.address['port']}")


class _ZmqChannel(_ZmqEnd, Channel):
    """A REP socket at the serving end, a REQ socket at the other."""

    kinds = zmq.REP, zmq.REQ

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Begin to connect; the serving end's door lets nobody in but who knows the secret."""
        self.peer = peer
        if not self.create:
            self.reach()
        elif self.door:
            wait(
                BLOCK,
                lambda: False,
                lambda left_ns: self.admits(in_ms(left_ns)),
                timeout_ns,
                peer,
            )

    def _await(self, event: int, timeout_ns: int) -> None:
        def block(left_ns: int) -> int:
            return sock.poll(in_ms(left_ns), event)

        sock = self.socket
        wait(
            self.strategy,
            lambda: int(sock.getsockopt(zmq.EVENTS)) & event,
            block,
            timeout_ns,
            self.peer,
        )

    def send(self, data: Data, timeout_ns: int) -> None:
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        try:
            self.socket.send(data, zmq.DONTWAIT)
        except zmq.Again:
            self._await(zmq.POLLOUT, timeout_ns)
            self.socket.send(data, zmq.DONTWAIT)

    def recv(self, timeout_ns: int) -> bytes:
        self._await(zmq.POLLIN, timeout_ns)
        return self.socket.recv(zmq.DONTWAIT)

    def recv_view(self, timeout_ns: int) -> memoryview:
        """Return the next message in ZeroMQ's own memory."""
        self._await(zmq.POLLIN, timeout_ns)
        frame: Any = self.socket.recv(zmq.DONTWAIT, copy=False)
        view: memoryview = frame.buffer
        return view


class _ZmqStore(_ZmqEnd, Store):
    """Messages from one writer; the kind of its socket says whom each reaches."""

    keeps = False
    version, kept = 0, b""

    def prepare(self) -> None:
        self.socket.sndhwm = self.socket.rcvhwm = 0

    def _seen(self, left_ms: int) -> bool:
        """Tell whether another reader came within `left_ms`."""
        raise NotImplementedError

    def accept(self, timeout_ns: int) -> None:
        if not self.create:
            self.reach()
            return
        end, count = clock() + timeout_ns, 0
        while count < self.place.readers:
            left = (end - clock()) // MS
            if left <= 0:
                raise TimeoutError(f"{count} of {self.place.readers} readers connected in time")
            if self.door:
                left = min(left, KNOCK_MS)
                self.admits(left)
            count += self._seen(left)

    def write(self, data: Data, timeout_ns: int) -> None:
        try:
            self.socket.send(data, zmq.DONTWAIT)
        except zmq.Again as error:  # PUSH whose readers are gone
            if not self.socket.poll(in_ms(timeout_ns), zmq.POLLOUT):
                raise TimeoutError("there was no reader in time") from error
            self.socket.send(data, zmq.DONTWAIT)

    def read(self, after: int, timeout_ns: int) -> tuple[int, bytes]:
        """Return what was received last when above `after`, else a copy of the next message."""
        if self.version <= after:
            if not self.socket.poll(in_ms(timeout_ns)):
                raise TimeoutError(f"message {self.version + 1} did not come in time")
            self.kept = self.socket.recv(zmq.DONTWAIT)
            self.version += 1
        return self.version, self.kept


class PubStore(_ZmqStore):
    """XPUB and SUB: each message goes to all readers; XPUB is PUB that sees its subscriptions."""

    kinds = zmq.XPUB, zmq.SUB

    def prepare(self) -> None:
        super().prepare()
        if self.create:
            # else only the first of equal subscriptions is told
            self.socket.setsockopt(zmq.XPUB_VERBOSE, 1)
        else:
            self.socket.subscribe(b"")

    def _seen(self, left_ms: int) -> bool:
        return bool(self.socket.poll(left_ms)) and self.socket.recv(zmq.DONTWAIT)[:1] == b"\x01"


class ZmqPushStore(_ZmqStore):
    """PUSH and PULL: each message goes to one reader, in turn."""

    fans_out = False
    kinds = zmq.PUSH, zmq.PULL
    monitor: Any = None

    def prepare(self) -> None:
        super().prepare()
        if self.create:
            self.monitor = self.socket.get_monitor_socket(zmq.Event.HANDSHAKE_SUCCEEDED)

    def accept(self, timeout_ns: int) -> None:
        """Wait until every reader is connected; from then on the socket works without telling."""
        super().accept(timeout_ns)
        if self.create:
            self.socket.disable_monitor()

    def _seen(self, left_ms: int) -> bool:
        event = self.monitor.poll(left_ms) and recv_monitor_message(self.monitor)["event"]
        return bool(event == zmq.Event.HANDSHAKE_SUCCEEDED)


# Messages in any order, as many on their way as ZeroMQ usually keeps (1000).
_Stream = variant(_ZmqChannel, kinds=(zmq.PAIR, zmq.PAIR))
ipc = Backend(
    "zmq-ipc",
    channel=_ZmqChannel,
    waits=WAITS,
    receives=VIEW,
    stream=_Stream,
    limit="unix",
    gathers=True,
    look=("#E69F00", "s"),
)
tcp = replace(
    ipc,
    name="zmq-tcp",
    missing=no_loopback,
    channel=variant(_ZmqChannel, tcp=True),
    store=variant(PubStore, tcp=True),
    stream=variant(_Stream, tcp=True),
    limit="tcp",
    demands=(),
    look=("#E69F00", "^"),
)
push = Backend("zmq-push", store=ZmqPushStore, look=("#E69F00", "o"))
pub = Backend("zmq-pub", store=PubStore, look=("#D55E00", "v"))
