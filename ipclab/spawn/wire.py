"""Messages between the measuring process and its workers: one JSON line, then raw arrays of int64."""

import json
import socket
import time
from array import array
from contextlib import suppress
from typing import Any

Message = dict[str, Any]
LONGEST_HEADER = 1 << 24


def pack(message: Message, arrays: "dict[str, array[int]] | None" = None) -> bytes:
    """Return `message` and int64 `arrays` as bytes: a JSON line, then the arrays."""
    arrays = arrays or {}
    sizes = {name: len(values) * 8 for name, values in arrays.items()}
    head = json.dumps({**message, "arrays": sizes}).encode()
    return b"".join([head, b"\n", *(values.tobytes() for values in arrays.values())])


class Wire:
    """One end of a worker's control socket."""

    def __init__(self, sock: socket.socket) -> None:
        """Take over the connected stream socket `sock`."""
        self.sock = sock
        self._pending = bytearray()

    def send(self, message: Message, arrays: dict[str, "array[int]"] | None = None) -> None:
        """Send `message` and the int64 `arrays` that belong to it."""
        self.sock.sendall(pack(message, arrays))

    def receive(self, deadline: float | None = None) -> tuple[Message, dict[str, "array[int]"]]:
        """Return the next message and its arrays.

        Raises `EOFError` when the other end is gone and `TimeoutError` at `deadline` (of `time.monotonic`).
        """
        while (end := self._pending.find(b"\n")) < 0:
            if len(self._pending) > LONGEST_HEADER:
                raise EOFError("no message but a flood")
            self._fill(deadline)
        header = json.loads(self._pending[:end])
        del self._pending[: end + 1]
        arrays = {name: self._array(size, deadline) for name, size in header.pop("arrays").items()}
        return header, arrays

    def _array(self, size: int, deadline: float | None) -> "array[int]":
        while len(self._pending) < size:
            self._fill(deadline)
        values = array("q", bytes(self._pending[:size]))
        del self._pending[:size]
        return values

    def _fill(self, deadline: float | None) -> None:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self.sock.settimeout(left)
        else:
            self.sock.settimeout(None)
        chunk = self.sock.recv(1 << 20)
        if not chunk:
            raise EOFError("the other end closed")
        self._pending += chunk

    def await_end(self, seconds: float) -> None:
        """Wait until the other end is gone, at most `seconds`; what it still says is not kept."""
        with suppress(OSError, EOFError):
            deadline = time.monotonic() + seconds
            while True:
                self._fill(deadline)
                self._pending.clear()

    def close(self) -> None:
        """Close the socket; the other end then sees the end of file."""
        self.sock.close()
