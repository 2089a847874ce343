"""The two processes of a calibrating launch: so many exchanges over a Unix socket make one operation.

A slow-down is planted by further exchanges, so that it is a share of whatever the machine takes.
"""

import socket
from time import perf_counter_ns as clock

from ipclab.spawn.loops import repeats
from ipclab.spawn.worker import Worker, zeros

SIZE = 100  # bytes
EXCHANGES = 10  # of an operation without a planted slow-down
OP = "exchange"


def _path(worker: Worker) -> str:
    return f"{worker.folder}/{worker.prefix.rpartition('-')[2]}-echo"


def serve(worker: Worker) -> None:
    """Be the echoing end: answer until the asking end closes."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(_path(worker))
        listening.listen(1)
        worker.meet()
        sock, _ = listening.accept()
    with sock:
        while data := sock.recv(SIZE, socket.MSG_WAITALL):
            sock.sendall(data)
    worker.meet()


def ask(worker: Worker, exchanges: int, budget_ns: int, least: int, most: int) -> None:
    """Be the asking end: keep the times in ns of operations of `exchanges` each, as many as fit into `budget_ns`."""
    worker.meet()
    message = bytes(range(SIZE))
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(_path(worker))

        def operation() -> None:
            for _ in range(exchanges):
                sock.sendall(message)
                if sock.recv(SIZE, socket.MSG_WAITALL) != message:
                    raise ConnectionError("the answer is not what was asked")

        stamps = zeros(repeats(operation, budget_ns, least, most) + 1)
        stamps[0] = clock()
        for i in range(1, len(stamps)):
            operation()
            stamps[i] = clock()
    worker.meet()
    for i in range(len(stamps) - 1, 0, -1):
        stamps[i] -= stamps[i - 1]
    worker.outcome.samples[OP] = stamps[1:]
