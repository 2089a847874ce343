"""The two ends of a spin window: an echo, and one that asks after a gap and keeps what it costs.

CPU time and sleeps are of the waits and the work between a question and its answer: of the asking
end without its gaps, in which a program does something else; of the echo whole.
"""

import ctypes
import resource
from dataclasses import dataclass
from time import perf_counter_ns as clock
from time import thread_time_ns
from typing import Any, Self

import numpy as np

from ipclab.spawn.answered import Proof
from ipclab.spawn.loops import DISCARDED, await_due, keep, keep_parted, operations
from ipclab.spawn.proof import LOOKED
from ipclab.spawn.worker import Turns, Worker, zeros
from ipclab.store.launch import Samples
from ipclab.studies.round_trip.ends import OP, Trips, channel_end, closed_loop, echo, warm_up

CPU, PERIOD = "cpu", "period"  # a trip's share of a turn: CPU time of both ends, and time
PR_SET_TIMERSLACK = 29
WAITS = 2  # of a round trip: for the question, and for the answer


@dataclass
class Used:
    """What a thread used: CPU time, and how often it slept."""

    cpu_ns: int = 0
    sleeps: int = 0

    @classmethod
    def now(cls) -> Self:
        """Return what this thread has used so far (getrusage(2): it gave up its CPU to wait)."""
        return cls(thread_time_ns(), resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw)

    def add_since(self, before: "Used") -> None:
        """Add what was used since `before`."""
        now = self.now()
        self.cpu_ns += now.cpu_ns - before.cpu_ns
        self.sleeps += now.sleeps - before.sleeps


def serve_spinning(worker: Worker, backend: str, size: int, seed: int, spin_ns: int) -> Turns:
    """Be the echoing end, and tell after each turn what it used."""
    with channel_end(worker, backend, size, str(spin_ns)) as channel:
        proof = Proof(worker, size)
        echo(channel, channel.recv, proof, warm_up(size))
        while roles := (yield {}):
            used, before = Used(), Used.now()
            echo(channel, channel.recv, proof, roles["client"]["count"])
            used.add_since(before)
            worker.meet(cpu_ns=used.cpu_ns, sleeps=used.sleeps)
        worker.meet()


def ask_after_gap(
    worker: Worker, backend: str, size: int, seed: int, spin_ns: int, arm: str, gap_ns: int,
    budget_ns: int, least: int, most: int,
) -> Turns:  # fmt: skip
    """Be the asking end: time round trips in each turn, each a gap after the answer before."""
    wake_in_time()
    chance = np.random.default_rng(seed)
    slept = waits = 0
    with channel_end(worker, backend, size, str(spin_ns)) as channel:
        proof = Proof(worker, size)
        times, _ = closed_loop(channel, channel.recv, proof, warm_up(size))
        while True:
            each_ns = int(np.median(times)) + gap_ns
            count = DISCARDED + operations(each_ns, budget_ns, least, most) + LOOKED
            if (yield {"count": count}) is None:
                break
            begun = clock()  # with the other end, whose CPU time is of all that follows
            trips, used = Trips(channel, channel.recv, proof, count), Used()
            gaps = np.full(count, gap_ns) if arm == "main" else chance.exponential(gap_ns, count)
            with proof.going():
                times = after_gaps(trips, gaps.astype(np.int64).tolist(), used)
            elapsed = clock() - begun
            far = worker.meet()["server"]
            keep_parted(worker, OP, times, trips.kept)
            keep(worker, CPU, np.array([(used.cpu_ns + far["cpu_ns"]) // count]))
            keep(worker, PERIOD, np.array([elapsed // count]))
            if worker.recording:
                slept += used.sleeps + far["sleeps"]
                waits += WAITS * count
        worker.outcome.facts |= proof.told() | {"slept_share": slept / max(1, waits)}
        worker.meet()


def after_gaps(trips: Trips, gaps: list[int], used: Used) -> Samples:
    """Make each trip its gap (ns) after the one before; return the times (int64 ns).

    What this end used within trips is added to `used`.
    """
    times: Any = zeros(len(gaps))
    ended = clock()
    for number, gap in enumerate(gaps):
        if gap:
            await_due(ended + gap)
        before = Used.now()
        begun = clock()
        trips.go(number)
        ended = clock()
        used.add_since(before)
        times[number] = ended - begun
        trips.check(number)
    return np.frombuffer(times, np.int64)


def wake_in_time() -> None:
    """Have timers of this process end when due: others have 50 us of slack, real-time none.

    See prctl(2), PR_SET_TIMERSLACK.
    """
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_TIMERSLACK, 1)
