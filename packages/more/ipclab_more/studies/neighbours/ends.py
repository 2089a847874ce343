"""A round trip with a neighbour: the echo, and one that asks beside a hog it has started."""

import ctypes
import time
from time import perf_counter_ns as clock
from typing import Any

import numpy as np

from ipclab.spawn.answered import Proof
from ipclab.spawn.loops import DISCARDED, fitting, keep, keep_parted, paced
from ipclab.spawn.proof import LOOKED
from ipclab.spawn.worker import Turns, Worker
from ipclab.studies.round_trip import ends
from ipclab.studies.round_trip.ends import INTENDED, OP, Trips, channel_end, closed_loop, warm_up
from ipclab_more.studies.neighbours.hogs import check_busy, hogs_on, take_class

LONGER = 5  # times as long as asked a turn may sample
PR_SET_TIMERSLACK = 29


def serve_beside_hog(worker: Worker, isolation: str, **how: Any) -> Turns:
    """Be the echoing end."""
    take_class(isolation, hog=False)
    yield from ends.serve(worker, arm="main", receive="bytes", touch="full", **how)


def ask_beside_hog(
    worker: Worker, backend: str, size: int, seed: int, wait: str, gap_ns: int, neighbour: str, hog: str,
    cpus: list[int], isolation: str, folder: str, budget_ns: int, least: int, most: int,
) -> Turns:  # fmt: skip
    """Be the asking end: time round trips in each turn, the hog at work."""
    with hogs_on(hog, cpus, isolation, folder) as hogs:
        take_class(isolation, hog=False)
        wake_in_time()
        with channel_end(worker, backend, size, wait) as channel:
            proof = Proof(worker, size)
            first, _ = closed_loop(channel, channel.recv, proof, warm_up(size))
            count = DISCARDED + fair(first, gap_ns, budget_ns, least, most) + LOOKED
            steps, spent_ns = 0, 0
            hogs.rest()
            while (yield {"count": count}):
                hogs.work()
                with worker.counting(OP, count):
                    before = hogs.steps()
                    begun = clock()
                    if gap_ns:
                        _one_by_one(worker, Trips(channel, channel.recv, proof, count), gap_ns)
                    else:
                        times, kept = closed_loop(channel, channel.recv, proof, count)
                        keep_parted(worker, OP, times, kept)
                    after = hogs.steps()
                    ended = clock()
                hogs.rest()
                steps += check_busy(neighbour, before, after)
                spent_ns += ended - begun
            worker.outcome.facts |= proof.told()
            worker.meet()
        if cpus:
            worker.outcome.facts["hog_steps"] = steps
            worker.outcome.facts["hog_steps_per_second"] = steps / (spent_ns / 1e9)


def wake_in_time() -> None:
    """Have timers of this process end when due: others have 50 us of slack, real-time none.

    See prctl(2), PR_SET_TIMERSLACK.
    """
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_TIMERSLACK, 1)


def fair(first: Any, gap_ns: int, budget_ns: int, least: int, most: int) -> int:
    """Return how many round trips a turn times in a launch that began with `first` (ns).

    As many as fit by the fastest, for of the others the neighbour had a part; but not for much
    longer than asked, where it has a part in more than two.
    """
    each_ns = int(np.sort(first)[:-2].mean() + gap_ns)
    most = min(most, max(least, LONGER * budget_ns // each_ns))
    return fitting(int(first.min()) + gap_ns, budget_ns, least, most)


def _one_by_one(worker: Worker, trips: Trips, period_ns: int) -> None:
    """Keep the times of round trips due every `period_ns`: trip, time since due, and waking up.

    The asking end sleeps in between, so that a neighbour on its CPU runs when the next one is due.
    """
    with trips.proof.going():
        due, starts, ends_at = paced(
            trips.go, len(trips.plan), period_ns, _sleep_until, trips.check
        )
    idle = np.maximum(due, np.concatenate([due[:1], ends_at[:-1]]))
    keep_parted(worker, OP, ends_at - starts, trips.kept)
    keep_parted(worker, INTENDED, ends_at - due, trips.kept)
    # from when it was due, and the one before was over, until this end runs
    keep(worker, "wake-up", (starts - idle)[trips.kept])


def _sleep_until(at_ns: int) -> None:
    time.sleep(max(0, at_ns - clock()) / 1e9)
