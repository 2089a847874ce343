"""The same write and read with their phases timed apart, for each way to come by the mapping."""

import mmap
import os
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns as clock

import numpy as np

from ipclab.errors import LabError
from ipclab.spawn.loops import Step, count_faults, record, repeats
from ipclab.spawn.worker import Worker
from ipclab.studies.payload.published import FOLDER, room

MAPPINGS = ("truncated", "reopened", "kept")
WRITE_PHASES = ("open", "ftruncate", "map", "serialise", "copy", "flush", "unmap", "close")
READ_PHASES = ("open", "map", "copy", "deserialise", "unmap", "close")
KEPT_WRITE_PHASES = ("serialise", "copy", "flush")
KEPT_READ_PHASES = ("copy", "deserialise")


def run(worker: Worker, size: int, seed: int, mapping: str, budget_ns: int, least: int, most: int) -> None:
    """Time the phases of writing and reading `size` bytes of float32; `mapping` is one of `MAPPINGS`.

    `truncated` opens with O_TRUNC, so that every write allocates its pages anew, as the real C++ writer does;
    `reopened` maps existing pages again, as published; `kept` maps once.
    """
    path = FOLDER / worker.name("mapping")
    data = np.random.Generator(np.random.PCG64(seed)).random(size // 4, dtype=np.float32)
    room(FOLDER, size)
    try:
        write, read, close = _kept(path, data) if mapping == "kept" else _opened(path, data, mapping == "truncated")
        for op, step in (("write", write), ("read", read)):
            count = repeats(step, budget_ns, least, most)
            record(worker, op, _phases(op, mapping), step, count)
        for op, step in (("write", write), ("read", read)):
            count_faults(worker, op, step)
        close()
        if path.read_bytes() != data.tobytes():
            raise LabError("what was read is not what was written", "the payload changed in /dev/shm")
    finally:
        path.unlink(missing_ok=True)


def _phases(op: str, mapping: str) -> tuple[str, ...]:
    if mapping == "kept":
        return KEPT_WRITE_PHASES if op == "write" else KEPT_READ_PHASES
    return WRITE_PHASES if op == "write" else READ_PHASES


Steps = tuple[Step, Step, Callable[[], None]]
Floats = np.ndarray[tuple[int], np.dtype[np.float32]]


def _opened(path: Path, data: Floats, truncate: bool) -> Steps:
    size = data.nbytes
    flags = os.O_CREAT | os.O_RDWR | (os.O_TRUNC if truncate else 0)

    def write() -> tuple[int, ...]:
        start = clock()
        descriptor = os.open(path, flags, 0o600)
        opened = clock()
        os.ftruncate(descriptor, size)
        sized = clock()
        region = mmap.mmap(descriptor, size, access=mmap.ACCESS_WRITE)
        mapped = clock()
        content = data.tobytes()
        serialised = clock()
        region.write(content)
        copied = clock()
        region.flush()
        flushed = clock()
        region.close()
        unmapped = clock()
        os.close(descriptor)
        return start, opened, sized, mapped, serialised, copied, flushed, unmapped, clock()

    def read() -> tuple[int, ...]:
        start = clock()
        descriptor = os.open(path, os.O_RDONLY)
        opened = clock()
        region = mmap.mmap(descriptor, size, access=mmap.ACCESS_READ)
        mapped = clock()
        content = region.read(size)
        copied = clock()
        _ = np.frombuffer(content, dtype=np.float32)[0]
        deserialised = clock()
        region.close()
        unmapped = clock()
        os.close(descriptor)
        return start, opened, mapped, copied, deserialised, unmapped, clock()

    return write, read, lambda: None


def _kept(path: Path, data: Floats) -> Steps:
    size = data.nbytes
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    os.ftruncate(descriptor, size)
    target = mmap.mmap(descriptor, size, access=mmap.ACCESS_WRITE)
    source = mmap.mmap(descriptor, size, access=mmap.ACCESS_READ)
    os.close(descriptor)

    def write() -> tuple[int, ...]:
        start = clock()
        content = data.tobytes()
        serialised = clock()
        target.seek(0)
        target.write(content)
        copied = clock()
        target.flush()
        return start, serialised, copied, clock()

    def read() -> tuple[int, ...]:
        start = clock()
        source.seek(0)
        content = source.read(size)
        copied = clock()
        _ = np.frombuffer(content, dtype=np.float32)[0]
        return start, copied, clock()

    def close() -> None:
        target.close()
        source.close()

    return write, read, close
