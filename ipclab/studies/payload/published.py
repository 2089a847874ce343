"""The published loops, as printed: one process, write all, read all (methods: text 000)."""

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter_ns as clock

import numpy as np

from ipclab.errors import LabError
from ipclab.spawn import names
from ipclab.spawn.ledger import SHARED_MEMORY, free_shared_memory
from ipclab.spawn.loops import Step, count_faults, record
from ipclab.spawn.proof import PayloadError
from ipclab.spawn.worker import Worker
from ipclab.studies.payload import MOVED

ITERATIONS = 100
SIDE = 512  # of a matrix whose product all threads of a BLAS library have a part in
ENLARGE = "free some, or enlarge it: mount -o remount,size=1G /dev/shm"
Float32s = np.ndarray[tuple[int], np.dtype[np.float32]]


def write_then_read(
    worker: Worker, size: int, seed: int, arm: str = "published", **others: object
) -> None:
    """Write `size` bytes of float32 100 times into one file in /dev/shm, then read them 100 times.

    The published program goes through its sizes in one process: smaller ones come first and are not
    kept. It is a fresh interpreter that has just imported NumPy, whose BLAS library starts a thread
    for each further CPU. These spin for a while before they sleep, and a process with running
    threads must interrupt their CPUs at every unmap. Arm `published` therefore runs this in a fresh
    interpreter and has them spin again, since a worker loads more than the program before it begins
    (a thread that runs is interrupted in less time than a CPU that sleeps); arm `one-thread` runs
    it without such threads.
    """
    if arm == "published":
        spin_again()
    for earlier in (moved for moved in MOVED.values() if moved < size):
        smaller = drawn_as_published(earlier, seed)
        with room(worker, earlier) as path:
            for step in steps(path, smaller).values():
                for _ in range(ITERATIONS):
                    step()
    data = drawn_as_published(size, seed)
    with room(worker, size) as path:
        # No warm-up and no removal between iterations: the first write alone allocates the pages,
        # as published.
        both = steps(path, data)
        for op, step in both.items():
            record(worker, op, ("all",), step, ITERATIONS)
        for op, step in both.items():
            count_faults(worker, op, step)
        if path.read_bytes() != data.tobytes():
            why = "the payload changed in /dev/shm"
            raise PayloadError("what was read is not what was written", why)


def spin_again() -> None:
    """Have NumPy's threads do some work, after which they spin as they do when they have started."""
    square = np.ones((SIDE, SIDE))
    _ = square @ square


@contextmanager
def room(worker: Worker, size: int) -> Iterator[Path]:
    """Give a new, empty file in /dev/shm for `size` bytes, and remove it.

    It is there before anybody's calls open it, which may create it as published: what they find is
    ours. Raises `LabError` unless `size` bytes are free: a mapped write into a full tmpfs is SIGBUS.
    """
    path = SHARED_MEMORY / worker.name(f"payload-{size}")
    if (free := free_shared_memory()) < size:
        why = f"{free} bytes are free and {size} are needed"
        raise LabError("/dev/shm is full", why, ENLARGE)
    os.close(names.make(path))
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def drawn_as_published(size: int, seed: int) -> Float32s:
    """Return `size` bytes of random float32, made of float64 whose memory the allocator then has."""
    made: Float32s = np.random.RandomState(seed).rand(size // 4).astype(np.float32)
    return made


def floats(size: int, seed: int) -> Float32s:
    """Return `size` bytes of random float32."""
    return np.random.Generator(np.random.PCG64(seed)).random(size // 4, dtype=np.float32)


def steps(where: Path, data: Float32s) -> dict[str, Step]:
    """Return one published write and read of `data`: open, map, close; each returns its stamps."""
    path = str(where)
    size = data.nbytes

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

    return {"write": write, "read": read}
