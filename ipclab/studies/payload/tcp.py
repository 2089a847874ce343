"""The past called unmeasurable: TCP on loopback as v0.9 received it, and sound variants.

The v0.9 receiver (public in its authors' LDM-EKI repository) accepts a new connection for each
transfer, reads a header of three int32, then calls recv for at most 4,096 bytes and appends to a
bytes object until all has come.
"""

import hmac
import io
import pickle
import secrets
import socket
import struct
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from time import perf_counter_ns as clock
from typing import Any

import numpy as np

from ipclab.errors import LabError
from ipclab.spawn.loops import DISCARDED, LEAST_LONG, keep_parted, operations
from ipclab.spawn.proof import LOOKED, Numbered, pool_bytes, recorded
from ipclab.spawn.worker import Turns, Worker, zeros
from ipclab.store.launch import Samples
from ipclab.studies.payload.handover import END, START
from ipclab.studies.payload.published import floats

RECEIVES = {"recv-4096": 4096, "recv-1mib": 1 << 20, "recv-into": 0}
CODECS = {"raw": None, "pickle-5": 5, "pickle-0": 0}
TOKEN_BYTES = 8
# v0.9: members, receptors, steps; here: body bytes and the launch's token
HEADER = struct.Struct(f"<i{TOKEN_BYTES}s")
WAIT_SECONDS = 10.0
KNOCK_SECONDS = 0.5  # for whoever has connected to say the launch's token
BACKLOG = 8  # so that a stranger who waits keeps nobody out
PICKLED = {  # module -> what an array's pickle needs of it
    "numpy": ("ndarray", "dtype"),
    "numpy._core.multiarray": ("_reconstruct",),
    "numpy._core.numeric": ("_frombuffer",),
    "_codecs": ("encode",),
}


class ClosedError(LabError, ConnectionError):
    """The other end closed the connection: it may have told why."""


class ArrayUnpickler(pickle.Unpickler):
    """Unpickles NumPy arrays and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """Return a class that an array's pickle needs; raise `UnpicklingError` for any other."""
        if name not in PICKLED.get(module, ()):
            raise pickle.UnpicklingError(f"{module}.{name} is not part of an array")
        return super().find_class(module, name)


