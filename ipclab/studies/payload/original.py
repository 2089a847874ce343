"""The receiver of v0.9 as it was: what its authors' repository shows, and nothing more in the timed part.

A receiver makes a socket, binds and listens for each transfer, accepts one connection, takes a
header of three int32, appends what `recv` gives until all has come, and closes both. `recv` asks
for at most 4,096 bytes, or, as another receiver of the repository does, for all that is left.
Arm `tcp` differs: its listener stays, and each header carries a token, which is compared.

Who has connected is asked outside the timed part: over a connection that is kept, whose first
message has the launch's token, the sender says afterwards which port it came from.
"""

import secrets
import socket
import struct
from time import perf_counter_ns as clock

import numpy as np

from ipclab.errors import LabError
from ipclab.spawn.loops import DISCARDED, LEAST_LONG, keep, operations
from ipclab.spawn.proof import LOOKED, recorded
from ipclab.spawn.worker import Turns, Worker, zeros
from ipclab.store.launch import Samples
from ipclab.studies.payload.handover import END, START
from ipclab.studies.payload.tcp import (
    BACKLOG,
    TOKEN_BYTES,
    WAIT_SECONDS,
    ClosedError,
    _append,
    _Receiver,
    _Sender,
    numbered,
)

SHAPE = struct.Struct("<3i")  # members, receptors, steps
PORT = struct.Struct("<H")
LOOPBACK = "127.0.0.1"
MOST = {"recv-4096": 4096, "recv-rest": 1 << 30}  # bytes that one `recv` asks for


def send_as_v09(
    worker: Worker, size: int, seed: int, sampling: dict[str, int], **others: object
) -> Turns:
    """Be the sender: `START` is the clock before it connects."""
    token = secrets.token_bytes(TOKEN_BYTES)
    port = worker.meet(token=token.hex())["receiver"]["port"]
    side = _Sender((LOOPBACK, port), token, None, nodelay=False)
    side.keep()
    assert side.kept is not None  # noqa: S101  for the type checker
    proof, shape = numbered(worker, token, size, seed), SHAPE.pack(1, 1, size // 4)
    count = DISCARDED + LEAST_LONG + LOOKED
    while (yield {"count": count}):
        plan, stamps = proof.plan(count), zeros(count)
        with worker.counting("send", count):
            for i in range(count):
                data = proof.next()
                where = LOOPBACK, *PORT.unpack(_append(side.kept.recv, PORT.size, PORT.size))
                stamps[i] = clock()
                with socket.socket() as link:
                    link.settimeout(WAIT_SECONDS)
                    link.connect(where)
                    link.sendall(shape)
                    link.sendall(data)
                    own = link.getsockname()[1]
                side.kept.sendall(PORT.pack(own))
        starts: Samples = np.frombuffer(stamps, np.int64)
        keep(worker, START, starts[recorded(plan, DISCARDED)])
        each_ns = float(np.median(np.diff(starts)))
        count = DISCARDED + operations(each_ns, **sampling) + LOOKED


def receive_as_v09(worker: Worker, size: int, seed: int, receive: str, **others: object) -> Turns:
    """Be the receiver; `END` is the clock when the array is there.

    Raises `LabError` when somebody else had connected.
    """
    with socket.create_server((LOOPBACK, 0), backlog=BACKLOG) as listener:
        listener.settimeout(WAIT_SECONDS)
        token = bytes.fromhex(worker.meet(port=listener.getsockname()[1])["sender"]["token"])
        said, _ = _Receiver(listener, token, size, 0, pickled=False).accept()
    proof = numbered(worker, token, size, seed)
    with said:
        while roles := (yield {}):
            plan = proof.plan(roles["sender"]["count"])
            stamps = zeros(len(plan))
            with worker.counting("receive", len(stamps)):
                for i, look in enumerate(plan):
                    proof.next()
                    array, stamps[i], peer = _transfer(said, MOST[receive])
                    if PORT.unpack(_append(said.recv, PORT.size, PORT.size)) != (peer,):
                        raise LabError("a transfer is not of its sender", "somebody else connected")
                    proof.check(array.data.cast("B"), look)
            keep(worker, END, np.frombuffer(stamps, np.int64)[recorded(plan, DISCARDED)])
    worker.outcome.facts |= proof.told()


def _transfer(said: socket.socket, most: int) -> tuple[np.ndarray, int, int]:
    """Return the array, the clock when it was there, and the port that it came from."""
    with socket.socket() as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.settimeout(WAIT_SECONDS)
        bound.bind((LOOPBACK, 0))
        bound.listen(1)
        said.sendall(PORT.pack(bound.getsockname()[1]))
        link, address = bound.accept()
        with link:
            link.settimeout(WAIT_SECONDS)
            header = link.recv(SHAPE.size)
            if len(header) != SHAPE.size:
                raise ClosedError(f"{len(header)} bytes arrived", "a header has 12")
            members, receptors, steps = SHAPE.unpack(header)
            length = members * receptors * steps * 4
            array = np.frombuffer(_append(link.recv, length, most), np.float32)
            array = array.reshape(members, receptors, steps)
            return array, clock(), address[1]
