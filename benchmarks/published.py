"""Do the published arms take as long as what they follow? Both interleaved, in one run on one machine.

usage: python benchmarks/published.py [--rounds N] [TEXT]

Seed 000: the arm against the program that TEXT, the published report, prints in section 2.3 (`numpy.mean` stands for
`numpy.median` there; without TEXT it is left out). Seeds 001 and 003: the arm against loops rebuilt from what their
authors' programs do, in processes of their own; those of 003 call the package shm-rpc-bridge too. Prints the median
of the rounds' ratios, ours over theirs, with its 95 % interval; exit code 1 when a median is off by more than 15 %.
"""

import argparse
import json
import multiprocessing
import os
import pickle
import re
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from multiprocessing import resource_tracker, shared_memory
from pathlib import Path
from typing import Any

import numpy as np

from ipclab.errors import LabError
from ipclab.machine import Source, Topology
from ipclab.machine.placement import placements
from ipclab.spawn.launcher import Launcher, Role
from ipclab.spawn.mpi_launcher import RankBench
from ipclab.stats.intervals import median_interval
from ipclab.studies.interface import Sweep
from ipclab.studies.payload import MOVED
from ipclab.studies.profile import profile
from ipclab.studies.round_trip import RoundTripStudy, published
from ipclab.studies.shared_dict.study import SharedDictStudy

ROUNDS, TOLERANCE, SECONDS = 9, 0.15, 60.0
ROUND_TRIPS = {100: 2_000, 10_000: 2_000, 500_000: 200, 2_000_000: 100}
ENTRIES, READS, READERS = (10, 100, 1_000, 10_000), 100, 3
SPAWN = multiprocessing.get_context("spawn")
RUN_LISTING = """
import contextlib, io, json, runpy, sys
import numpy
numpy.mean = numpy.median
with contextlib.redirect_stdout(io.StringIO()):
    results = runpy.run_path(sys.argv[1], run_name="__main__")["results"]
print(json.dumps([[float(r["write_time_ms"]) * 1e6, float(r["read_time_ms"]) * 1e6] for r in results]))
"""
Times = dict[str, float]  # ns by what was timed
Side = Callable[[], Times]


def payload(launcher: Launcher, program: Path) -> tuple[Side, Side]:
    """Return the arm of seed 000 and the printed program."""

    def ours() -> Times:
        found = {}
        for size in MOVED.values():
            arguments = {"size": size, "seed": 1, "before": [moved for moved in MOVED.values() if moved < size]}
            target, cpus = "ipclab.studies.payload.published:run", frozenset(os.sched_getaffinity(0))
            role = Role("program", target, arguments, cpus, fresh=True)
            samples = launcher.launch([role], SECONDS)["program"].samples
            found |= {f"000 {op} {size} B": float(statistics.median(values)) for op, values in samples.items()}
        return found

    def theirs() -> Times:
        command = [sys.executable, "-c", RUN_LISTING, str(program)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=True)
        pairs = zip(MOVED.values(), json.loads(done.stdout), strict=True)
        return {
            f"000 {op} {size} B": ns for size, both in pairs for op, ns in zip(("write", "read"), both, strict=True)
        }

    return ours, theirs


def listing(text: str) -> str:
    """Return the program that the report prints; raises `SystemExit` when it is not there."""
    found = re.search(r"^#!/usr/bin/env python3$.*?^    print\(\"For LDM-EKI's[^\n]*$", text, re.DOTALL | re.MULTILINE)
    if found is None:
        raise SystemExit("published: the text holds no program; give the published report of seed 000")
    return found[0]


def shared_dict(launcher: Launcher, bench: RankBench) -> tuple[Side, Side]:
    """Return the arm of seed 001 and its program rebuilt: all sizes and mechanisms in one set of processes."""
    study, effort, free = SharedDictStudy(), profile("quick"), placements(Topology.read(Source()))["free"]
    levels = {"arm": "published", "readers": READERS}.items()
    points = [point for point in study.points(effort, Sweep()) if levels <= point.levels.items()]

    def ours() -> Times:
        found = {}
        for point in points:
            outcomes = bench(point, study.roles(point, effort, free, 1), SECONDS)
            samples, what = study.collect(point, outcomes, 1).samples, f"{point.backend} {point.levels['entries']}"
            found[f"001 write {what}"] = float(samples["write-total"][0])
            found[f"001 read {what}"] = float(samples["read-total"].mean() / READS)
        return found

    def theirs() -> Times:
        with launcher.naming() as prefix:
            barrier, told = SPAWN.Barrier(1 + READERS), SPAWN.Queue()
            folder = f"{launcher.session.folder}/{prefix.rpartition('-')[2]}-theirs"
            processes = [
                SPAWN.Process(target=rank, args=(number, barrier, told, prefix, folder), daemon=True)
                for number in range(1 + READERS)
            ]
            for process in processes:
                process.start()
            results = [told.get(timeout=SECONDS) for _ in processes]
            for process in processes:
                process.join(SECONDS)
        names = {name for result in results for name in result}
        return {name: statistics.mean(result[name] for result in results if name in result) for name in names}

    return ours, theirs


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


