"""The Unix socket through an event loop: `asyncio` streams, on its own loop and on uvloop's.

Each call runs the loop until it is done, as `asyncio.run` does for a program: what is timed is the
loop's way to a message, with its timer for the deadline.
"""

import asyncio
import struct
from collections.abc import Awaitable, Callable
from typing import Any, ClassVar, TypeVar

from ipclab.backends.interface import Backend, Data, Place, too_long, variant
from ipclab.backends.library import Library
from ipclab.backends.sockets import UnixEnd
from ipclab.backends.waiting import Peer, closed

uvloop = Library("uvloop", "uvloop")
HEADER = struct.Struct("=I")
Got = TypeVar("Got")


class _StreamsChannel(UnixEnd):
    """A reader and a writer; a message is sent once all of it is in the kernel."""

    new_loop: ClassVar[Callable[[], asyncio.AbstractEventLoop]] = asyncio.new_event_loop

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.loop = type(self).new_loop()
        self.held.callback(self.loop.close)

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        sock = self.join(timeout_ns)
        streams = asyncio.open_connection(sock=sock, limit=HEADER.size + self.capacity)
        self.reader, self.writer = self.loop.run_until_complete(streams)
        self.writer.transport.set_write_buffer_limits(high=0)
        self.held.callback(self._leave)

    def _leave(self) -> None:
        self.writer.transport.abort()
        self.loop.run_until_complete(asyncio.sleep(0))  # in which it is closed

    def _within(self, timeout_ns: int, work: Awaitable[Got]) -> Got:
        async def timed() -> Got:
            async with asyncio.timeout(timeout_ns / 1e9):
                return await work

        try:
            return self.loop.run_until_complete(timed())
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise closed() from error

    def send(self, data: Data, timeout_ns: int) -> None:
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        self._within(timeout_ns, self._give(data))

    async def _give(self, data: Data) -> None:
        self.writer.write(HEADER.pack(len(data)) + data)
        await self.writer.drain()

    def recv(self, timeout_ns: int) -> bytes:
        return self._within(timeout_ns, self._take())

    async def _take(self) -> bytes:
        (size,) = HEADER.unpack(await self.reader.readexactly(HEADER.size))
        if size > self.capacity:
            raise too_long(size, self.capacity)
        return await self.reader.readexactly(size)


def _uv_loop() -> Any:
    return uvloop.new_event_loop()


of_asyncio = Backend(
    "asyncio-unix", channel=_StreamsChannel, limit="unix", look=("#999933", "o"), brief=False
)
of_uvloop = Backend(
    "uvloop-unix",
    channel=variant(_StreamsChannel, new_loop=staticmethod(_uv_loop)),
    missing=uvloop.missing,
    limit="unix",
    look=("#999933", "D"),
    brief=False,
)
