"""A shared store whose writer is killed inside a write: its readers, and its next writer."""

import signal
import time
from contextlib import closing
from time import perf_counter_ns as clock
from typing import Any

from ipclab.backends.installed import backend as find
from ipclab.backends.interface import Backend, Place, Store
from ipclab.backends.lmdb_store import KEY, VERSION, LmdbStore
from ipclab.backends.seqlock import SEQUENCE, START, SegmentStore
from ipclab.spawn.worker import Worker
from ipclab.studies.joining import WAIT_NS
from ipclab_more.studies.faults import plan as plans
from ipclab_more.studies.faults.effects import HALF, OLD, WELL, attempt_outcome, left, shares
from ipclab_more.studies.faults.victim import READY, Victim
from ipclab_more.studies.stream.base import keep_times
from ipclab_more.studies.stream.connection import PRODUCER


def has_lock(backend: Backend) -> bool:
    """Tell whether a store of `backend` has a lock, or the like, that a writer can die with."""
    return backend.store is not None and issubclass(backend.store, LmdbStore | SegmentStore)


def hold_lock(worker: Worker, **levels: Any) -> None:
    """Be the writer's keeper, who writes after it, or the reader."""
    locked = Locked(worker, plans.FaultPlan(**levels))
    if worker.role == PRODUCER:
        locked.inherit()
    else:
        locked.read()


class Locked:
    """One of the two processes at a store with a lock, and the store's place."""

    def __init__(self, worker: Worker, plan: plans.FaultPlan) -> None:
        self.worker, self.plan = worker, plan
        worker.outcome.facts["deadline_ns"] = plan.deadline_ns
        self.kind: Any = find(plan.backend).store
        self.place = Place(worker.prefix, worker.folder, plan.size)
        self.content = plans.agreed(worker, plan.size)

    def inherit(self) -> None:
        """Keep the writer, which is killed, and write after it."""
        worker = self.worker
        victim = Victim(self._hold)
        at = victim.hit(signal.SIGKILL, self.plan.chance(worker))
        victim.end()
        worker.meet(at=at)
        worker.meet()
        begun = clock()
        self._write_after(self.content.whole(1))
        worker.meet(begun=begun)
        worker.meet()
        worker.outcome.counters[plans.LEFT] = left(worker.prefix, worker.folder)

    def _hold(self, tally: memoryview) -> None:
        """Write once; begin to write again, and stay halfway."""
        store = self.kind(self.place, True)
        self.worker.meet(address=store.address)
        store.accept(WAIT_NS)
        store.write(self.content.whole(0), WAIT_NS)
        for _ in ("written", "read"):
            self.worker.meet()
        data = self.content.whole(1)
        half = len(data) // 2
        if isinstance(store, LmdbStore):
            transaction = store.environment.begin(write=True)  # which lasts while this is held
            _put(transaction, data)
        elif isinstance(store, SegmentStore):
            store.words[SEQUENCE] += 1
            store.buffer[START : START + half] = data[:half]
        tally[READY] = 1
        while True:
            time.sleep(1)

    def _write_after(self, data: bytes) -> None:
        """Write version 2 as a process that found the store."""
        if not issubclass(self.kind, LmdbStore):
            with closing(self.kind(self.place, False)) as store:
                store.write(data, WAIT_NS)
            return
        import lmdb

        path, size = str(self.place.path("lmdb")), self.kind.map_bytes
        database = lmdb.open(path, map_size=size, create=False, sync=False)
        with database as environment, environment.begin(write=True) as transaction:
            _put(transaction, data)

    def read(self) -> None:
        """Read before the writer is killed, after that, and once it has a successor."""
        worker = self.worker
        address = worker.meet()[PRODUCER]["address"]
        with closing(self.kind(self.place, False)) as store:
            store.address = address
            store.accept(WAIT_NS)
            worker.meet()
            store.read(0, WAIT_NS)
            worker.meet()
            killed = worker.meet()[PRODUCER]["at"]
            seen, noticed = self._looked(store, 0, OLD)
            worker.meet()
            wrote, got = self._looked(store, 1, plans.RECOVERED)
            begun = worker.meet()[PRODUCER]["begun"]
        worker.meet()
        recovered = {"yes": float(wrote == plans.RECOVERED)}
        worker.outcome.counters |= {plans.NOTICED: shares(seen), plans.RECOVERED: recovered}
        keep_times(worker, plans.NOTICED, noticed - killed)
        keep_times(worker, plans.RECOVERED, got - begun)

    def _looked(self, store: Store, after: int, well: str) -> tuple[str, int]:
        """Return how a read above version `after` ends, `well` for the right content, and when."""
        state = ""

        def look() -> None:
            nonlocal state
            _, data = store.read(after, self.plan.deadline_ns + plans.SLACK_NS)
            state = well if self.content.number_of(data) == after else HALF
            raise StopIteration

        kind, at = attempt_outcome(look)
        return (state if kind == WELL else kind), at


def _put(transaction: Any, data: bytes) -> None:
    transaction.put(KEY, data)
    transaction.put(VERSION, (2).to_bytes(8, "little"))
