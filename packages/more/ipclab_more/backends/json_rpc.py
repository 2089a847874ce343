"""JSON-RPC 2.0 over two pipes, a message a line, as tool servers speak it over standard streams.

The end that joins asks, with a number; the other one answers with that. What nobody has asked for
goes as a notification. Bytes go as base64, as `msgspec` writes them.
"""

import os
from typing import Any

import msgspec

from ipclab.backends.interface import Backend, Data, Place, too_long
from ipclab.backends.stream import PipesEnd, StreamChannel
from ipclab.backends.waiting import Peer

VERSION, METHOD, LINE = "2.0", "hand-over", b"\n"
AROUND = 128  # the most bytes of a line beside those of its content


class Message(msgspec.Struct, omit_defaults=True):
    """A request, a notification (without a number) or an answer."""

    jsonrpc: str = ""
    id: int | None = None
    method: str = ""
    params: tuple[bytes, ...] = ()
    result: bytes | None = None


class _LinesChannel(PipesEnd, StreamChannel):
    """A pipe each way, read by lines."""

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.longest = AROUND + -(-place.capacity // 3) * 4
        self.lines = bytearray(self.longest)
        self.view = memoryview(self.lines)
        self.encode = msgspec.json.Encoder().encode
        self.decode: Any = msgspec.json.Decoder(Message).decode
        self.asked = 0
        self.unanswered: int | None = None

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        writing = self.open_writing(timeout_ns, peer)
        self.held.callback(os.close, writing)
        self.adopt(self.inward, writing)

    def send(self, data: Data, timeout_ns: int) -> None:
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        rest = memoryview(self.encode(self._message(data)) + LINE)
        while rest:
            rest = rest[self._write([rest], timeout_ns) :]

    def _message(self, data: Data) -> Message:
        number, self.unanswered = self.unanswered, None
        if number is not None:
            return Message(VERSION, number, result=data)  # type: ignore[arg-type]
        if not self.create:
            number = self.asked = self.asked + 1
        return Message(VERSION, number, METHOD, (data,))  # type: ignore[arg-type]

    def recv(self, timeout_ns: int) -> bytes:
        looked = 0
        while (end := self.lines.find(LINE, looked, self.filled)) < 0:
            looked = self.filled
            if looked == self.longest:
                raise too_long(looked, self.capacity)
            self.filled += self._read(self.view[looked:], timeout_ns)
        message = self.decode(self.view[:end])
        self._drop(end + 1)
        if message.result is not None:
            return bytes(message.result)
        self.unanswered = message.id
        (data,) = message.params
        return bytes(data)


backend = Backend(
    "json-rpc-stdio", channel=_LinesChannel, limit="pipe", look=("#AA4499", "s"), brief=False
)
