"""The four scenarios: what the writer and each reader do of them, and when they meet."""

from time import monotonic_ns as clock

import numpy as np

from ipclab.spawn.loops import fitting, keep
from ipclab.spawn.mpi_worker import RankWorker
from ipclab.spawn.worker import zeros
from ipclab.studies.shared_dict.loops import WAIT_NS, Reading, Task, Writing

PUBLISHED_READS = 100
MOST_STAMPS = 1 << 18  # writes of arm `live` whose times are kept
LOOK_NS = 1_000_000  # between two looks whether readers are done: to ask MPI is to offer the CPU to others
STAMP, SEEN, VERSION = "stamp", "seen", "version"  # joined by the study, not kept


def _write_all(worker: RankWorker, writing: Writing, count: int) -> None:
    with worker.counting("write", count):
        for _ in range(count):
            writing.write()
    first = np.array([writing.stamps[0][2] - writing.stamps[0][0]], np.int64)
    keep(worker, "write-cold", first)


def _write_published(worker: RankWorker, task: Task, writing: Writing) -> None:
    """Write all before anyone reads: one write for shared state, a message for each read of each reader otherwise.

    The first write of shared state is the published one; those after it only make statistics of it possible.
    """
    messages = 1 if writing.store.keeps else PUBLISHED_READS * writing.copies
    _write_all(worker, writing, max(messages, task.writes))
    total = sum(done - start for start, _, done in writing.stamps[:messages])
    keep(worker, "write-total", np.array([total], np.int64))
    writing.copies = 1
    worker.meet()


def _read_published(worker: RankWorker, task: Task, reading: Reading) -> None:
    worker.meet()
    _read_all(worker, reading, PUBLISHED_READS, once=not reading.store.keeps)
    total = sum(done - start for start, _, done in reading.stamps)
    keep(worker, "read-total", np.array([total], np.int64))


def _read_all(worker: RankWorker, reading: Reading, count: int, once: bool) -> None:
    with worker.counting("read", count):
        for _ in range(count):
            reading.read(reading.version if once else 0)


def ask(worker: RankWorker, reads: int) -> int:
    """Tell every reader to make `reads` reads."""
    worker.outcome.facts["asked"] = reads
    worker.meet(reads=reads)
    return reads


def asked(worker: RankWorker) -> int:
    """Wait for how many reads to make."""
    reads: int = worker.meet()[worker.roles[0]]["reads"]
    return reads


def _reads(task: Task, writing: Writing) -> int:
    """Return how many reads fit into the budget, by how long one decoding takes the writer."""
    data = task.how.encode(writing.contents[0])
    start = clock()
    task.how.decode(data)
    return fitting(clock() - start, task.budget_ns, task.least, task.most)


def _write_many(worker: RankWorker, task: Task, writing: Writing) -> None:
    """Write, then let all readers read at the same time."""
    _write_all(worker, writing, task.writes)
    ask(worker, _reads(task, writing))


def _read_many(worker: RankWorker, task: Task, reading: Reading) -> None:
    if not reading.store.keeps:  # each message is taken; the last one stays with its reader
        for number in range(task.writes):
            reading.store.read(number, WAIT_NS)
    count = asked(worker)
    reading.version, _ = reading.store.read(0, WAIT_NS)
    _read_all(worker, reading, count, once=False)


def _write_stream(worker: RankWorker, task: Task, writing: Writing) -> None:
    """Write an update when every reader has acknowledged the one before, and is ready for the next."""
    count = ask(worker, max(task.writes, _reads(task, writing) // 2))
    updates = zeros(count)
    with worker.counting("update", count):
        for number in range(count):
            start = writing.write(writing.copies)
            worker.await_signals(worker.peers)
            updates[number] = clock() - start
            worker.await_signals(worker.peers)
    kept = np.frombuffer(updates, np.int64)
    keep(worker, "update", kept)
    seconds = float(kept.sum()) / 1e9
    worker.outcome.facts["messages_per_second"] = count * len(worker.peers) / seconds


def _read_stream(worker: RankWorker, task: Task, reading: Reading) -> None:
    count = asked(worker)
    with worker.counting("read", count):
        for version in range(1, count + 1):
            if reading.read(version - 1, lambda: worker.signal(0)) != version:
                raise ValueError(f"version {reading.version} came instead of {version}")
            worker.signal(0)


def _write_live(worker: RankWorker, task: Task, writing: Writing) -> None:
    """Write without a pause until every reader has made its reads."""
    writing.write()
    ask(worker, _reads(task, writing))
    waiting = list(worker.peers)
    looked = clock()
    while (waiting or len(writing.stamps) < task.writes) and len(writing.stamps) < MOST_STAMPS:
        writing.write()
        if waiting and clock() - looked > LOOK_NS:
            looked = clock()
            if worker.signalled(waiting[0]):
                worker.await_signals([waiting.pop(0)])
    worker.await_signals(waiting)
    handed_over = np.array([encoded for _, encoded, _ in writing.stamps], np.int64)
    keep(worker, STAMP, handed_over)


def _read_live(worker: RankWorker, task: Task, reading: Reading) -> None:
    count = asked(worker)
    versions = zeros(count)
    with worker.counting("read", count):
        for number in range(count):
            versions[number] = reading.read(0)
    worker.signal(0)
    keep(worker, VERSION, np.frombuffer(versions, np.int64))
    keep(worker, SEEN, np.array([done for _, _, done in reading.stamps], np.int64))


WRITERS = {"published": _write_published, "read-many": _write_many, "stream": _write_stream, "live": _write_live}
READERS = {"published": _read_published, "read-many": _read_many, "stream": _read_stream, "live": _read_live}
