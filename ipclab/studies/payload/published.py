"""The published program's loops, as printed: one process, write all, then read all (methods: seed 000)."""

import mmap
import os
from pathlib import Path
from time import perf_counter_ns as clock

import numpy as np

from ipclab.errors import LabError
from ipclab.workers.loops import count_faults, record
from ipclab.workers.worker import Worker

ITERATIONS = 100
FOLDER = Path("/dev/shm")


def run(worker: Worker, size: int, seed: int) -> None:
    """Write `size` bytes of float32 100 times into one file in /dev/shm, then read them 100 times."""
    path = str(FOLDER / worker.name("published"))
    data = np.random.Generator(np.random.PCG64(seed)).random(size // 4, dtype=np.float32)

    def write() -> tuple[int, int]:
        start = clock()
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        os.ftruncate(descriptor, size)
        mapping = mmap.mmap(descriptor, size, access=mmap.ACCESS_WRITE)
        mapping.write(data.tobytes())
        mapping.flush()
        mapping.close()
        os.close(descriptor)
        return start, clock()

    def read() -> tuple[int, int]:
        start = clock()
        descriptor = os.open(path, os.O_RDONLY)
        mapping = mmap.mmap(descriptor, size, access=mmap.ACCESS_READ)
        content = mapping.read(size)
        _ = np.frombuffer(content, dtype=np.float32)[0]
        mapping.close()
        os.close(descriptor)
        return start, clock()

    room(FOLDER, size)
    try:
        # No warm-up and no removal between iterations: the first write alone allocates the pages, as published.
        record(worker, "write", ("all",), write, ITERATIONS)
        record(worker, "read", ("all",), read, ITERATIONS)
        count_faults(worker, "write", write)
        count_faults(worker, "read", read)
        if Path(path).read_bytes() != data.tobytes():
            raise LabError("what was read is not what was written", "the payload changed in /dev/shm")
    finally:
        Path(path).unlink(missing_ok=True)


def room(folder: Path, size: int) -> None:
    """Raise `LabError` unless `folder` has room for `size` bytes: a mapped write into a full tmpfs is a SIGBUS."""
    free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
    if free < size:
        why = f"{free} bytes are free and {size} are needed"
        raise LabError(f"{folder} is full", why, f"free some, or enlarge it: mount -o remount,size=1G {folder}")
