"""Who may come in over TCP with ZeroMQ: those that know the launch's secret, while somebody asks at the door.

PLAIN (RFC 24) shows the secret in the handshake, and ZAP (RFC 27) asks us; messages are the same with it as without.
Whoever knocks when nobody asks any more waits in vain.
"""

import hmac
import secrets
from typing import Any

import zmq

from ipclab.backends.interface import Address

ZAP = "inproc://zeromq.zap.01"
NAME = b"ipclab"
SECRET_BYTES = 16


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


def knock(sock: "zmq.Socket[bytes]", address: Address) -> None:
    """Have `sock` show the secret of `address` wherever it connects to."""
    sock.plain_username, sock.plain_password = NAME, str(address["secret"]).encode()
