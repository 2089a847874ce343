"""How the processes of a launch join the ends of a mechanism: one opens, the others follow."""

from collections.abc import Sequence
from dataclasses import asdict
from time import perf_counter_ns as clock
from typing import Any

import numpy as np

from ipclab.backends.interface import Channel, Place, Store
from ipclab.backends.waiting import Peer
from ipclab.spawn.worker import Worker
from ipclab.store.launch import Launch, Samples

WAIT_NS = 10_000_000_000  # the longest wait for another end, as the published programs have it


def joined_ends(
    worker: Worker, kind: Any, places: Sequence[Place], opener: str, joiners: Sequence[str]
) -> tuple[list[Any], int]:
    """Return this process's ends of `kind`, and what making and joining them took (ns).

    Waiting for a turn is not in it.

    Role `opener` has one at each of `places`, each of `joiners` the one that is its own. Raises
    `TimeoutError` when the other end does not come.
    """
    opens = worker.role == opener
    begun = clock()
    ends = [kind(place, True) for place in places if opens]
    spent = clock() - begun if opens else 0
    met = worker.meet(peer=asdict(Peer.me()), addresses=[end.address for end in ends])
    for number, joiner in enumerate(joiners):
        if number:
            worker.meet()  # the one before is there
        begun = clock()
        if opens and number < len(ends):
            end = ends[number]
            other = met[joiner]
        elif worker.role == joiner:
            place = number % len(places)
            other = met[opener]
            ends = [end := kind(places[place], False)]
            end.address = other["addresses"][place]
        else:
            continue
        if isinstance(end, Channel):
            end.accept(Peer(**other["peer"]), WAIT_NS)
        spent += clock() - begun
    if issubclass(kind, Store):
        begun = clock()
        ends[0].accept(WAIT_NS)
        spent += clock() - begun
    return ends, spent


def turns_together(launches: Sequence[Launch], op: str) -> tuple[Samples, list[int]]:
    """Return the samples of `op` of several processes turn by turn, and how many a turn has.

    Raises `ValueError` when they took different numbers of turns.
    """
    parts = []
    for launch in launches:
        ends = np.cumsum(launch.turns[op])
        parts.append(np.split(launch.samples[op], ends[:-1]))
    turns = [np.concatenate(turn) for turn in zip(*parts, strict=True)]
    return np.concatenate(turns), [len(turn) for turn in turns]
