"""The writer and the readers of a shared dictionary: they open a store together, and run a scenario on it."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points

from ipclab.backends.installed import GROUP
from ipclab.backends.interface import Store, StorePlace
from ipclab.spawn.mpi_worker import RankWorker
from ipclab.studies.shared_dict.loops import WAIT_NS, Reading, Task, Writing
from ipclab.studies.shared_dict.scenarios import READERS, WRITERS


def store_of(backend: str) -> type[Store]:
    """Return the store of `backend`, importing no other; raises `TypeError` when it has none."""
    (entry,) = entry_points(group=GROUP, name=backend)
    kind: type[Store] | None = entry.load().store
    if kind is None:
        raise TypeError(f"{backend} has no store")
    return kind


@contextmanager
def opened(worker: RankWorker, task: Task) -> Iterator[Store]:
    """Give this rank's end of the store, all others attached; close it after, all others done.

    After an error nothing is closed, since that may need the others: the bench removes what is left by its name.
    """
    kind = store_of(task.backend)
    readers = len(worker.peers)
    place = StorePlace(
        worker.prefix, worker.folder, task.size, "block", readers, worker.comm, task.sync, task.map, worker.address
    )
    if worker.index == 0:
        store: Store = kind.create(place)
        worker.meet(address=store.address)
        store.accept(WAIT_NS)
    else:
        address = worker.meet()[worker.roles[0]]["address"]
        store = kind.attach(place, address, WAIT_NS)
    worker.meet()
    yield store
    worker.meet()
    store.close()
    worker.outcome.facts["retries"] = getattr(getattr(store, "content", None), "retries", 0)


def write(worker: RankWorker, **levels: object) -> None:
    """Be the writer of the point with `levels`."""
    task = Task(**levels)  # type: ignore[arg-type]
    with opened(worker, task) as store, _frozen():
        writing = Writing(worker, task, store)
        worker.meet()
        WRITERS[task.arm](worker, task, writing)
        writing.keep()
    worker.outcome.facts |= {"ranks_per_cpu": worker.crowd, "fresh_ranks": worker.fresh}


def read(worker: RankWorker, **levels: object) -> None:
    """Be a reader of the point with `levels`."""
    task = Task(**levels)  # type: ignore[arg-type]
    with opened(worker, task) as store, _frozen():
        reading = Reading(worker, task, store)
        worker.meet()
        READERS[task.arm](worker, task, reading)
        reading.keep()


@contextmanager
def _frozen() -> Iterator[None]:
    """Keep the collector out of the timed loops."""
    gc.collect()
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
