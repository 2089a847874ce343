"""Messages between measuring process and workers: MessagePack, int64 arrays as bytes."""

import select
import socket
import struct
import time
from array import array
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

LENGTH = struct.Struct("!Q")
CHUNK = 1 << 20
Who = TypeVar("Who")


class LateError(Exception):
    """The first argument names one whose message had not come at the deadline."""


def wire_bytes(message: msgspec.Struct) -> bytes:
    """Return `message`, whose arrays are of int64 and whose numbers may be NumPy's, as bytes."""
    return msgspec.msgpack.encode(
        message, enc_hook=lambda value: value.tobytes() if type(value) is array else value.item()
    )


def from_wire(data: bytes | bytearray, kind: Any) -> Any:
    """Return the message of type `kind` that `wire_bytes` made."""
    return msgspec.msgpack.decode(data, type=kind, dec_hook=lambda _, content: array("q", content))


class Wire:
    """One end of a worker's control socket."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.fileno, self.close = sock.fileno, sock.close

    def send(self, message: msgspec.Struct) -> None:
        """Send `message`."""
        data = wire_bytes(message)
        self.sock.sendall(LENGTH.pack(len(data)) + data)

    def receive(self, kind: Any, deadline: float | None = None) -> Any:
        """Return the next message, of type `kind`.

        Raises `EOFError` when the other end is gone and `TimeoutError` at `deadline` (of
        `time.monotonic`).
        """
        (size,) = LENGTH.unpack(self._take(LENGTH.size, deadline))
        return from_wire(self._take(size, deadline), kind)

    def _take(self, size: int, deadline: float | None) -> bytearray:
        data = bytearray()
        while len(data) < size:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise TimeoutError
            self.sock.settimeout(left)
            chunk = self.sock.recv(min(CHUNK, size - len(data)))
            if not chunk:
                raise EOFError("the other end closed")
            data += chunk
        return data

    def ended(self) -> bool:
        """Tell whether the other end is gone and has said nothing that is not received yet."""
        # asked first, since Python waits in a socket with a timeout, whatever the flags say
        said, _, _ = select.select([self.sock], [], [], 0)
        try:
            return bool(said) and not self.sock.recv(1, socket.MSG_PEEK)
        except OSError:
            return True

    def await_end(self, seconds: float) -> None:
        """Wait until the other end is gone, at most `seconds`; what it still says is not kept."""
        deadline = time.monotonic() + seconds
        with suppress(OSError, EOFError):
            while True:
                self._take(CHUNK, deadline)


def hear(wires: dict[Who, Wire], kind: Any, deadline: float) -> Iterator[tuple[Who, Any]]:
    """Yield who of `wires` says what, None at its end, while the caller leaves any in `wires`.

    Raises `LateError` at `deadline` (of `time.monotonic`).
    """
    while wires:
        ready, _, _ = select.select(
            [*wires.values()], [], [], max(0.0, deadline - time.monotonic())
        )
        if not ready:
            raise LateError(next(iter(wires)))
        for who, wire in [pair for pair in wires.items() if pair[1] in ready]:
            try:
                said = wire.receive(kind, deadline)
            except TimeoutError:
                raise LateError(who) from None
            except (EOFError, OSError):
                said = None
            yield who, said
