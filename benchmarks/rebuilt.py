"""The programs of seeds 001 and 003, rebuilt from what their authors describe, in processes of their own."""

import multiprocessing
import os
import pickle
import struct
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from multiprocessing import resource_tracker, shared_memory
from pathlib import Path
from queue import Empty
from typing import Any

from ipclab.errors import LabError
from ipclab.studies.round_trip import published

ENTRIES, READS, READERS = (10, 100, 1_000, 10_000), 100, 3
SECONDS = 60.0
SPAWN = multiprocessing.get_context("spawn")
Times = dict[str, float]  # ns by what was timed


def shared_dict(prefix: str, folder: str) -> list[Times]:
    """Run the program of seed 001 and return what each of its processes timed; raises `LabError` when one is silent."""
    barrier, told = SPAWN.Barrier(1 + READERS), SPAWN.Queue()
    processes = [
        SPAWN.Process(target=rank, args=(number, barrier, told, prefix, folder), daemon=True)
        for number in range(1 + READERS)
    ]
    for process in processes:
        process.start()
    try:
        return [told.get(timeout=SECONDS) for _ in processes]
    except Empty:
        raise LabError("the rebuilt program of seed 001 does not answer", f"{SECONDS:g} s have passed") from None
    finally:
        for process in processes:
            process.join(1)
            process.kill()


def rank(number: int, barrier: Any, told: Any, prefix: str, folder: str) -> None:
    """Be a process of the rebuilt program: 0 writes, the others read; times in ns by what was timed."""
    found: Times = {}
    for entries in ENTRIES:
        for name, store in {"lmdb": lmdb_store, "shared-memory": memory_store, "zmq-push": push_store}.items():
            barrier.wait(SECONDS)
            with ExitStack() as held:
                if number == 0:
                    write, _ = store(True, f"{prefix}-{entries}", f"{folder}-{entries}", held)
                    content = {
                        f"key_{i}": {"value": i, "squared": i * i, "text": f"test_value_{i}", "float": i / 3}
                        for i in range(entries)
                    }
                barrier.wait(SECONDS)
                if number:
                    _, read = store(False, f"{prefix}-{entries}", f"{folder}-{entries}", held)
                barrier.wait(SECONDS)
                if number == 0:
                    if store is push_store:
                        time.sleep(0.3)  # a reader that has not connected yet would get nothing
                    start = time.perf_counter_ns()
                    for _ in range(READS * READERS if store is push_store else 1):
                        write(pickle.dumps(content, pickle.HIGHEST_PROTOCOL))
                    found[f"001 write {name} {entries}"] = time.perf_counter_ns() - start
                barrier.wait(SECONDS)
                if number:
                    start = time.perf_counter_ns()
                    for _ in range(READS):
                        result = pickle.loads(read())
                    found[f"001 read {name} {entries}"] = (time.perf_counter_ns() - start) / READS
                    del result
                barrier.wait(SECONDS)
    told.put(found)


def lmdb_store(create: bool, name: str, folder: str, held: ExitStack) -> tuple[Any, Any]:
    """Return how to write and read by LMDB with a writable map and without sync."""
    import lmdb

    Path(folder).mkdir(mode=0o700, exist_ok=True)
    environment = held.enter_context(lmdb.open(folder, map_size=1 << 30, max_dbs=1, writemap=True, sync=False))

    def write(data: bytes) -> None:
        with environment.begin(write=True) as transaction:
            transaction.put(b"data", data)

    def read() -> bytes:
        with environment.begin() as transaction:
            return bytes(transaction.get(b"data"))

    return write, read


def memory_store(create: bool, name: str, folder: str, held: ExitStack) -> tuple[Any, Any]:
    """Return how to write and read through 100 MiB of SharedMemory with a header of size and version."""
    resource_tracker.register = resource_tracker.unregister = lambda name, kind: None  # the session removes it
    memory = shared_memory.SharedMemory(name, create, (100 << 20) if create else 0)
    held.callback(memory.close)
    if create:
        held.callback(memory.unlink)
        memory.buf[:8] = struct.pack("II", 0, 0)

    def write(data: bytes) -> None:
        _, version = struct.unpack("II", bytes(memory.buf[:8]))
        memory.buf[8 : 8 + len(data)] = data
        memory.buf[:8] = struct.pack("II", len(data), version + 1)

    def read() -> bytes:
        size, _ = struct.unpack("II", bytes(memory.buf[:8]))
        return bytes(memory.buf[8 : 8 + size])

    return write, read


def push_store(create: bool, name: str, folder: str, held: ExitStack) -> tuple[Any, Any]:
    """Return how to send and receive by PUSH and PULL over a Unix socket."""
    import zmq

    context = held.enter_context(zmq.Context())
    link = held.enter_context(context.socket(zmq.PUSH if create else zmq.PULL))
    link.rcvtimeo = 2_000
    (link.bind if create else link.connect)(f"ipc://{folder}.ipc")
    return link.send, link.recv


def original(backend: str, name: str, size: int, count: int, cpus: Callable[[int], frozenset[int]]) -> float:
    """Return the mean round trip in ns by the rebuilt benchmark: this process asks one that it has started."""
    ready = SPAWN.Event()
    server = SPAWN.Process(target=serve, args=(backend, name, cpus(0), ready), daemon=True)
    server.start()
    allowed = os.sched_getaffinity(0)
    try:
        if not ready.wait(SECONDS):
            raise LabError(f"the rebuilt server of {backend} did not start", f"{SECONDS:g} s have passed")
        os.sched_setaffinity(0, cpus(1))
        send, take = transport(backend, name, False)
        message = b"A" * size
        for _ in range(100):
            send(message)
            _ = take()
        start = time.perf_counter_ns()
        for _ in range(count):
            send(message)
            _ = take()
        return (time.perf_counter_ns() - start) / count
    finally:
        os.sched_setaffinity(0, allowed)
        server.terminate()
        server.join(SECONDS)


def serve(backend: str, name: str, cpus: frozenset[int], ready: Any) -> None:
    """Echo until the benchmark ends this process."""
    os.sched_setaffinity(0, cpus)
    send, take = transport(backend, name, True)
    ready.set()
    while True:
        message = take()
        send(message)


def transport(backend: str, name: str, serves: bool) -> tuple[Callable[[bytes], object], Callable[[], bytes]]:
    """Return how to send and how to receive; the session removes what is made."""
    if backend == published.PACKAGE:
        from shm_rpc_bridge.transport.transport_posix import SharedMemoryTransportPosix as Transport

        made = (Transport.create if serves else Transport.open)(f"{name}-theirs", 2_500_000, 10.0)
        return (made.send_response, made.receive_request) if serves else (made.send_request, made.receive_response)
    import zmq

    link = zmq.Context().socket(zmq.REP if serves else zmq.REQ)
    link.linger = 0
    if not serves:
        link.rcvtimeo = round(1e3 * SECONDS)
    path = Path(tempfile.gettempdir()) / name.rpartition("-")[0] / f"{name.rpartition('-')[2]}-theirs"
    (link.bind if serves else link.connect)(f"ipc://{path}")
    return link.send, link.recv
