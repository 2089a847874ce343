"""Messages over byte streams: a length, then the bytes, with full reads and writes. What sockets and pipes share."""

import os
import select
import socket
import struct

from ipclab.backends.ends import ChannelEnd, closed, too_long
from ipclab.backends.interface import Data, Place
from ipclab.backends.waiting import BLOCK, wait

HEADER = struct.Struct("=I")
AHEAD = 1 << 16  # bytes read at most before the length is known, so that a long message is read in place


class StreamChannel(ChannelEnd):
    """A channel over two descriptors, one to read from and one to write to (they may be the same)."""

    def __init__(self, place: Place, create: bool) -> None:
        """Make the buffer; `adopt` then gives it the descriptors."""
        super().__init__(place, create)
        self.view = memoryview(bytearray(HEADER.size + place.capacity))
        self.filled = 0
        self.reading = self.writing = -1

    def adopt(self, reading: int, writing: int) -> None:
        """Take both descriptors over; neither blocks from now on, since every wait has a deadline."""
        self.reading, self.writing = reading, writing
        os.set_blocking(reading, False)
        os.set_blocking(writing, False)
        self.readable, self.writable = select.poll(), select.poll()
        self.readable.register(reading, select.POLLIN)
        self.writable.register(writing, select.POLLOUT)

    def _await_readable(self, timeout_ns: int) -> None:
        poll = self.readable.poll
        wait(self.strategy, lambda: poll(0), lambda left_ns: poll(left_ns / 1e6), timeout_ns)

    def _await_writable(self, timeout_ns: int) -> None:
        poll = self.writable.poll
        wait(BLOCK, lambda: poll(0), lambda left_ns: poll(left_ns / 1e6), timeout_ns)

    def _read(self, target: memoryview, timeout_ns: int) -> int:
        """Wait until there is something, read what fits into `target` and return how much that was."""
        self._await_readable(timeout_ns)
        try:
            got = os.readv(self.reading, [target])
        except BlockingIOError as error:
            raise TimeoutError("nothing came in time") from error
        except ConnectionResetError:
            got = 0
        if not got:
            raise closed()
        return got

    def _write(self, parts: list[memoryview], timeout_ns: int) -> int:
        """Write as much of `parts` as fits now, waiting for room if there is none; return how much that was."""
        while True:
            try:
                return os.writev(self.writing, parts)
            except BlockingIOError:
                self._await_writable(timeout_ns)
            except ConnectionResetError as error:
                raise closed() from error

    def send(self, data: Data, timeout_ns: int) -> None:
        """Write the length and `data`, in one call where it fits."""
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        parts = [memoryview(HEADER.pack(len(data))), memoryview(data)]
        while parts:
            written = self._write(parts, timeout_ns)
            while parts and written >= len(parts[0]):
                written -= len(parts.pop(0))
            if parts:
                parts[0] = parts[0][written:]

    def _fill(self, need: int, room: int, timeout_ns: int) -> None:
        """Read until `need` bytes are in the buffer, and never beyond `room`."""
        while self.filled < need:
            self.filled += self._read(self.view[self.filled : room], timeout_ns)

    def _size(self, timeout_ns: int) -> int:
        """Return the next message's length in bytes."""
        self._fill(HEADER.size, AHEAD, timeout_ns)
        size: int = HEADER.unpack_from(self.view)[0]
        if size > self.capacity:
            raise too_long(size, self.capacity)
        return size

    def recv(self, timeout_ns: int) -> bytes:
        """Return the next message."""
        end = HEADER.size + self._size(timeout_ns)
        self._fill(end, len(self.view), timeout_ns)
        data = bytes(self.view[HEADER.size : end])
        self._drop(end)
        return data

    def recv_into(self, buffer: bytearray | memoryview, timeout_ns: int) -> int:
        """Put the next message into `buffer`: its beginning by a copy, the rest straight from the kernel."""
        size = self._size(timeout_ns)
        target = memoryview(buffer)[:size]
        have = min(self.filled - HEADER.size, size)
        target[:have] = self.view[HEADER.size : HEADER.size + have]
        self._drop(HEADER.size + have)
        while have < size:
            have += self._read(target[have:], timeout_ns)
        return size

    def _drop(self, end: int) -> None:
        """Forget the first `end` bytes of the buffer, and keep what came after them."""
        left = self.filled - end
        if left:
            self.view[:left] = bytes(self.view[end : self.filled])
        self.filled = left

    def close(self) -> None:
        """Close both descriptors."""
        for descriptor in {self.reading, self.writing} - {-1}:
            os.close(descriptor)
        self.reading = self.writing = -1


class SocketChannel(StreamChannel):
    """A channel over a connected stream socket; one that blocks leaves its deadline to the kernel, in the same call."""

    limit_ns = -1

    def adopt_socket(self, sock: socket.socket) -> None:
        """Take `sock` over."""
        descriptor = sock.detach()
        self.adopt(descriptor, descriptor)
        os.set_blocking(descriptor, self.strategy == BLOCK)

    def send(self, data: Data, timeout_ns: int) -> None:
        """Write the length and `data`, in one call where it fits."""
        self._limit(timeout_ns)
        super().send(data, timeout_ns)

    def _await_readable(self, timeout_ns: int) -> None:
        if self.strategy == BLOCK:
            self._limit(timeout_ns)
        else:
            super()._await_readable(timeout_ns)

    def _await_writable(self, timeout_ns: int) -> None:
        if self.strategy == BLOCK:
            raise TimeoutError("there was no room in time")
        super()._await_writable(timeout_ns)

    def _limit(self, timeout_ns: int) -> None:
        if timeout_ns != self.limit_ns:
            set_limit(self.reading, timeout_ns)
            self.limit_ns = timeout_ns


def set_limit(descriptor: int, timeout_ns: int) -> None:
    """Have the kernel end every read and write of a blocking socket after `timeout_ns` (socket(7), SO_RCVTIMEO)."""
    seconds, micros = divmod(max(1, timeout_ns // 1000), 1_000_000)
    sock = socket.socket(fileno=descriptor)
    for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
        sock.setsockopt(socket.SOL_SOCKET, option, struct.pack("@ll", seconds, micros))
    sock.detach()
