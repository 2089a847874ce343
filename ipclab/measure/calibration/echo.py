"""The two processes of a calibrating launch: an echo over a Unix socket, with a planted delay in it.

Imports little: it is loaded anew by every launch.
"""

import socket
from time import perf_counter_ns as clock

from ipclab.spawn.worker import Worker, zeros

SIZE = 100  # bytes
WARM_UP = 10
SAMPLES = "round-trip"


def _path(worker: Worker) -> str:
    return f"{worker.folder}/{worker.prefix.rpartition('-')[2]}-echo"


def serve(worker: Worker, count: int, spin_ns: int) -> None:
    """Be the echoing end: answer `count` messages after the warm-up, each `spin_ns` later than it could."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(_path(worker))
        listening.listen(1)
        worker.meet()
        sock, _ = listening.accept()
    with sock:
        for _ in range(WARM_UP + count):
            data = sock.recv(SIZE, socket.MSG_WAITALL)
            end = clock() + spin_ns  # also without a delay, so that only its length differs
            while clock() < end:
                pass
            sock.sendall(data)
        worker.meet()


def ask(worker: Worker, count: int) -> None:
    """Be the asking end: keep the times of `count` round trips in ns."""
    worker.meet()
    message, stamps = bytes(range(SIZE)), zeros(WARM_UP + count + 1)
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(_path(worker))
        stamps[0] = clock()
        for i in range(1, len(stamps)):
            sock.sendall(message)
            if sock.recv(SIZE, socket.MSG_WAITALL) != message:
                raise ConnectionError("the answer is not what was asked")
            stamps[i] = clock()
        worker.meet()
    for i in range(len(stamps) - 1, 0, -1):
        stamps[i] -= stamps[i - 1]
    worker.outcome.samples[SAMPLES] = stamps[WARM_UP + 1 :]
