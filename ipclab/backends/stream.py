"""Messages over byte streams, pipes and sockets: a length, then the bytes, read whole."""

import fcntl
import os
import select
import struct
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic_ns as clock
from typing import ClassVar

from ipclab.backends.interface import INTO, Backend, Channel, Data, Place, too_long, variant
from ipclab.backends.waiting import BLOCK, WAITS, Peer, closed, there, wait
from ipclab.errors import LabError

HEADER = struct.Struct("=I")
WIDEST = Path("/proc/sys/fs/pipe-max-size")
# bytes read at most before the length is known, so that a long message is read in place
AHEAD = 1 << 16


class StreamChannel(Channel):
    """A channel over two descriptors, one to read from and one to write to (they may be the same).

    A timeout bounds each wait for more bytes or more room, not a whole long message.
    """

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.view = memoryview(bytearray(HEADER.size + place.capacity))
        self.filled = 0
        self.reading = self.writing = -1

    def adopt(self, reading: int, writing: int) -> None:
        """Use both descriptors; neither blocks from now on, since every wait has a deadline."""
        self.reading, self.writing = reading, writing
        os.set_blocking(reading, False)
        os.set_blocking(writing, False)
        self.readable, self.writable = select.poll(), select.poll()
        self.readable.register(reading, select.POLLIN)
        self.writable.register(writing, select.POLLOUT)

    def _await(self, poller: select.poll, strategy: str, timeout_ns: int) -> None:
        poll = poller.poll
        wait(strategy, lambda: poll(0), lambda left_ns: poll(left_ns / 1e6), timeout_ns)

    def _read(self, target: memoryview, timeout_ns: int) -> int:
        """Wait until there is something, read what fits into `target` and return how much."""
        end = clock() + timeout_ns
        while True:
            self._await(self.readable, self.strategy, timeout_ns)
            try:
                got = os.readv(self.reading, [target])
            except BlockingIOError as error:
                timeout_ns = end - clock()
                if timeout_ns <= 0:
                    raise TimeoutError("nothing came in time") from error
                # A named pipe looks hung up while its other end is being opened.
                continue
            except ConnectionResetError:
                got = 0
            if not got:
                raise closed()
            return got

    def _write(self, parts: list[memoryview], timeout_ns: int) -> int:
        """Write as much of `parts` as fits now, waiting for room if none; return how much."""
        while True:
            try:
                return os.writev(self.writing, parts)
            except BlockingIOError:
                self._await(self.writable, BLOCK, timeout_ns)
            except ConnectionResetError as error:
                raise closed() from error

    def send(self, data: Data, timeout_ns: int) -> None:
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
        self._fill(HEADER.size, AHEAD, timeout_ns)
        size: int = HEADER.unpack_from(self.view)[0]
        if size > self.capacity:
            raise too_long(size, self.capacity)
        return size

    def recv(self, timeout_ns: int) -> bytes:
        end = HEADER.size + self._size(timeout_ns)
        self._fill(end, len(self.view), timeout_ns)
        data = bytes(self.view[HEADER.size : end])
        self._drop(end)
        return data

    def recv_into(self, buffer: bytearray | memoryview, timeout_ns: int) -> int:
        """Put the next message into `buffer`: its beginning copied, the rest from the kernel."""
        size = self._size(timeout_ns)
        target = memoryview(buffer)[:size]
        have = min(self.filled - HEADER.size, size)
        target[:have] = self.view[HEADER.size : HEADER.size + have]
        self._drop(HEADER.size + have)
        while have < size:
            have += self._read(target[have:], timeout_ns)
        return size

    def _drop(self, end: int) -> None:
        """Forget the buffer up to `end`, and keep what came after it."""
        left = self.filled - end
        if left:
            self.view[:left] = bytes(self.view[end : self.filled])
        self.filled = left


class PipesEnd(Channel):
    """An end with two named pipes: its maker reads `request`, the other `answer`."""

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        inward, self.outward = place.path(self.tag_in), place.path(self.tag_out)
        for path in (inward, self.outward) if create else ():
            os.mkfifo(path, 0o600)
            self.guard(path)
        self.inward = os.open(inward, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        self.held.callback(os.close, self.inward)

    def open_writing(self, timeout_ns: int, peer: Peer) -> int:
        """Open the other one, which the kernel allows once its reader is there (fifo(7))."""
        opened: list[int] = []

        def ready() -> list[int]:
            with suppress(OSError):
                opened.append(os.open(self.outward, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))
            return opened

        there(ready, timeout_ns, peer)
        return opened[0]


class _PipeChannel(PipesEnd, StreamChannel):
    """A pipe each way; a `wide` one holds as much as the kernel lets anybody ask for (pipe(7))."""

    wide: ClassVar = False

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        writing = self.open_writing(timeout_ns, peer)
        self.held.callback(os.close, writing)
        self.adopt(self.inward, writing)
        try:
            if self.wide:
                fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, int(WIDEST.read_text()))
        except PermissionError as error:
            full = "this user's pipes would take more than fs.pipe-user-pages-soft"
            raise LabError("no room for a wide pipe", full, "raise it (sysctl)") from error


pipe = Backend(
    "pipe", channel=_PipeChannel, waits=WAITS, receives=INTO, limit="pipe", look=("#CC79A7", "o")
)
fifo = replace(pipe, name="fifo", channel=variant(_PipeChannel, wide=True), look=("#CC79A7", "v"))
