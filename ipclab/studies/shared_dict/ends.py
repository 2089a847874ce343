"""The writer and readers of a shared dictionary: they open a store and run a scenario."""

import gc
import random
import secrets
import time
from collections.abc import Callable
from functools import partial
from time import monotonic_ns as clock
from typing import Any

import numpy as np

from ipclab.backends.codecs import encoded_bytes, published_dictionary
from ipclab.backends.installed import GROUP
from ipclab.backends.interface import Backend, Place, Store
from ipclab.plugins import one
from ipclab.spawn.loops import keep, keep_parted
from ipclab.spawn.mpi_worker import RankWorker
from ipclab.spawn.proof import PayloadError, looks, unlike
from ipclab.spawn.worker import Turns, zeros
from ipclab.studies.joining import WAIT_NS, joined_ends
from ipclab.studies.shared_dict.loops import READY_NS, Reading, Task, Writing
from ipclab.studies.shared_dict.published import STORES
from ipclab.studies.shared_dict.versions import FIRST_BITS

PUBLISHED_READS = 100
MOST_STAMPS = 1 << 18  # writes of arm `live` whose times are kept
LEAST_ENTRY = 64  # bytes of an encoded entry, about
LOOK_NS = 1_000_000  # between two looks whether readers are done: to ask MPI is to offer the CPU to others
STAMP, SEEN, VERSION = "stamp", "seen", "version"  # joined by the study, not kept


def _write_published(writing: Writing) -> None:
    """Write all before anyone reads: once for shared state, else for each read of each reader.

    The first write of shared state is the published one; those after it only make statistics of it
    possible. Who waits does so in a barrier, awake, as published; the content was just made, and
    its program had encoded others. A program takes no turns.
    """
    worker = writing.worker
    task = writing.task
    task.coder.encode(published_dictionary(1, 0))
    writing.versions.renew()
    worker.barrier()
    messages = 1 if writing.store.keeps else PUBLISHED_READS * writing.copies
    writing.write_all(max(messages, task.writes))
    writing.note_first()
    total = sum(done - start for start, _, done in writing.stamps[:messages])
    keep(worker, "write-total", np.array([total]))
    writing.copies = 1
    worker.barrier()
    worker.barrier()
    writing.end_turn()


def _read_published(reading: Reading) -> None:
    worker = reading.worker
    worker.barrier()
    worker.barrier()
    reading.read_all(PUBLISHED_READS, once=not reading.store.keeps)
    worker.barrier()
    total = sum(done - start for start, _, done in reading.stamps)
    keep(worker, "read-total", np.array([total]))
    reading.end_turn()


def _write_many(writing: Writing) -> Turns:
    """Write while the readers sleep, or take the messages; then let all read at the same time."""
    task = writing.task
    writes = task.fitting(partial(task.coder.encode, writing.versions.content(0)), task.writes)
    reads = writing.fitting_reads()
    first = True
    while (yield {"writes": writes}):
        time.sleep(READY_NS / 1e9)
        writing.write_all(writes)
        if first:
            writing.note_first()
            first = False
        writing.end_turn()
        writing.ask(reads)


def _read_many(reading: Reading) -> Turns:
    store = reading.store
    task, writer = reading.task, reading.worker.roles[0]
    chance, taken = random.Random(), 0
    while roles := (yield {}):
        if not store.keeps:  # each message is taken; the last one stays with its reader
            kept = dict[int, bytes]()
            for look in looks(chance, roles[writer]["writes"], task.entries * LEAST_ENTRY):
                version, data = store.read(taken, WAIT_NS)
                taken += 1
                if type(data) is not bytes:
                    raise unlike(data, bytes, f"version {version}")
                if look or not kept:
                    kept[version] = bytes(memoryview(data))  # nobody can fill it in later
            for version, data in kept.items():
                reading.check(version, data)
        count = reading.asked()
        reading.version, data = store.read(0, WAIT_NS)
        reading.check(reading.version, data)
        if store.keeps and reading.version != reading.wanted:
            why = f"version {reading.wanted} is the last one written"
            raise PayloadError(f"version {reading.version} was read", why)
        reading.read_all(count, once=False)
        reading.end_turn()


