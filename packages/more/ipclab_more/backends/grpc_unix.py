"""gRPC over a Unix socket in the session's private folder.

A round trip is a unary call, as most programs use gRPC. A stream is one call, whose requests and
answers are two streams.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any

from ipclab.backends.interface import Backend, Channel, Data, Place, too_long
from ipclab.backends.library import Library
from ipclab.backends.sockets import socket_path
from ipclab.backends.waiting import Peer, closed, until

SERVICE, METHOD = "ipclab", "exchange"
# of any length
OPTIONS = ("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)
DEPTH = 16  # messages that wait at an end; gRPC's own windows come on top
SECOND = 1.0
grpc = Library("grpcio", "grpc")


class _GrpcChannel(Channel):
    """Messages go through gRPC's threads: one fills `inbox`, one takes from `outbox`."""

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.inbox: Queue[bytes | None] = Queue(DEPTH)  # None: no more comes
        self.outbox: Queue[bytes | None] = Queue(DEPTH)
        self.here, self.gone = Event(), Event()
        self.path = socket_path(place)
        self.held.callback(self._end)
        if create:
            self._serve(self._handler())

    def _handler(self) -> Any:
        return grpc.stream_stream_rpc_method_handler(self._answer)  # of bytes, as they are

    def _serve(self, call: Any) -> None:
        server = grpc.server(ThreadPoolExecutor(1), options=OPTIONS)
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(SERVICE, {METHOD: call}),)
        )
        server.add_insecure_port(f"unix:{self.path}")
        self.guard(self.path)
        server.start()
        self.held.callback(lambda: server.stop(0).wait(SECOND))

    def _answer(self, requests: Iterator[bytes], context: Any) -> Iterator[bytes]:
        self._take(requests)
        return self._sent()

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        """Make the call, or wait for it."""
        self.peer = peer
        if self.create:
            if not self.here.wait(timeout_ns / 1e9):
                raise TimeoutError("the other end did not come in time")
            return
        call = self._connected().stream_stream(f"/{SERVICE}/{METHOD}")(
            self._sent(), wait_for_ready=True
        )
        self.held.callback(call.cancel)
        self._take(call)

    def _connected(self) -> Any:
        """Return gRPC's end of the socket, which is closed with this channel."""
        channel = grpc.insecure_channel(f"unix:{self.path}", options=OPTIONS)
        return self.held.enter_context(channel)

    def _take(self, messages: Iterable[bytes]) -> None:
        """Have a thread put what comes into the inbox, and its end."""

        def run() -> None:
            with suppress(Exception):  # however the call has ended, no more comes
                for message in messages:
                    self.inbox.put(message)
            self.gone.set()
            self.inbox.put(None)

        Thread(target=run, daemon=True).start()
        self.here.set()

    def _sent(self) -> Iterator[bytes]:
        return iter(self.outbox.get, None)

    def _end(self) -> None:
        """Let the threads go that wait at the queues: the call has ended."""
        with suppress(Full):
            self.outbox.put_nowait(None)
        with suppress(Empty):
            while self.here.is_set() and self.inbox.get(timeout=SECOND) is not None:
                pass

    def send(self, data: Data, timeout_ns: int) -> None:
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        if self.gone.is_set():
            raise closed()
        message = bytes(data)
        put = self.outbox.put
        until(lambda left_ns: put(message, True, left_ns / 1e9), timeout_ns, self.peer, Full)

    def recv(self, timeout_ns: int) -> bytes:
        get = self.inbox.get
        message = until(lambda left_ns: get(True, left_ns / 1e9), timeout_ns, self.peer, Empty)
        if message is None:
            self.inbox.put_nowait(None)  # for whoever asks again
            raise closed()
        return message


class _UnaryChannel(_GrpcChannel):
    """The asking end's `recv` makes the call with what was sent and blocks until answered.

    At the serving end, gRPC's thread gives the request to the one that receives, and waits for what
    that one sends.
    """

    call: Any = None
    question: bytes | None = None

    def _handler(self) -> Any:
        return grpc.unary_unary_rpc_method_handler(self._reply)

    def _reply(self, request: bytes, context: Any) -> bytes:
        self.inbox.put(request)
        answer = self.outbox.get()
        if answer is None:
            context.abort(grpc.StatusCode.UNAVAILABLE, "the serving end has closed")
        return answer or b""

    def accept(self, peer: Peer, timeout_ns: int) -> None:
        self.peer = peer
        if self.create:
            return
        channel = self._connected()
        ready = grpc.channel_ready_future(channel)
        try:
            ready.result(timeout_ns / 1e9)
        except grpc.FutureTimeoutError as error:
            raise TimeoutError("the other end did not come in time") from error
        finally:
            ready.cancel()
        self.call = channel.unary_unary(f"/{SERVICE}/{METHOD}")

    def send(self, data: Data, timeout_ns: int) -> None:
        if self.create:
            super().send(data, timeout_ns)
            return
        if len(data) > self.capacity:
            raise too_long(len(data), self.capacity)
        self.question = bytes(data)

    def recv(self, timeout_ns: int) -> bytes:
        if self.create:
            return super().recv(timeout_ns)
        if self.question is None:
            raise ValueError("an answer takes a question")
        question, self.question = self.question, None
        try:
            answer: bytes = self.call(question, timeout=timeout_ns / 1e9)
        except grpc.RpcError as error:
            if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
                raise TimeoutError("the other end did not come in time") from error
            raise closed() from error
        return answer


backend = Backend(
    "grpc-unix",
    channel=_UnaryChannel,
    stream=_GrpcChannel,
    missing=grpc.missing,
    limit="unix",
    look=("#E69F00", "D"),
    brief=False,
)
