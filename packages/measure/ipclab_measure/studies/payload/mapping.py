"""The same write and read with phases timed apart: for each mapping, and through a file."""

import mmap
import os
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter_ns as clock

import numpy as np

from ipclab_measure.spawn import names
from ipclab_measure.spawn.loops import (
    DISCARDED,
    LEAST_LONG,
    Step,
    count_faults,
    operations,
    record,
)
from ipclab_measure.spawn.worker import Turns, Worker
from ipclab_measure.studies.payload.published import Floats, checked, floats

# The phases of a write and of a read, in the order of the stamps below.
OPENED = {
    "write": ["open", "ftruncate", "map", "serialise", "copy", "flush", "unmap", "close"],
    "read": ["open", "map", "copy", "deserialise", "unmap", "close"],
}
PHASES = {  # by mapping
    "truncated": OPENED,
    "reopened": OPENED,
    "kept": {"write": ["serialise", "copy", "flush"], "read": ["copy", "deserialise"]},
    "file": {
        "write": ["open", "serialise", "copy", "fsync", "close"],
        "read": ["open", "copy", "deserialise", "close"],
    },
}
WRITE_PHASES = OPENED["write"]
Steps = dict[str, Step]  # by op


def run(
    worker: Worker,
    size: int,
    seed: int,
    sampling: dict[str, int],
    mapping: str = "file",
    **others: object,
) -> Turns:
    """Time the phases of writing and reading `size` bytes of float32; `mapping` is one of `PHASES`.

    `truncated` opens with O_TRUNC, so that every write allocates its pages anew, as the real C++
    writer does; `reopened` maps existing pages again, as published; `kept` maps once. `file` is the
    real Python writer: no mapping, but `open("wb")` and fsync, read back by a plain read.
    """
    data = floats(size, seed)
    with checked(worker, data, size) as path, ExitStack() as held:
        if mapping == "kept":
            steps = _kept(path, data, held)
        elif mapping == "file":
            steps = _file(path, data)
        else:
            steps = _opened(path, data, os.O_TRUNC if mapping == "truncated" else 0)
        counts = dict.fromkeys(steps, LEAST_LONG)
        while (yield {}):
            for op, step in steps.items():
                median_ns = record(worker, op, PHASES[mapping][op], step, counts[op], DISCARDED)
                counts[op] = operations(median_ns, **sampling)
        for op, step in steps.items():
            count_faults(worker, op, step)


def _opened(path: Path, data: Floats, flags: int) -> Steps:
    size = data.nbytes

    def write() -> tuple[int, ...]:
        start = clock()
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | flags)
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
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
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

    return {"write": write, "read": read}


def _kept(path: Path, data: Floats, held: ExitStack) -> Steps:
    size = data.nbytes
    descriptor = names.find(path)
    os.ftruncate(descriptor, size)
    target = held.enter_context(mmap.mmap(descriptor, size, access=mmap.ACCESS_WRITE))
    source = held.enter_context(mmap.mmap(descriptor, size, access=mmap.ACCESS_READ))
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

    return {"write": write, "read": read}


def _file(path: Path, data: Floats) -> Steps:
    def write() -> tuple[int, ...]:
        start = clock()
        file = path.open("wb")
        opened = clock()
        content = data.tobytes()
        serialised = clock()
        file.write(content)
        file.flush()
        copied = clock()
        os.fsync(file.fileno())
        synced = clock()
        file.close()
        return start, opened, serialised, copied, synced, clock()

    def read() -> tuple[int, ...]:
        start = clock()
        file = path.open("rb")
        opened = clock()
        content = file.read()
        copied = clock()
        _ = np.frombuffer(content, dtype=np.float32)[0]
        deserialised = clock()
        file.close()
        return start, opened, copied, deserialised, clock()

    return {"write": write, "read": read}