def _write_stream(writing: Writing) -> Turns:
    """Write an update when all readers acknowledged the one before, and wait for another."""
    worker = writing.worker
    count = max(writing.task.writes, writing.fitting_reads() // 2)
    spent = made = 0
    while (yield {}):
        writing.ask(count)
        updates = zeros(count)
        with worker.counting("update", count):
            for number in range(count):
                start = writing.write(writing.copies)
                worker.await_signals(worker.peers)
                updates[number] = clock() - start
                worker.await_signals(worker.peers)
        kept = np.frombuffer(updates, np.int64)
        keep_parted(worker, "update", kept, np.ones(count, bool))
        writing.end_turn()
        spent = spent + int(kept.sum())
        made = made + count
    worker.outcome.facts["messages_per_second"] = made * len(worker.peers) / (spent / 1e9)


def _read_stream(reading: Reading) -> Turns:
    worker = reading.worker
    while (yield {}):
        count = reading.asked()
        with worker.counting("read", count):
            for _ in range(count):
                wanted = reading.version + 1
                if reading.read(reading.version, lambda: worker.signal(0)) != wanted:
                    raise PayloadError(f"version {reading.version} came instead of {wanted}")
                worker.signal(0)
        reading.end_turn()


def _write_live(writing: Writing) -> Turns:
    """Write without a pause until every reader has made its reads."""
    worker = writing.worker
    task = writing.task
    writing.write()
    reads = writing.fitting_reads()
    kept = worker.outcome.samples.setdefault(STAMP, zeros(0))
    while (yield {}):
        writing.ask(reads)
        waiting = list(worker.peers)
        looked = clock()
        most = MOST_STAMPS - len(kept)
        while (waiting or len(writing.stamps) < task.writes) and len(writing.stamps) < most:
            writing.write()
            if waiting and clock() - looked > LOOK_NS:
                looked = clock()
                if worker.signalled(waiting[0]):
                    worker.await_signals([waiting.pop(0)])
        worker.await_signals(waiting)
        # of all turns: versions are counted from the first
        kept.extend(encoded for _, encoded, _ in writing.stamps)
        writing.end_turn()


def _read_live(reading: Reading) -> Turns:
    worker = reading.worker
    while (yield {}):
        count = reading.asked()
        versions = zeros(count)
        with worker.counting("read", count):
            for number in range(count):
                versions[number] = reading.read(0)
        worker.signal(0)
        keep(worker, VERSION, np.frombuffer(versions, np.int64))
        keep(worker, SEEN, np.array([done for _, _, done in reading.stamps]))
        reading.end_turn()


Scenario = Callable[[Any], Turns | None]
SCENARIOS: dict[str, tuple[Scenario, Scenario]] = {
    "published": (_write_published, _read_published),
    "read-many": (_write_many, _read_many),
    "stream": (_write_stream, _read_stream),
    "live": (_write_live, _read_live),
}


def store_of(backend: str) -> type[Store]:
    """Return the store of `backend`, importing no other; raises `TypeError` when it has none."""
    kind = one(GROUP, "backend", backend, Backend).store
    if kind is None:
        raise TypeError(f"{backend} has no store")
    return kind


def use_dictionary(worker: RankWorker, **levels: Any) -> Turns:
    """Be the writer (rank 0) or a reader of the point with `levels`.

    After an error nothing is closed, since that may need the others: the bench removes what is left
    by its name.
    """
    task = Task(**levels)
    reads = worker.index > 0
    place = Place(
        worker.prefix,
        worker.folder,
        encoded_bytes(task.codec, task.entries),
        readers=task.readers,
        synced=task.sync == "on",
        writemap=task.map == "writemap",
        host=worker.address,
        comm=worker.comm,
    )
    own = {} if reads else {"first": secrets.randbits(FIRST_BITS)}
    first = int(worker.meet(**own)[worker.roles[0]]["first"])
    published = task.arm == "published"
    kind = STORES[task.backend] if published else store_of(task.backend)
    (store,), _ = joined_ends(worker, kind, [place], worker.roles[0], worker.roles[1:])
    worker.meet()  # all others have theirs
    gc.collect()
    (gc.enable if published else gc.disable)()  # in the timed loops only where it was as published
    try:
        body = (Reading if reads else Writing)(worker, task, store, first)
        worker.meet()
        yield from SCENARIOS[task.arm][reads](body) or ()
        body.finish()
    finally:
        gc.enable()
    worker.meet()
    store.close()
    if not reads:
        worker.outcome.facts |= {"ranks_per_cpu": worker.crowd, "fresh_ranks": worker.fresh}
