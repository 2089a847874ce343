"""The two processes of a calibrating launch: so many exchanges through one mechanism make one
operation.

A slow-down is planted by further exchanges, so that it is a share of whatever the machine takes.
"""

from time import perf_counter_ns as clock

import numpy as np

from ipclab.spawn.loops import DISCARDED, keep, operations
from ipclab.spawn.worker import Turns, Worker, zeros
from ipclab.studies.joining import WAIT_NS
from ipclab.studies.round_trip.ends import opened

SIZE = 100  # bytes
EXCHANGES = 10  # of an operation without a planted slow-down
OP = "exchange"
USUAL = "unix"  # the mechanism
WAIT = "block"


def serve(worker: Worker, backend: str = USUAL) -> Turns:
    """Be the echoing end."""
    with opened(worker, backend, SIZE, WAIT) as channel:
        while roles := (yield {}):
            for _ in range(roles["client"]["exchanges"]):
                channel.send(channel.recv(WAIT_NS), WAIT_NS)
        worker.meet()  # the other end is done: nothing is closed under it


def ask(
    worker: Worker, exchanges: int, budget_ns: int, least: int, most: int, backend: str = USUAL
) -> Turns:
    """Be the asking end: in each turn, time as many operations of `exchanges` each as fit into
    `budget_ns`.
    """
    message = bytes(range(SIZE))
    with opened(worker, backend, SIZE, WAIT) as channel:
        count = DISCARDED + least
        while (yield {"exchanges": count * exchanges}):
            stamps = zeros(count + 1)
            stamps[0] = clock()
            for i in range(1, count + 1):
                for _ in range(exchanges):
                    channel.send(message, WAIT_NS)
                    if channel.recv(WAIT_NS) != message:
                        raise ConnectionError("the answer is not what was asked")
                stamps[i] = clock()
            times = np.diff(np.frombuffer(stamps, np.int64))[DISCARDED:]
            keep(worker, OP, times)
            count = DISCARDED + operations(float(np.median(times)), budget_ns, least, most)
        worker.meet()
