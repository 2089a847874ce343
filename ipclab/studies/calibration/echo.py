"""The two processes of a calibrating launch: so many exchanges over a Unix socket make one operation.

A slow-down is planted by further exchanges, so that it is a share of whatever the machine takes.
"""

import socket
from time import perf_counter_ns as clock

import numpy as np

from ipclab.spawn.loops import DISCARDED, keep, operations
from ipclab.spawn.worker import Turns, Worker, zeros

SIZE = 100  # bytes
EXCHANGES = 10  # of an operation without a planted slow-down
OP = "exchange"


def _path(worker: Worker) -> str:
    return f"{worker.folder}/{worker.prefix.rpartition('-')[2]}-echo"


def serve(worker: Worker) -> Turns:
    """Be the echoing end."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(_path(worker))
        listening.listen(1)
        worker.meet()
        sock, _ = listening.accept()
    with sock:
        while roles := (yield {}):
            for _ in range(roles["client"]["exchanges"]):
                sock.sendall(sock.recv(SIZE, socket.MSG_WAITALL))


def ask(worker: Worker, exchanges: int, budget_ns: int, least: int, most: int) -> Turns:
    """Be the asking end: in each turn, time as many operations of `exchanges` each as fit into `budget_ns`."""
    worker.meet()
    message = bytes(range(SIZE))
    with socket.socket(socket.AF_UNIX) as sock:
        sock.connect(_path(worker))
        count = DISCARDED + least
        while (yield {"exchanges": count * exchanges}):
            stamps = zeros(count + 1)
            stamps[0] = clock()
            for i in range(1, count + 1):
                for _ in range(exchanges):
                    sock.sendall(message)
                    if sock.recv(SIZE, socket.MSG_WAITALL) != message:
                        raise ConnectionError("the answer is not what was asked")
                stamps[i] = clock()
            times = np.diff(np.frombuffer(stamps, np.int64))[DISCARDED:]
            keep(worker, OP, times)
            count = DISCARDED + operations(float(np.median(times)), budget_ns, least, most)