def round_trips(launcher: Launcher) -> Iterator[tuple[Side, Side]]:
    """Yield the arm of seed 003 and its loops rebuilt, for each placement, size and program."""
    study, placed = RoundTripStudy(), placements(Topology.read(Source()))
    for point in study.points(profile("quick"), Sweep(None, tuple(published.PROGRAMS))):
        if point.levels["arm"] == "published" and point.placement in placed and point.placement != "free":
            count, placement = ROUND_TRIPS[point.size_bytes], placed[point.placement]
            effort = replace(profile("quick"), least_samples=count, most_samples=count)
            what = f"003 {point.backend} {point.placement} {point.size_bytes} B"

            def ours(point=point, effort=effort, placement=placement, what=what) -> Times:  # type: ignore[no-untyped-def]
                outcomes = launcher.launch(study.roles(point, effort, placement, 1), SECONDS)
                return {what: float(study.collect(point, outcomes, 1).samples["round-trip"][0])}

            def theirs(point=point, count=count, placement=placement, what=what) -> Times:  # type: ignore[no-untyped-def]
                with launcher.naming() as prefix:
                    return {what: original(point.backend, prefix, point.size_bytes, count, placement.role)}

            yield ours, theirs


def original(backend: str, name: str, size: int, count: int, cpus: Callable[[int], frozenset[int]]) -> float:
    """Return the mean round trip in ns by the rebuilt benchmark: this process asks one that it has started."""
    ready = SPAWN.Event()
    server = SPAWN.Process(target=serve, args=(backend, name, cpus(0), ready), daemon=True)
    server.start()
    allowed = os.sched_getaffinity(0)
    try:
        ready.wait(SECONDS)
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
    path = Path(tempfile.gettempdir()) / name.rpartition("-")[0] / f"{name.rpartition('-')[2]}-theirs"
    (link.bind if serves else link.connect)(f"ipc://{path}")
    return link.send, link.recv


def compare(sides: tuple[Side, Side], rounds: int) -> int:
    """Run both sides in turn, the first one last in every other round; print their ratios and count those off."""
    found: list[list[Times]] = [[], []]
    for number in range(rounds):
        for place in (0, 1) if number % 2 else (1, 0):
            found[place].append(sides[place]())
    off = 0
    for name in found[0][0]:
        ours, theirs = (np.array([times[name] for times in side]) for side in found)
        ratio, (low, high) = float(np.median(ours / theirs)), median_interval(ours / theirs)
        off += abs(ratio - 1) > TOLERANCE
        times = f"ours {np.median(ours) / 1e3:>11,.1f} us  theirs {np.median(theirs) / 1e3:>11,.1f} us"
        print(f"{name:<36} {times}  ratio {ratio:.3f} [{low:.3f}, {high:.3f}]", flush=True)
    return off


def main() -> int:
    """Compare each seed's arm and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", nargs="?", type=Path, help="the published report of seed 000")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seeds", nargs="*", default=["000", "001", "003"], help="which ones: 000, 001, 003")
    asked, off = parser.parse_args(), 0
    with tempfile.TemporaryDirectory() as folder, Launcher(Path(folder) / "ledger") as launcher:
        if asked.text and "000" in asked.seeds:
            program = Path(folder) / "listing.py"
            program.write_text(listing(asked.text.read_text("utf-8")), "utf-8")
            off += compare(payload(launcher, program), asked.rounds)
        if "003" in asked.seeds:
            if why := published.missing(published.PACKAGE):
                print(f"003 is left out: {why}")
            else:
                off += sum(compare(sides, asked.rounds) for sides in round_trips(launcher))
        if "001" in asked.seeds:
            with RankBench(launcher, 1 + READERS) as bench:
                off += compare(shared_dict(launcher, bench), asked.rounds)
    return int(off > 0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except LabError as error:
        sys.exit(f"error: {error}")
