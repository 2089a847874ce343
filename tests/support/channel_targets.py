"""Worker functions that talk over a channel as tests want it: well, late, wrongly, or until they
are killed.
"""

import os
import signal
import time

from ipclab.backends.installed import backend as find
from ipclab.backends.interface import Channel, Data
from ipclab.spawn.answered import Proof
from ipclab.spawn.ledger import SHARED_MEMORY
from ipclab.spawn.proof import PayloadError, digest
from ipclab.spawn.worker import Worker
from ipclab.studies.joining import WAIT_NS
from ipclab.studies.round_trip import ends
from ipclab.studies.round_trip.ends import channel_end, taker
from tests.support.commands import kernel_objects, left_of
from tests.support.payloads import payload

SHORT_NS = 20_000_000
FAULTS = ("stale", "torn", "short", "duplicate")
TRIALS, TRIPS = 20, 6


def echo(worker: Worker, backend: str, wait: str, sizes: list[int]) -> None:
    """Send messages of `sizes` there and back once for each way to receive; hand over digests and
    what is left.
    """
    before = kernel_objects()
    worker.meet()
    seen = worker.outcome.facts["seen"] = list[str]()
    with channel_end(worker, backend, max(sizes), wait) as channel:
        for receive in find(backend).receives:
            take = taker(channel, receive, max(sizes))
            for sequence, size in enumerate(sizes):
                if worker.role == "client":
                    channel.send(payload(1, sequence, size), WAIT_NS)
                data = take(WAIT_NS)
                seen.append(digest(data))
                if worker.role == "server":
                    channel.send(data, WAIT_NS)
                del data
        worker.meet()
        worker.outcome.facts["too_long"] = error_of(
            lambda: channel.send(bytes(max(sizes) + 1), WAIT_NS)
        )
        channel.close()
    worker.meet()
    worker.outcome.facts["left"] = left_of(worker.prefix, worker.folder, before)


def error_of(attempt: object) -> str:
    """Return the name of the error that `attempt()` raises."""
    try:
        attempt()  # type: ignore[operator]
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


def late(worker: Worker, backend: str, wait: str) -> None:
    """Wait for what does not come: the server for a question, the client for the answer to its own."""
    with channel_end(worker, backend, 100, wait) as channel:
        for waiting in ("server", "client"):
            if worker.role == waiting:
                if waiting == "client":
                    channel.send(b"question", WAIT_NS)
                begun = time.monotonic_ns()
                worker.outcome.facts["error"] = error_of(lambda: channel.recv(SHORT_NS))
                worker.outcome.facts["waited"] = time.monotonic_ns() - begun >= SHORT_NS
            worker.meet()


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


def deserted(worker: Worker, backend: str, victim: str) -> None:
    """Exchange a message; then role `victim` kills itself while the other waits for the next one."""
    with channel_end(worker, backend, 100, find(backend).waits[0]) as channel:
        exchange(worker, channel)
        if worker.role == victim:
            os.kill(os.getpid(), signal.SIGKILL)
        channel.recv(WAIT_NS)


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


class Faulty:
    """A channel that receives message number `at` wrongly, as `fault` says, and goes on."""

    def __init__(self, channel: Channel, fault: str, at: int) -> None:
        self.channel, self.fault, self.at = channel, fault, at
        self.seen: list[bytes] = []

    def recv(self, timeout_ns: int) -> Data:
        data = self.channel.recv(timeout_ns)
        self.seen.append(data)
        number = len(self.seen) - 1
        if number == self.at:
            return self._wrong(data)
        if self.fault == "duplicate" and number > self.at:
            return self.seen[-2]
        return data

    def _wrong(self, data: bytes) -> bytes:
        before, half = self.seen[-2], len(data) // 2
        return {
            "stale": before,
            "torn": data[:half] + before[half:],
            "short": data[:-1],
            "duplicate": before,
        }[self.fault]


def faulty(worker: Worker, backend: str, size: int) -> None:
    """Make round trips `TRIALS` times for each fault, every time with the fault at another message;
    note how many messages were found wrong in each trial.
    """
    with channel_end(worker, backend, size, find(backend).waits[0]) as channel:
        proof = Proof(worker, size)
        for fault in FAULTS:
            for trial in range(TRIALS):
                if worker.role == "server":
                    ends.echo(channel, channel.recv, proof, TRIPS)
                    continue
                wrong, found = Faulty(channel, fault, 1 + trial % (TRIPS - 1)), []
                for look in proof.plan(TRIPS):
                    channel.send(proof.next(), WAIT_NS)
                    try:
                        proof.check(wrong.recv(WAIT_NS), look)
                    except PayloadError:
                        found.append(len(wrong.seen) - 1)
                worker.outcome.facts.setdefault(fault, []).append(found)
        worker.meet()
