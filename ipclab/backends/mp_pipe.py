"""`multiprocessing.connection` over a Unix socket in the session's private folder, bytes only: nothing is unpickled."""

import secrets
import socket
from contextlib import suppress
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from pathlib import Path
from typing import Self

from ipclab.backends.interface import Address, Backend, Data, Place
from ipclab.backends.stream import set_limit
from ipclab.backends.unix import accept, connect, listener, socket_path
from ipclab.backends.waiting import Peer

KEY_BYTES = 16


class MpPipeChannel:
    """A `Connection`, authenticated with a key of the launch as `Listener` and `Client` do it."""

    link: Connection | None = None
    listening: socket.socket | None = None
    path: Path
    limit_ns = -1

    def __init__(self, place: Place, address: Address) -> None:
        """Keep what both ends need."""
        self.address, self.capacity = address, place.capacity
        self.key = bytes.fromhex(str(address["key"]))

    @classmethod
    def listen(cls, place: Place) -> Self:
        """Listen at the launch's path, with a new key."""
        channel = cls(place, {"key": secrets.token_hex(KEY_BYTES)})
        channel.path = socket_path(place)
        channel.listening = listener(channel.path)
        return channel

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Take the connection and prove the key both ways."""
        if self.listening:
            self._adopt(accept(self.listening, timeout_ns), timeout_ns)
            deliver_challenge(self._link(timeout_ns), self.key)
            answer_challenge(self._link(timeout_ns), self.key)

    @classmethod
    def connect(cls, place: Place, address: Address, peer: Peer, timeout_ns: int) -> Self:
        """Connect to the launch's path and prove the key both ways."""
        channel = cls(place, address)
        channel._adopt(connect(socket_path(place), timeout_ns), timeout_ns)
        answer_challenge(channel._link(timeout_ns), channel.key)
        deliver_challenge(channel._link(timeout_ns), channel.key)
        return channel

    def _adopt(self, sock: socket.socket, timeout_ns: int) -> None:
        self.link = Connection(sock.detach())

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
            raise ValueError(f"{len(data)} bytes are above the capacity of {self.capacity}")
        try:
            self._link(timeout_ns).send_bytes(data)
        except BlockingIOError as error:
            raise TimeoutError("there was no room in time") from error
        except ConnectionResetError as error:
            raise BrokenPipeError("the process at the other end has closed it") from error

    def recv(self, timeout_ns: int) -> bytes:
        """Return the next message by `recv_bytes`."""
        try:
            return self._link(timeout_ns).recv_bytes(self.capacity)
        except BlockingIOError as error:
            raise TimeoutError("nothing came in time") from error
        except (EOFError, ConnectionResetError) as error:
            raise BrokenPipeError("the process at the other end has closed it") from error

    def close(self) -> None:
        """Close the connection, and the listener with its path."""
        if self.link:
            self.link.close()
            self.link = None
        if self.listening:
            self.listening.close()
            self.listening = None
            with suppress(FileNotFoundError):
                self.path.unlink()


backend = Backend("mp-pipe", channel=MpPipeChannel, limit="echo-unix", look=("#8A6B00", "D"))
