"""Rank functions that only tests launch: they say where they run, fail in every way, and try every
store.
"""

import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any

from ipclab.backends.interface import Place, Store
from ipclab.errors import LabError
from ipclab.spawn import names
from ipclab.spawn.ledger import SHARED_MEMORY
from ipclab.spawn.mpi_worker import RankWorker
from ipclab.spawn.proof import PayloadError, digest
from ipclab.spawn.worker import Turns
from ipclab.studies.joining import joined_ends
from ipclab.studies.shared_dict import ends, loops
from tests.support.commands import kernel_objects, left_of
from tests.support.payloads import payload
from tests.support.targets import echo

LONG = 600.0
CAPACITY = 70_000
SIZES = (1, 4097, CAPACITY, 100)
WAIT_NS = 20_000_000_000


def tell(worker: RankWorker, values: list[int]) -> None:
    """Do what `echo` does; tell the network of this process, and how many keys it has read."""
    echo(worker, values)
    worker.outcome.facts["network"] = [name for _, name in socket.if_nameindex()]
    worker.outcome.facts["keys"] = names._key.cache_info().currsize


def fail(worker: RankWorker, how: str) -> None:
    """Let the second rank fail while the others wait for it."""
    if worker.index != 1:
        worker.meet()
    print("last words", file=sys.stderr, flush=True)
    if how == "kill":
        Path(SHARED_MEMORY, worker.name("left")).write_bytes(b"left")
        Path(worker.folder, f"{worker.prefix.rpartition('-')[2]}-left").mkdir()
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "exit":
        os._exit(3)
    if how == "error":
        raise ValueError("no such level")
    if how == "wrong":
        raise PayloadError("message 3 arrived with nothing but zeros")
    if how == "lab":
        raise LabError("the disk is full", "0 bytes are free", "free some")
    time.sleep(4 if how == "late" else LONG)


def _open(worker: RankWorker, backend: str) -> Store:
    kind = ends.store_of(backend)
    readers = len(worker.peers)
    place = Place(
        worker.prefix,
        worker.folder,
        CAPACITY,
        "block",
        readers,
        writemap=True,
        comm=worker.comm,
    )
    (store,), _ = joined_ends(worker, kind, [place], worker.roles[0], worker.roles[1:])
    worker.meet()
    made: Store = store
    return made


def _modes(worker: RankWorker) -> list[str]:
    number = worker.prefix.rpartition("-")[2]
    entries = [*SHARED_MEMORY.glob(f"{worker.prefix}-*"), *Path(worker.folder).glob(f"{number}-*")]
    return sorted({oct(entry.stat().st_mode & 0o077) for entry in entries})


def use_store(worker: RankWorker, backend: str, late: bool) -> None:
    """Write a content of every size, each read by all before the next; then see what is left."""
    before = kernel_objects()
    worker.meet()
    store = _open(worker, backend)
    copies = 1 if store.fans_out else len(worker.peers)
    worker.outcome.facts["modes"] = _modes(worker)
    seen: list[Any] = []
    for sequence, size in enumerate(SIZES):
        if worker.index == 0:
            for _ in range(copies):
                store.write(payload(1, sequence, size), WAIT_NS)
        else:
            version, data = store.read(sequence, WAIT_NS)
            again, same = store.read(0, WAIT_NS)
            seen.append([version, digest(data), again, same == data])
        worker.meet()
    worker.outcome.facts["seen"] = seen
    if worker.index and late:
        try:
            store.read(len(SIZES), 30_000_000)
        except TimeoutError:
            worker.outcome.facts["late"] = "TimeoutError"
    worker.meet()
    store.close()
    store.close()
    worker.meet()
    worker.outcome.facts["left"] = left_of(worker.prefix, worker.folder, before)


def killed(worker: RankWorker, victim: int, **levels: Any) -> Turns:
    """Be an end of the study; rank `victim` kills itself in the middle of its work: writing, or
    reading.
    """
    if worker.index == victim and victim == 0:
        write = loops.Writing.write

        def dying(self: loops.Writing, copies: int = 1) -> int:
            if len(self.stamps) > 2:
                os.kill(os.getpid(), signal.SIGKILL)
            return write(self, copies)

        loops.Writing.write = dying  # type: ignore[method-assign]  # this process ends with it
    if worker.index == victim and victim:
        read = loops.Reading.read

        def last(self: loops.Reading, after: int, acknowledge: Any = None) -> int:
            if len(self.stamps) > 3:
                os.kill(os.getpid(), signal.SIGKILL)
            return read(self, after, acknowledge)

        loops.Reading.read = last  # type: ignore[method-assign]
    yield from ends.use_dictionary(worker, **levels)
