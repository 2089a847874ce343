"""The programs of texts 001 (under `mpiexec`) and 003, rebuilt from what their authors describe."""

import json
import multiprocessing
import os
import pickle
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from multiprocessing import resource_tracker, shared_memory
from pathlib import Path
from typing import Any

from ipclab.errors import LabError
from ipclab.spawn import mpi
from ipclab.spawn.exits import die_with_parent, last_line
from ipclab.spawn.ledger import SHARED_MEMORY
from ipclab.studies.round_trip import published

ENTRIES, READS = (10, 100, 1_000, 10_000), 100
SECONDS = 60.0
SPAWN = multiprocessing.get_context("spawn")
Times = dict[str, float]  # ns by what was timed


def shared_dict(prefix: str, folder: str, readers: int) -> list[Times]:
    """Run the program of text 001 under `mpiexec` with `readers`, as it was, and return what each
    rank timed.

    Raises `LabError` when there is no `mpiexec`, or when the program is silent or fails.
    """
    path, memory = mpi.mpiexec(), SHARED_MEMORY / f"{prefix}-mpi"
    if path is None:
        raise LabError("the program of text 001 cannot be rebuilt", mpi.mpi_missing() or "", "")
    ranks = mpi.command(path, 1 + readers, [sys.executable, __file__, prefix, folder])
    env = mpi.rank_environment(os.environ, Path(folder), memory)
    for each in (Path(folder), memory):
        each.mkdir(mode=0o700)
    try:
        return list(_told("001", ranks, env))
    finally:
        shutil.rmtree(memory, ignore_errors=True)


def _told(seed: str, command: Sequence[str], env: Mapping[str, str]) -> Any:
    """Return what a rebuilt program prints; raises `LabError` with its last words when that is
    nothing.
    """
    words = ""
    try:
        done = subprocess.run(
            command, env=env, capture_output=True, text=True, timeout=SECONDS, check=False
        )
        words = last_line(done.stderr) or f"its exit code is {done.returncode}"
        return json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError) as error:
        raise LabError(
            f"the rebuilt program of seed {seed} gave no times", words or str(error), ""
        ) from None


def rank(comm: Any, prefix: str, folder: str) -> Times:
    """Be a rank of the rebuilt program: 0 writes, the others read; return the times in ns by what
    was timed.
    """
    number = comm.rank
    found: Times = {}
    for entries in ENTRIES:
        for name, store in STORES.items():
            comm.Barrier()
            with ExitStack() as held:
                if number == 0:
                    write, _ = store(True, f"{prefix}-{entries}", f"{folder}-{entries}", held)
                    content = {f"key_{i}": _entry(i) for i in range(entries)}
                comm.Barrier()
                if number:
                    _, read = store(False, f"{prefix}-{entries}", f"{folder}-{entries}", held)
                comm.Barrier()
                if number == 0:
                    if store is push_store:
                        time.sleep(0.3)  # a reader that has not connected yet would get nothing
                    start = time.perf_counter_ns()
                    for _ in range(READS * (comm.size - 1) if store is push_store else 1):
                        write(pickle.dumps(content, pickle.HIGHEST_PROTOCOL))
                    found[f"001 write {name} {entries}"] = time.perf_counter_ns() - start
                comm.Barrier()
                if number:
                    start = time.perf_counter_ns()
                    for _ in range(READS):
                        result = pickle.loads(read())
                    found[f"001 read {name} {entries}"] = (time.perf_counter_ns() - start) / READS
                    del result
                comm.Barrier()
    return found


def _entry(i: int) -> dict[str, Any]:
    return {"value": i, "squared": i * i, "text": f"test_value_{i}", "float": i / 3}


def lmdb_store(create: bool, name: str, folder: str, held: ExitStack) -> tuple[Any, Any]:
    """Return how to write and read by LMDB with a writable map and without sync."""
    import lmdb

    Path(folder).mkdir(mode=0o700, exist_ok=True)
    environment = held.enter_context(
        lmdb.open(folder, map_size=1 << 30, max_dbs=1, writemap=True, sync=False)
    )

    def write(data: bytes) -> None:
        with environment.begin(write=True) as transaction:
            transaction.put(b"data", data)

    def read() -> bytes:
        with environment.begin() as transaction:
            return bytes(transaction.get(b"data"))

    return write, read


def memory_store(create: bool, name: str, folder: str, held: ExitStack) -> tuple[Any, Any]:
    """Return how to write and read through 100 MiB of SharedMemory with a header of size and
    version.
    """
    # the session removes it
    resource_tracker.register = resource_tracker.unregister = lambda name, kind: None
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


STORES = {"lmdb": lmdb_store, "shared-memory": memory_store, "zmq-push": push_store}


def original(
    backend: str, name: str, size: int, count: int, cpus: Sequence[frozenset[int]]
) -> float:
    """Return the mean round trip in ns by the rebuilt benchmark, a program of its own, on `cpus` of
    server and client.

    Raises `LabError` when it is silent or fails.
    """
    about = [backend, name, str(size), str(count), json.dumps([sorted(each) for each in cpus])]
    return float(_told("003", [sys.executable, __file__, "ask", *about], os.environ))


def ask(backend: str, name: str, size: int, count: int, cpus: list[list[int]]) -> float:
    """Return the mean round trip in ns: this process asks one that it has started."""
    ready = SPAWN.Event()
    server = SPAWN.Process(
        target=serve, args=(backend, name, cpus[0], ready, os.getpid()), daemon=True
    )
    server.start()
    try:
        if not ready.wait(SECONDS / 2):
            raise LabError(
                f"the rebuilt server of {backend} did not start", f"{SECONDS / 2:g} s have passed"
            )
        os.sched_setaffinity(0, cpus[1])
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
        server.terminate()
        server.join(SECONDS / 2)


def serve(backend: str, name: str, cpus: list[int], ready: Any, parent: int) -> None:
    """Echo until the benchmark, process `parent`, ends this one, or has ended."""
    die_with_parent(parent)
    os.sched_setaffinity(0, cpus)
    send, take = transport(backend, name, True)
    ready.set()
    while True:
        message = take()
        send(message)


def transport(
    backend: str, name: str, serves: bool
) -> tuple[Callable[[bytes], object], Callable[[], bytes]]:
    """Return how to send and how to receive; the session removes what is made."""
    if backend == published.PACKAGE:
        from shm_rpc_bridge.transport.transport_posix import SharedMemoryTransportPosix as Transport

        made = (Transport.create if serves else Transport.open)(f"{name}-theirs", 2_500_000, 10.0)
        if serves:
            return made.send_response, made.receive_request
        return made.send_request, made.receive_response
    import zmq

    link = zmq.Context().socket(zmq.REP if serves else zmq.REQ)
    link.linger = 0
    if not serves:
        link.rcvtimeo = round(1e3 * SECONDS / 4)
    folder, _, number = name.rpartition("-")
    path = Path(tempfile.gettempdir(), folder, f"{number}-theirs")
    (link.bind if serves else link.connect)(f"ipc://{path}")
    return link.send, link.recv


if __name__ == "__main__":
    if sys.argv[1] == "ask":
        backend, name, size, count, cpus = sys.argv[2:]
        print(ask(backend, name, int(size), int(count), json.loads(cpus)))
    else:
        from mpi4py import MPI

        every = MPI.COMM_WORLD.gather(rank(MPI.COMM_WORLD, *sys.argv[1:]))
        if every:
            print(json.dumps(every))
