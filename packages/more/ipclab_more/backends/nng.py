"""nng through `pynng`: a pair over a Unix socket in the session's private folder."""

from typing import Any

from ipclab.backends.interface import Backend, Channel, Data, Place, too_long
from ipclab.backends.library import Library
from ipclab.backends.sockets import socket_path
from ipclab.backends.waiting import Peer, closed, in_ms, until

pynng = Library("pynng", "pynng")


class _PairChannel(Channel):
    """A PAIR socket at each end; its queues are nng's usual ones."""

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        # in ns, as they were set last; setting costs a call
        self.limits = {"recv_timeout": -1, "send_timeout": -1}
        self.path = socket_path(place)
        # of any size: nothing else comes from this folder
        self.socket: Any = pynng.Pair0(recv_max_size=0)
        self.held.callback(self.socket.close)
        if create:
            self.socket.listen(f"ipc://{self.path}")
            self.guard(self.path)

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Connect; the end that listens knows of the other by its first message."""
        self.peer = peer
        if not self.create:
            self.socket.dial(f"ipc://{self.path}", block=True)

    def _ready(self, limit: str, left_ns: int) -> Any:
        if self.limits[limit] != left_ns:
            setattr(self.socket, limit, in_ms(left_ns))
            self.limits[limit] = left_ns
        return self.socket

    def _until(self, call: Any, timeout_ns: int) -> Any:
        try:
            return until(call, timeout_ns, self.peer, pynng.Timeout)
        except pynng.Closed as error:
            raise closed() from error

    def send(self, data: Data, timeout_ns: int) -> None:
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        sent = bytes(data)  # pynng takes nothing else
        self._until(lambda left_ns: self._ready("send_timeout", left_ns).send(sent), timeout_ns)

    def recv(self, timeout_ns: int) -> bytes:
        message = self._until(
            lambda left_ns: self._ready("recv_timeout", left_ns).recv_msg(), timeout_ns
        )
        return bytes(message.bytes)


backend = Backend(
    "nng-ipc", channel=_PairChannel, missing=pynng.missing, limit="unix", look=("#E69F00", "X")
)