def numbered(worker: Worker, token: bytes, size: int, seed: int) -> Numbered:
    """Return an end's share of the proof; the messages are float32 but for their numbers."""
    content = floats(-(-pool_bytes(size) // 4) * 4, seed).tobytes()
    return Numbered(f"{worker.prefix} {token.hex()}", size, content)


def send(
    worker: Worker, size: int, seed: int, sampling: dict[str, int], codec: str, nodelay: str, connection: str,
    **others: object,
) -> Turns:  # fmt: skip
    """Be the sender: connect, send header and body; `START` is the clock before connecting."""
    token = secrets.token_bytes(TOKEN_BYTES)
    port = worker.meet(token=token.hex())["receiver"]["port"]
    link = _Sender(("127.0.0.1", port), token, CODECS[codec], nodelay == "on")
    if connection == "kept":
        link.keep()
    proof = numbered(worker, token, size, seed)
    count = DISCARDED + LEAST_LONG + LOOKED
    while (yield {"count": count}):
        plan, stamps = proof.plan(count), zeros(count)
        with worker.counting("send", count):
            for i in range(count):
                stamps[i] = link.transfer(np.frombuffer(proof.next(), np.float32))
        starts: Samples = np.frombuffer(stamps, np.int64)
        keep_parted(worker, START, starts, recorded(plan, DISCARDED))
        each_ns = float(np.median(np.diff(starts)))
        count = DISCARDED + operations(each_ns, **sampling) + LOOKED


@dataclass
class _Sender:
    address: tuple[str, int]
    token: bytes
    protocol: int | None
    nodelay: bool
    kept: socket.socket | None = None

    def keep(self) -> None:
        """Keep one connection, which says who is there before anything is timed."""
        self.kept = self._connect()
        self.kept.sendall(HEADER.pack(0, self.token))

    def _connect(self) -> socket.socket:
        link = socket.create_connection(self.address, timeout=WAIT_SECONDS)
        link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, self.nodelay)
        return link

    def transfer(self, data: Any) -> int:
        """Send `data`, wait until the receiver has it, and return the clock at the start."""
        start = clock()
        link = self.kept or self._connect()
        body = data if self.protocol is None else pickle.dumps(data, protocol=self.protocol)
        length = data.nbytes if self.protocol is None else len(body)
        link.sendall(HEADER.pack(length, self.token))
        link.sendall(body)
        if not link.recv(1):
            raise ClosedError("the receiver closed the connection", "it did not take the message")
        if not self.kept:
            link.close()
        return start


def receive(
    worker: Worker,
    size: int,
    seed: int,
    receive: str,
    codec: str,
    connection: str,
    **others: object,
) -> Turns:
    """Be the receiver; `END` is the clock when the array is there, before acknowledging."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=BACKLOG)
    listener.settimeout(WAIT_SECONDS)
    token = bytes.fromhex(worker.meet(port=listener.getsockname()[1])["sender"]["token"])
    link = _Receiver(listener, token, size, RECEIVES[receive], codec != "raw")
    if connection == "kept":
        link.kept, _ = link.accept()
    proof = numbered(worker, token, size, seed)
    while roles := (yield {}):
        plan = proof.plan(roles["sender"]["count"])
        stamps = zeros(len(plan))
        with worker.counting("receive", len(stamps)):
            for i, look in enumerate(plan):
                proof.next()
                stamps[i] = link.transfer(partial(proof.check, look=look))
        keep_parted(worker, END, np.frombuffer(stamps, np.int64), recorded(plan, DISCARDED))
    worker.outcome.facts |= proof.told()
    if link.strangers:
        worker.outcome.facts["strangers"] = link.strangers


@dataclass
class _Receiver:
    listener: socket.socket
    token: bytes
    size: int
    chunk: int
    pickled: bool
    strangers: int = 0
    kept: socket.socket | None = None

    def __post_init__(self) -> None:
        self.buffer = bytearray(self.size)  # of what is received into: an array, never a pickle

    def accept(self) -> tuple[socket.socket, int]:
        """Return the sender's next connection and the length in its header; drop strangers."""
        deadline = time.monotonic() + WAIT_SECONDS
        while time.monotonic() < deadline:
            link, _ = self.listener.accept()
            link.settimeout(KNOCK_SECONDS)
            with suppress(OSError, LabError):
                length = self._length(link)
                if length is not None:
                    link.settimeout(WAIT_SECONDS)
                    return link, length
            link.close()
            self.strangers += 1
        raise LabError("the sender did not connect in time", f"{self.strangers} strangers did")

    def _length(self, link: socket.socket) -> int | None:
        """Return the length in a header; None without the launch's token: read no more of it."""
        length, token = HEADER.unpack(_append(link.recv, HEADER.size, HEADER.size))
        return int(length) if hmac.compare_digest(token, self.token) else None

    def transfer(self, check: Callable[[memoryview], None]) -> int:
        """Return the clock when the array was complete; it is checked before the sender goes on."""
        link, length = (self.kept, self._length(self.kept)) if self.kept else self.accept()
        if length is None:
            raise LabError("the sender's header is wrong", "it lacks the launch's token")
        body = (
            self._into(link, length) if self.chunk == 0 else _append(link.recv, length, self.chunk)
        )
        array = (
            ArrayUnpickler(io.BytesIO(body)).load()
            if self.pickled
            else np.frombuffer(body, np.float32)
        )
        end = clock()
        check(array.data.cast("B"))
        link.sendall(b"k")
        if not self.kept:
            link.close()
        return end

    def _into(self, link: socket.socket, length: int) -> memoryview:
        view = memoryview(self.buffer)[:length]
        place = 0
        while place < length:
            got = link.recv_into(view[place:])
            if not got:
                raise ClosedError(
                    f"{place} of {length} bytes arrived", "the sender closed the connection"
                )
            place += got
        return view


def _append(recv: Callable[[int], bytes], length: int, chunk: int) -> bytes:
    data = b""
    while len(data) < length:
        packet = recv(min(chunk, length - len(data)))
        if not packet:
            raise ClosedError(
                f"{len(data)} of {length} bytes arrived", "the sender closed the connection"
            )
        data += packet
    return data
