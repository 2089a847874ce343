"""Which CPUs are near: the round trip of a cache line for each pair, or a sample of pairs.

The pairs that are equally near (`ipclab.store.questions.RELATIONS`) are one point, and each of its
ops is a pair: a machine of 64 CPUs has 2,016 of them, too many to start the processes of a point
for each.
"""

from collections.abc import Sequence
from contextlib import closing
from itertools import combinations

from ipclab.bounds.cpu_pairs import NAME, Pair, op
from ipclab.machine.topology import Topology
from ipclab.spawn.loops import keep
from ipclab.spawn.worker import Worker
from ipclab.store.point import Point
from ipclab.store.questions import RELATIONS
from ipclab.studies.joining import WAIT_NS

LINE = "cache-line"  # the native program that is asked of each pair
PLACED = "cross"  # any two CPUs; each pair names its own
MOST_CPUS = 64  # of which every pair is measured
SAMPLED = 32  # pairs that are equally near, of more CPUs
WARM_NS, WARM_MOST = 2_000_000, 20_000  # until both CPUs are awake
TURN_NS, KEPT = 2_000_000, 500  # round trips that are timed


def pairs_to_time(topology: Topology) -> dict[str, list[Pair]]:
    """Return the pairs of CPUs to measure by nearness, nearest first; a sample of many."""
    near: dict[str, list[Pair]] = {relation: [] for relation in RELATIONS}
    for pair in combinations(topology.allowed, 2):
        near[topology.relation(*pair)].append(pair)
    if len(topology.allowed) > MOST_CPUS:
        near = {relation: sampled(pairs) for relation, pairs in near.items()}
    return {relation: pairs for relation, pairs in near.items() if pairs}


def sampled(pairs: Sequence[Pair]) -> list[Pair]:
    """Return `SAMPLED` of `pairs`, evenly spread from the first to the last; all where fewer."""
    if len(pairs) <= SAMPLED:
        return list(pairs)
    last = len(pairs) - 1
    return [pairs[round(number * last / (SAMPLED - 1))] for number in range(SAMPLED)]


def relation_points(topology: Topology) -> list[Point]:
    """Return a point for each of the relations that two CPUs of the machine have."""
    return [
        Point("limits", NAME, 0, PLACED, {"shares": relation}, NAME, tuple(map(op, pairs)))
        for relation, pairs in pairs_to_time(topology).items()
    ]


def time_pairs(worker: Worker, pairs: list[Pair]) -> None:
    """Time the cache line's round trips of each pair, one after the other, without turns."""
    import ipclab_native as native

    for pair in pairs:
        with closing(native.Limit(LINE, 1, tuple(pair))) as line:
            line.turn(WARM_NS, WARM_MOST, WAIT_NS)
            keep(worker, op(pair), line.turn(TURN_NS, KEPT, WAIT_NS))
