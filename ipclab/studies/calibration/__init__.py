"""What a run's comparisons are worth: identical code under several names, planted slow-downs.

They are launched in the run's own rounds and judged as its own contests are. So many exchanges
through one mechanism make one operation, and a slow-down is planted by further exchanges, so that
it is a share of whatever the machine takes.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle
from time import perf_counter_ns as clock

import numpy as np

from ipclab.spawn.answered import Proof
from ipclab.spawn.loops import DISCARDED, keep, operations
from ipclab.spawn.worker import Turns, Worker, zeros
from ipclab.stats.family import HEAT_LOOKS
from ipclab.store.point import Point
from ipclab.studies.interface import FIRST, Placement, Profile, Role, Study, Sweep
from ipclab.studies.joining import WAIT_NS
from ipclab.studies.round_trip.ends import channel_end, echo

HERE = "ipclab.studies.calibration"
SIZE = 100  # bytes
OP = "exchange"
USUAL = "unix"  # the mechanism
WAIT = "block"
# identical code would else take the time of questions that can be decided
MOST_LAUNCHES = HEAT_LOOKS[2]
SLOWER = (11, 12, 14)  # exchanges of the slower one, in turn over the pairs, where twins have ten


class CalibrationStudy(Study):
    """Pairs of one echo under two names, each with a slower one, in each pinned placement."""

    name = "calibration"
    payloads_shared = 0
    mechanisms = ("echo-a", "echo-b", "echo-slower")

    def effort(self, profile: Profile) -> Profile:
        """Return the profile with launches for the third look at most."""
        return replace(profile, most_launches=min(profile.most_launches, MOST_LAUNCHES))

    def points(self, effort: Profile, sweep: Sweep) -> list[Point]:
        """Return the twins and the slower ones; one pair where launches decide nothing."""
        return self.pairs(self.own(effort)["pairs"], effort.pinned)

    def pairs(self, count: int, pinned: Sequence[str]) -> list[Point]:
        """Return so many pairs in each placement, each with a slower one."""
        pairs = range(1, 1 + count)
        slower = [
            {"pair": pair, "exchanges": exchanges}
            for pair, exchanges in zip(pairs, cycle(SLOWER), strict=False)
        ]
        return self.of_arms(self.mechanisms, pinned=pinned, pairs=pairs, slower=slower)

    def precedence(self, point: Point) -> int:
        """Return that what the run calibrates itself by goes first."""
        return FIRST

    def roles(self, point: Point, effort: Profile, placement: Placement, seed: int) -> list[Role]:
        asking = {"exchanges": point.levels["exchanges"], **effort.samples}
        serving = Role("server", f"{HERE}:answer_exchanges", {}, placement.role(0))
        return [serving, Role("client", f"{HERE}:time_exchanges", asking, placement.role(1))]


def answer_exchanges(worker: Worker) -> Turns:
    """Be the echoing end."""
    with channel_end(worker, USUAL, SIZE, WAIT) as channel:
        proof = Proof(worker, SIZE)
        while roles := (yield {}):
            echo(channel, channel.recv, proof, roles["client"]["exchanges"])
        worker.meet()  # the other end is done: nothing is closed under it


def time_exchanges(worker: Worker, exchanges: int, budget_ns: int, least: int, most: int) -> Turns:
    """Be the asking end: time, in each turn, as many operations of `exchanges` each as fit."""
    with channel_end(worker, USUAL, SIZE, WAIT) as channel:
        proof, count = Proof(worker, SIZE), DISCARDED + least
        while (yield {"exchanges": count * exchanges}):
            plan = proof.plan(count * exchanges)
            begins, ends = zeros(count), zeros(count)
            with proof.going():
                for number in range(count):
                    looks = plan[number * exchanges : (number + 1) * exchanges]
                    begins[number] = clock()
                    for look in looks:
                        channel.send(proof.next(), WAIT_NS)
                        proof.check(proof.arrive(channel.recv(WAIT_NS)), look)
                    ends[number] = clock()
            times = np.frombuffer(ends, np.int64) - np.frombuffer(begins, np.int64)
            keep(worker, OP, times[DISCARDED:])
            each_ns = float(np.median(times[DISCARDED:]))
            count = DISCARDED + operations(each_ns, budget_ns, least, most)
        worker.outcome.facts |= proof.told()
        worker.meet()
