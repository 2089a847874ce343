"""Worker functions that talk over a channel as tests want it: well, late, wrongly, or until they
are killed.
"""

import os
import signal
import time
from collections.abc import Callable, Sequence

from ipclab.backends.installed import backend as find
from ipclab.backends.interface import Channel
from ipclab.spawn.ledger import SHARED_MEMORY
from ipclab.spawn.proof import digest
from ipclab.spawn.worker import Worker
from ipclab.studies.joining import WAIT_NS
from ipclab.studies.round_trip.ends import channel_end, taker
from tests.support.commands import kernel_objects, left_of
from tests.support.payloads import payload

SHORT_NS = 20_000_000
# libuv counts milliseconds from when its loop last looked at the clock; the kernel ends a socket's wait
# by ticks, of which a guest that stood still gets several at once
EARLY_NS = 10_000_000


def echo(worker: Worker, backend: str, wait: str, sizes: list[int]) -> None:
    """Send messages of `sizes` there and back once for each way to receive, then one too long; see
    what is left, and wait on another channel for what does not come.
    """
    facts, before = worker.outcome.facts, kernel_objects()
    worker.meet()
    with channel_end(worker, backend, max(sizes), wait) as channel:
        facts["seen"] = _echoed(worker, channel, find(backend).receives, sizes)
        worker.meet()
        facts["too_long"] = error_of(lambda: channel.send(bytes(max(sizes) + 1), WAIT_NS))
        channel.close()
    worker.meet()
    facts["left"] = left_of(worker.prefix, worker.folder, before)
    worker.meet()
    _late(worker, backend, wait)


def _echoed(
    worker: Worker, channel: Channel, receives: Sequence[str], sizes: list[int]
) -> list[str]:
    """Return the digests of what came, in order."""
    seen = []
    for receive in receives:
        take = taker(channel, receive, max(sizes))
        for sequence, size in enumerate(sizes):
            if worker.role == "client":
                channel.send(payload(1, sequence, size), WAIT_NS)
            data = take(WAIT_NS)
            seen.append(digest(data))
            if worker.role == "server":
                channel.send(data, WAIT_NS)
            del data
    return seen


def _late(worker: Worker, backend: str, wait: str) -> None:
    """Wait for what does not come: the server for a question, the client for the answer to its own."""
    with channel_end(worker, backend, 100, wait) as channel:
        for waiting in ("server", "client"):
            if worker.role == waiting:
                if waiting == "client":
                    channel.send(b"question", WAIT_NS)
                begun = time.monotonic_ns()
                worker.outcome.facts["late"] = error_of(lambda: channel.recv(SHORT_NS))
                waited = time.monotonic_ns() - begun
                worker.outcome.facts["waited"] = SHORT_NS - EARLY_NS <= waited < WAIT_NS
            worker.meet()


def error_of(attempt: Callable[[], object]) -> str:
    """Return the name of the error that `attempt()` raises."""
    try:
        attempt()
    except Exception as error:
        return type(error).__name__
    return ""


def cut(worker: Worker, backend: str, wait: str) -> None:
    """The client cuts the shared memory short that both have mapped, and the server receives from
    it.
    """
    with channel_end(worker, backend, 100_000, wait) as channel:
        worker.meet()
        if worker.role == "client":
            channel.send(b"message", WAIT_NS)
            for path in SHARED_MEMORY.glob(f"{worker.prefix}-*"):
                os.truncate(path, 0)
            worker.meet()
        else:
            worker.meet()
            channel.recv(SHORT_NS)


def bereft(worker: Worker, backend: str, wait: str, victim: str) -> None:
    """Exchange a message; then role `victim` is killed while the other waits for the next one."""
    if worker.role != victim:
        with channel_end(worker, backend, 100, wait) as channel:
            worker.outcome.facts["first"] = exchange(worker, channel)
            if victim == "server":
                channel.send(b"question", WAIT_NS)
            worker.outcome.facts["error"] = error_of(lambda: channel.recv(WAIT_NS))
        worker.meet()
        return
    # A child of the worker is the end that dies, so that the launch itself goes on.
    child = os.fork()
    if child == 0:
        with channel_end(worker, backend, 100, wait) as channel:
            exchange(worker, channel)
            time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    worker.meet()


def exchange(worker: Worker, channel: Channel) -> str:
    """Send a message there and back; return it."""
    if worker.role == "client":
        channel.send(b"first", WAIT_NS)
        return channel.recv(WAIT_NS).decode()
    data = channel.recv(WAIT_NS)
    channel.send(data, WAIT_NS)
    return data.decode()


def chat(worker: Worker, backend: str) -> None:
    """Talk until killed."""
    size = 10_000 if not find(backend).refuses(10_000) else 1_000
    with channel_end(worker, backend, size, find(backend).waits[0]) as channel:
        while True:
            if worker.role == "client":
                channel.send(bytes(size), WAIT_NS)
                channel.recv(WAIT_NS)
            else:
                channel.send(channel.recv(WAIT_NS), WAIT_NS)
