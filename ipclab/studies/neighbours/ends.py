"""The two processes of a round trip with a neighbour: the echo, and one that asks beside a hog that it has started."""

import time
from time import perf_counter_ns as clock
from typing import Any

import numpy as np

from ipclab.backends.interface import Channel
from ipclab.spawn.loops import fitting, keep
from ipclab.spawn.proof import payload
from ipclab.spawn.worker import Worker, zeros
from ipclab.studies.neighbours.hogs import beside, check_busy, take_class
from ipclab.studies.round_trip import ends
from ipclab.studies.round_trip.ends import INTENDED, OP, PROOF_MESSAGES, WAIT_NS, closed_loop, opened, prove, warm_up

LONGER = 5  # times as long as asked a launch may sample


def serve(worker: Worker, isolation: str, **how: Any) -> None:
    """Be the echoing end."""
    take_class(isolation, hog=False)
    ends.serve(worker, arm="main", receive="bytes", touch="full", **how)


def ask(
    worker: Worker, backend: str, size: int, seed: int, wait: str, gap_ns: int, neighbour: str, hog: str,
    cpus: list[int], isolation: str, folder: str, budget_ns: int, least: int, most: int,
) -> None:  # fmt: skip
    """Be the asking end: with the hog at work, warm up, agree on a count, time as many round trips, and prove them."""
    with beside(hog, cpus, isolation, folder) as work:
        take_class(isolation, hog=False)
        with opened(worker, backend, size, wait) as channel:
            content = payload(seed, 0, size)
            first = np.diff(closed_loop(channel, channel.recv, content, warm_up(size), None))
            count = fair(first, gap_ns, budget_ns, least, most)
            worker.meet(count=count)
            with worker.counting(OP, count):
                before, begun = work(), clock()
                if gap_ns:
                    times = _paced(worker, channel, content, count, gap_ns)
                else:
                    times = np.diff(closed_loop(channel, channel.recv, content, count, None))
                after, ended = work(), clock()
            keep(worker, OP, times)
            worker.outcome.proof = prove(channel, seed, size, PROOF_MESSAGES)
            worker.meet()
        done = check_busy(neighbour, before, after)  # at last, so that it is this end that fails, and says why
        if cpus:
            worker.outcome.facts |= {"hog_steps": done, "hog_steps_per_second": done / ((ended - begun) / 1e9)}


def fair(first: Any, gap_ns: int, budget_ns: int, least: int, most: int) -> int:
    """Return how many round trips a launch times that began with `first` (ns).

    As many as fit by the fastest, for of the others the neighbour had a part; but not for much longer than asked, where
    it has a part in more than two.
    """
    each = int(np.sort(first)[:-2].mean() + gap_ns)
    return fitting(int(first.min()) + gap_ns, budget_ns, least, min(most, max(least, LONGER * budget_ns // each)))


def _paced(worker: Worker, channel: Channel, content: bytes, count: int, period_ns: int) -> Any:
    """Return the same of round trips that begin every `period_ns`; what each took from its due time is kept beside.

    The asking end sleeps in between, so that a neighbour on its CPU runs when the next one is due.
    """
    due, starts, stops = zeros(count), zeros(count), zeros(count)
    send, take, at = channel.send, channel.recv, clock()
    for i in range(count):
        at = max(at + period_ns, clock())  # what is late delays what follows, and is counted once
        due[i] = at
        time.sleep(max(0, at - clock()) / 1e9)
        starts[i] = clock()
        send(content, WAIT_NS)
        take(WAIT_NS)
        stops[i] = clock()
    done = np.frombuffer(stops, np.int64)
    keep(worker, INTENDED, done - np.frombuffer(due, np.int64))
    return done - np.frombuffer(starts, np.int64)
