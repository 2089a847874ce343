"""The published programs of a round trip: the package shm-rpc-bridge, and its rival ZeroMQ.

As published (methods: text 003): the server echoes raw bytes; segments have 2,500,000 bytes and are
mapped once; 100 round trips warm up, the others lie inside one pair of clock reads; ZeroMQ's are
REQ and REP over a Unix socket, with copies. The package's code is as it comes. Its own clean-up,
which removes the segments of every program that uses it, is never called: the ledger knows its
names.
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter_ns as clock
from typing import Any

import numpy as np

from ipclab.backends.interface import Place
from ipclab.paths import typed
from ipclab.spawn.answered import Proof
from ipclab.spawn.loops import fitting, keep
from ipclab.spawn.worker import Worker
from ipclab.studies.round_trip.ends import OP

PACKAGE, VERSION = "shm-rpc-bridge", "0.2.4"
WARM_UP, ROUND_TRIPS = 100, 50_000
PROVED = 16  # round trips after those
BUFFER_BYTES, WAIT_SECONDS = 2_500_000, 10.0
Send = Callable[[bytes], object]
Take = Callable[[], bytes]


def program_missing(backend: str) -> str | None:
    """Return why the published program of `backend` cannot run here, and the fix, or None."""
    with suppress(PackageNotFoundError):
        if backend != PACKAGE or version(PACKAGE) == VERSION:
            return None
    return f"the package {PACKAGE} {VERSION} is not installed; {typed('setup')}"


@contextmanager
def _bridge(worker: Worker, size: int) -> Iterator[tuple[Send, Take]]:
    from shm_rpc_bridge.transport.transport_posix import SharedMemoryTransportPosix as Transport

    serves = worker.role == "server"
    make = Transport.create if serves else Transport.open
    room = max(BUFFER_BYTES, size + Transport.HEADER_SIZE)
    with closing(make(worker.name("published"), room, WAIT_SECONDS)) as transport:
        if serves:
            yield transport.send_response, transport.receive_request
        else:
            yield transport.send_request, transport.receive_response


@contextmanager
def _zmq(worker: Worker, size: int) -> Iterator[tuple[Send, Take]]:
    import zmq

    serves = worker.role == "server"
    with zmq.Context() as context, context.socket(zmq.REP if serves else zmq.REQ) as link:
        link.linger = 0
        path = Place(worker.prefix, worker.folder, size).path("published")
        (link.bind if serves else link.connect)(f"ipc://{path}")
        yield link.send, link.recv


PROGRAMS = {PACKAGE: _bridge, "zmq-ipc": _zmq}


@contextmanager
def _opened(worker: Worker, backend: str, size: int) -> Iterator[tuple[Send, Take]]:
    """Give how to send and how to receive, once the server's end is there."""
    if worker.role != "server":
        worker.meet()
    with PROGRAMS[backend](worker, size) as ends:
        if worker.role == "server":
            worker.meet()
        yield ends
        worker.meet()  # the other end is done: nothing is closed under it


def serve_as_published(worker: Worker, backend: str, size: int, **others: object) -> None:
    """Echo the warm-up, as many round trips as the other end says, and the proof."""
    with _opened(worker, backend, size) as (send, take):
        _echo(send, take, WARM_UP)
        count = worker.meet()["client"]["count"]
        with worker.counting(OP, count):
            _echo(send, take, count)
        proof = Proof(worker, size)
        for look in proof.plan(PROVED):
            data = take()
            send(bytes(proof.answer(data, look)))


def _echo(send: Send, take: Take, count: int) -> None:
    """Hold each message until the next came, as published: freed, ZeroMQ's may go back."""
    for _ in range(count):
        data = take()
        send(data)


def ask_as_published(worker: Worker, backend: str, size: int, **how: Any) -> None:
    """Warm up, agree on a count, keep the mean of that many trips as the sample; then the proof.

    The published loop sends one constant and looks at nothing: what it times is not looked at.
    """
    content = b"A" * size
    with _opened(worker, backend, size) as (send, take):
        each_ns = _total(send, take, content, WARM_UP) // WARM_UP
        count = fitting(each_ns, how["budget_ns"], how["least"], how["most"])
        worker.meet(count=count)
        with worker.counting(OP, count):
            total = _total(send, take, content, count)
        proof = Proof(worker, size)
        for look in proof.plan(PROVED):
            send(bytes(proof.next()))
            proof.check(proof.arrive(take()), look)
    keep(worker, OP, np.array([round(total / count)], np.int64))
    per_second = count / (total / 1e9)
    worker.outcome.facts |= {"iterations": count, "total_ns": total}
    worker.outcome.facts["round_trips_per_second"] = per_second


def _total(send: Send, take: Take, content: bytes, count: int) -> int:
    start = clock()
    for _ in range(count):
        send(content)
        _ = take()  # held as long, too
    return clock() - start
