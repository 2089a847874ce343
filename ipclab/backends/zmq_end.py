"""One ZeroMQ socket in a context of its own, over a Unix socket in the session's folder or over TCP behind a door.

Over TCP come in those that know the launch's secret, while somebody asks at the door: PLAIN (RFC 24) shows the secret
in the handshake, and ZAP (RFC 27) asks us; messages are the same with it as without. Whoever knocks when nobody asks
any more waits in vain.
"""

import hmac
import secrets
from pathlib import Path
from typing import Any, ClassVar

import zmq

from ipclab.backends.interface import Address, Place
from ipclab.backends.unix import socket_path

ZAP = "inproc://zeromq.zap.01"
NAME = b"ipclab"
SECRET_BYTES = 16
MS = 1_000_000


class Door:
    """The door of a bound socket, which must be made before that is bound; `secret` is for those who may come in."""

    def __init__(self, context: "zmq.Context[Any]", sock: "zmq.Socket[bytes]") -> None:
        """Have `sock` ask here whoever connects to it."""
        self.secret = secrets.token_hex(SECRET_BYTES)
        self.asked = context.socket(zmq.REP)
        self.asked.linger = 0
        self.asked.bind(ZAP)
        sock.plain_server, sock.zap_domain = True, NAME

    def admits(self, left_ms: int) -> bool:
        """Answer whoever knocks within `left_ms`; tell whether one was let in."""
        if not self.asked.poll(left_ms):
            return False
        version, request, *_, mechanism, name, shown = self.asked.recv_multipart()
        known = mechanism == b"PLAIN" and name == NAME and hmac.compare_digest(shown, self.secret.encode())
        self.asked.send_multipart([version, request, b"200" if known else b"400", b"", b"", b""])
        return known


class ZmqEnd:
    """What channels and stores over ZeroMQ share; each has one I/O thread, as the published programs had."""

    tcp: ClassVar[bool] = False
    door: Door | None = None
    bound: Path | None = None

    def open_socket(self, kind: int) -> None:
        """Make a socket of `kind`."""
        self.context = zmq.Context()
        self.socket: zmq.Socket[bytes] = self.context.socket(kind)
        self.socket.linger = 0

    def bind(self, place: Place, host: str) -> Address:
        """Bind to the launch's path, which only its owner may use, or to a free port of `host`; return where."""
        if self.tcp:
            self.door = Door(self.context, self.socket)
            return {"host": host, "port": self.socket.bind_to_random_port(f"tcp://{host}"), "secret": self.door.secret}
        self.bound = socket_path(place)
        self.socket.bind(f"ipc://{self.bound}")
        self.bound.chmod(0o600)
        return {}

    def reach(self, place: Place, address: Address) -> None:
        """Connect to what was bound, showing the secret where there is a door."""
        if self.tcp:
            self.socket.plain_username, self.socket.plain_password = NAME, str(address["secret"]).encode()
            self.socket.connect(f"tcp://{address['host']}:{address['port']}")
        else:
            self.socket.connect(f"ipc://{socket_path(place)}")

    def close(self) -> None:
        """Close the socket, end its context and remove its path; what was not delivered is dropped."""
        self.context.destroy(linger=0)
        if self.bound:
            self.bound.unlink(missing_ok=True)
