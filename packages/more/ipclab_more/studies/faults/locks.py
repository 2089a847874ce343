"""A shared store whose writer is killed inside a write: its readers, and its next writer."""

import signal
import time
from contextlib import closing
from functools import partial
from time import perf_counter_ns as clock
from typing import Any

from ipclab.backends.installed import backend as find
from ipclab.backends.interface import Backend, Place, Store
from ipclab.backends.lmdb_store import KEY, VERSION, LmdbStore
from ipclab.backends.seqlock import SEQUENCE, START, SegmentStore
from ipclab.spawn.worker import Worker
from ipclab.studies.joining import WAIT_NS
from ipclab_more.studies.faults.effects import HALF, OLD, WELL, attempt_outcome, left, shares
from ipclab_more.studies.faults.plan import (
    LEFT,
    NOTICED,
    RECOVERED,
    SLACK_NS,
    Content,
    FaultPlan,
    agreed,
)
from ipclab_more.studies.faults.victim import READY, Victim
from ipclab_more.studies.stream.base import keep_times
from ipclab_more.studies.stream.connection import PRODUCER


def has_lock(backend: Backend) -> bool:
    """Tell whether a store of `backend` has a lock, or the like, that a writer can die with."""
    return backend.store is not None and issubclass(backend.store, LmdbStore | SegmentStore)


def hold_lock(worker: Worker, **levels: Any) -> None:
    """Be the writer's keeper, who writes after it, or the reader."""
    plan = FaultPlan(**levels)
    worker.outcome.facts["deadline_ns"] = plan.deadline_ns
    kind = find(plan.backend).store
    place = Place(worker.prefix, worker.folder, plan.size)
    if kind is None:
        raise TypeError(f"{plan.backend} has no store")
    content = agreed(worker, plan.size)
    part = _inherit if worker.role == PRODUCER else _read
    part(worker, plan, content, kind, place)


def _inherit(
    worker: Worker, plan: FaultPlan, content: Content, kind: type[Store], place: Place
) -> None:
    victim = Victim(partial(_hold, worker, content, kind, place))
    at = victim.hit(signal.SIGKILL, plan.chance(worker))
    victim.end()
    worker.meet(at=at)
    worker.meet()
    begun = clock()
    _write_after(kind, place, content.whole(1))
    worker.meet(begun=begun)
    worker.meet()
    worker.outcome.counters[LEFT] = left(worker.prefix, worker.folder)


def _hold(
    worker: Worker, content: Content, kind: type[Store], place: Place, tally: memoryview
) -> None:
    """Write once; begin to write again, and stay halfway."""
    store = kind(place, True)
    worker.meet(address=store.address)
    store.accept(WAIT_NS)
    store.write(content.whole(0), WAIT_NS)
    for _ in ("written", "read"):
        worker.meet()
    data = content.whole(1)
    half = len(data) // 2
    if isinstance(store, LmdbStore):
        begun = store.environment.begin(write=True)
        begun.put(KEY, data)
        begun.put(VERSION, (2).to_bytes(8, "little"))
    elif isinstance(store, SegmentStore):
        store.words[SEQUENCE] += 1
        store.buffer[START : START + half] = data[:half]
    tally[READY] = 1
    while True:
        time.sleep(1)


def _write_after(kind: type[Store], place: Place, data: bytes) -> None:
    """Write version 2 as a process that found the store."""
    if issubclass(kind, LmdbStore):
        import lmdb

        database = lmdb.open(
            str(place.path("lmdb")), map_size=kind.map_bytes, create=False, sync=False
        )
        with database as environment, environment.begin(write=True) as transaction:
            transaction.put(KEY, data)
            transaction.put(VERSION, (2).to_bytes(8, "little"))
        return
    with closing(kind(place, False)) as store:
        store.write(data, WAIT_NS)


def _read(
    worker: Worker, plan: FaultPlan, content: Content, kind: type[Store], place: Place
) -> None:
    address = worker.meet()[PRODUCER]["address"]
    with closing(kind(place, False)) as store:
        store.address = address
        store.accept(WAIT_NS)
        worker.meet()
        store.read(0, WAIT_NS)
        worker.meet()
        killed = worker.meet()[PRODUCER]["at"]
        seen, noticed = _looked(store, plan, content, 0, OLD)
        worker.meet()
        wrote, got = _looked(store, plan, content, 1, RECOVERED)
        begun = worker.meet()[PRODUCER]["begun"]
    worker.meet()
    worker.outcome.counters |= {
        NOTICED: shares(seen),
        RECOVERED: {"yes": float(wrote == RECOVERED)},
    }
    keep_times(worker, NOTICED, noticed - killed)
    keep_times(worker, RECOVERED, got - begun)


def _looked(
    store: Store, plan: FaultPlan, content: Content, after: int, well: str
) -> tuple[str, int]:
    """Return how a read above version `after` ends, `well` for the expected content, and when."""
    state = ""

    def look() -> None:
        nonlocal state
        _, data = store.read(after, plan.deadline_ns + SLACK_NS)
        state = well if content.number_of(data) == after else HALF
        raise StopIteration

    kind, at = attempt_outcome(look)
    return (state if kind == WELL else kind), at
