"""Worker functions that only tests launch: they meet, hang, die, raise, leave things behind and
lie.
"""

import os
import pickle
import signal
import socket
import struct
import sys
import time
from pathlib import Path
from typing import Any

from ipclab.errors import LabError
from ipclab.spawn.proof import Numbered
from ipclab.spawn.worker import Turns, Worker, zeros
from ipclab.studies.payload import tcp

LONG = 600.0
FAULTY = 4  # the number of a message that arrives wrong


def echo(worker: Worker, values: list[int]) -> None:
    """Meet the peers, then hand back `values`, what was met, and where this process runs."""
    met = worker.meet(pid=os.getpid())
    samples = zeros(len(values))
    for i, value in enumerate(values):
        samples[i] = value
    worker.outcome.samples["op"] = samples
    worker.outcome.counters["op"] = {"minor_faults": 2.5}
    worker.outcome.facts = {"met": met, "cpus": sorted(os.sched_getaffinity(0)), "pid": os.getpid()}


def count(worker: Worker, many: int) -> None:
    """Hand back `many` samples: 0, 1, 2 ..."""
    samples = zeros(many)
    for i in range(many):
        samples[i] = i
    worker.outcome.samples["op"] = samples


def tell_parent(worker: Worker) -> None:
    worker.outcome.facts["parent"] = os.getppid()


def hang(worker: Worker) -> None:
    """Say so and sleep."""
    print("stuck in the queue", file=sys.stderr, flush=True)
    time.sleep(LONG)


def meet(worker: Worker) -> None:
    """Wait for a peer."""
    worker.meet()


def die(worker: Worker, sign: int) -> None:
    """Die by signal `sign`."""
    print("last words", file=sys.stderr, flush=True)
    os.kill(os.getpid(), sign)
    time.sleep(LONG)


def leave(worker: Worker, code: int) -> None:
    """Exit with `code` without a word to the launcher."""
    print("giving up", file=sys.stderr, flush=True)
    os._exit(code)


def refuse(worker: Worker) -> None:
    """Raise an error that is not ours."""
    raise ValueError("no such level")


def refuse_clearly(worker: Worker) -> None:
    """Raise one that is."""
    raise LabError("the disk is full", "0 bytes are free", "free some")


def killer(worker: Worker) -> None:
    """Kill the fork server, whose child this process is, once everybody runs."""
    time.sleep(0.2)
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(LONG)


def stopper(worker: Worker) -> None:
    """Stop the fork server, so that it answers no more."""
    time.sleep(0.2)
    os.kill(os.getppid(), signal.SIGSTOP)
    time.sleep(LONG)


def litter(worker: Worker) -> None:
    """Leave shared names and a socket file behind, then die."""
    for name in (worker.name("segment"), f"sem.{worker.name('full')}"):
        Path("/dev/shm", name).write_bytes(b"left")
    socket.socket(socket.AF_UNIX).bind(f"{worker.folder}/{worker.prefix.rpartition('-')[2]}-socket")
    os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(LONG)


def litter_and_hang(worker: Worker) -> None:
    """Leave a shared name and a socket file, say so, and sleep."""
    Path("/dev/shm", worker.name("segment")).write_bytes(b"left")
    socket.socket(socket.AF_UNIX).bind(f"{worker.folder}/socket")
    time.sleep(LONG)


def send_planted(worker: Worker, fault: str, **arguments: Any) -> Turns:
    """Be the TCP arm's sender, whose fourth message is the one of two before, or half the last one;
    nobody else is in this process.
    """

    class Lying(Numbered):
        def next(self) -> memoryview:
            true, number, half = bytes(super().next()), self.made - 1, self.size // 2
            if number != FAULTY:
                return memoryview(true)
            before, last = (bytes(self.messages.at(number - back)) for back in (2, 1))
            self.messages.at(number)
            wrong = bytes([true[half] ^ 1])  # of random bytes one in 256 would be right by chance
            lies = {"stale": before, "torn": true[:half] + wrong + last[half + 1 :]}
            return memoryview(lies[fault])

    vars(tcp)["Numbered"] = Lying
    return tcp.send(worker, **arguments)


class Evil:
    """Unpickled by anything but `ArrayUnpickler`, it makes the file `path`."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return os.system, (f"touch {self.path}",)


def evil_sender(worker: Worker, path: str) -> Turns:
    """Be a sender that sends a pickle which runs a command."""
    token = b"evil key"
    port = worker.meet(token=token.hex())["receiver"]["port"]
    yield {"count": 1}
    body = pickle.dumps(Evil(path))
    with socket.create_connection(("127.0.0.1", port), timeout=5) as link:
        link.sendall(tcp.HEADER.pack(len(body), token) + body)
        link.recv(1)
    worker.meet()


def send_among_strangers(worker: Worker, **arguments: Any) -> Turns:
    """Be the TCP arm's sender, but let five strangers connect first, in every way that is wrong."""
    meet, strangers = worker.meet, []

    def then_strangers(**published: Any) -> dict[str, dict[str, Any]]:
        met = meet(**published)
        if "token" in published:
            for said in (os.urandom(4096), tcp.HEADER.pack(84, b"guess"), b"ab", None, b""):
                link = socket.create_connection(("127.0.0.1", met["receiver"]["port"]), timeout=5)
                link.sendall(said or b"")
                strangers.append(link)
                if said is None:
                    link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    link.close()
        return met

    worker.meet = then_strangers  # type: ignore[method-assign]
    return tcp.send(worker, **arguments)
