"""`multiprocessing.connection` over a Unix socket in the session's private folder, bytes only: nothing is unpickled."""

import secrets
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge

from ipclab.backends.ends import ChannelEnd, closed, too_long
from ipclab.backends.interface import Backend, Data, Place
from ipclab.backends.stream import set_limit
from ipclab.backends.unix import UnixSocket
from ipclab.backends.waiting import Peer

KEY_BYTES = 16


class MpPipeChannel(ChannelEnd):
    """A `Connection`, authenticated with a key of the launch as `Listener` and `Client` do it."""

    link: Connection | None = None
    limit_ns = -1

    def __init__(self, place: Place, create: bool) -> None:
        """Listen at the launch's path with a new key, or find it."""
        super().__init__(place, create)
        self.meeting = UnixSocket(place, create)
        self.address = {"key": secrets.token_hex(KEY_BYTES)} if create else {}

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Take the connection and prove the key both ways."""
        self.link = Connection(self.meeting.join(timeout_ns).detach())
        proofs = [deliver_challenge, answer_challenge]
        for prove in proofs if self.create else proofs[::-1]:
            prove(self._link(timeout_ns), bytes.fromhex(str(self.address["key"])))

    def _link(self, timeout_ns: int) -> Connection:
        """Return the connection with its deadline; it blocks in the kernel, as it does without one."""
        if self.link is None:
            raise ValueError("the channel is not connected")
        if timeout_ns != self.limit_ns:
            set_limit(self.link.fileno(), timeout_ns)
            self.limit_ns = timeout_ns
        return self.link

    def send(self, data: Data, timeout_ns: int) -> None:
        """Send `data` by `send_bytes`."""
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        try:
            self._link(timeout_ns).send_bytes(data)
        except BlockingIOError as error:
            raise TimeoutError("there was no room in time") from error
        except ConnectionResetError as error:
            raise closed() from error

    def recv(self, timeout_ns: int) -> bytes:
        """Return the next message by `recv_bytes`."""
        try:
            return self._link(timeout_ns).recv_bytes(self.capacity)
        except BlockingIOError as error:
            raise TimeoutError("nothing came in time") from error
        except (EOFError, ConnectionResetError) as error:
            raise closed() from error

    def close(self) -> None:
        """Close the connection, and the listener with its path."""
        if self.link:
            self.link.close()
            self.link = None
        self.meeting.close()


backend = Backend("mp-pipe", channel=MpPipeChannel, limit="echo-unix", look=("#8A6B00", "D"))
