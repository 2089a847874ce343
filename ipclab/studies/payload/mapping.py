"""The same write and read with phases timed apart: for each mapping, and through a file.

Every write has a content of its own with its number; every read is of the last one's, and checked.
"""

import mmap
import os
import secrets
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter_ns as clock

import numpy as np

from ipclab.spawn import names
from ipclab.spawn.loops import DISCARDED, LEAST_LONG, Step, count_faults, operations, record
from ipclab.spawn.proof import LOOKED, Data, Numbered
from ipclab.spawn.worker import Turns, Worker
from ipclab.studies.payload.published import Float32s, room
from ipclab.studies.payload.tcp import TOKEN_BYTES, numbered

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


class Passed:
    """What one process writes and reads back: the next content, and the check of the last one."""

    def __init__(self, proof: Numbered) -> None:
        self.proof = proof
        self.looks = iter([False])

    def next(self) -> Float32s:
        """Return the content of the next write."""
        return np.frombuffer(self.proof.next(), np.float32)

    def plan(self, count: int) -> list[bool]:
        """Return which of the next `count` reads are compared whole."""
        plan = self.proof.plan(count)
        self.looks = iter(plan)
        return plan

    def check(self, content: Data) -> None:
        """Raise `PayloadError` unless `content` is what was written last."""
        self.proof.check(content, next(self.looks, False))

    def end_turn(self, path: Path) -> None:
        """Compare what any process finds at `path` with what was written last."""
        self.proof.look(self.proof.made - 1, path.read_bytes())


def time_mapping(
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
    passed = Passed(numbered(worker, secrets.token_bytes(TOKEN_BYTES), size, seed))
    with room(worker, size) as path, ExitStack() as held:
        if mapping == "kept":
            steps = _kept(path, size, passed, held)
        elif mapping == "file":
            steps = _file(path, passed)
        else:
            steps = _opened(path, size, passed, os.O_TRUNC if mapping == "truncated" else 0)
        counts = dict.fromkeys(steps, LEAST_LONG)
        while (yield {}):
            for op, step in steps.items():
                total = DISCARDED + counts[op]
                plan = passed.plan(total := total + LOOKED) if op == "read" else ()
                median_ns = record(worker, op, PHASES[mapping][op], step, total, DISCARDED, plan)
                counts[op] = operations(median_ns, **sampling)
            passed.end_turn(path)
        for op, step in steps.items():
            count_faults(worker, op, step)
        worker.outcome.facts |= passed.proof.told()


def _opened(path: Path, size: int, passed: Passed, flags: int) -> Steps:
    def write() -> tuple[int, ...]:
        data = passed.next()
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
        stamps = start, opened, mapped, copied, deserialised, unmapped, clock()
        passed.check(content)
        return stamps

    return {"write": write, "read": read}


def _kept(path: Path, size: int, passed: Passed, held: ExitStack) -> Steps:
    descriptor = names.open_own(path)
    os.ftruncate(descriptor, size)
    target = held.enter_context(mmap.mmap(descriptor, size, access=mmap.ACCESS_WRITE))
    source = held.enter_context(mmap.mmap(descriptor, size, access=mmap.ACCESS_READ))
    os.close(descriptor)

    def write() -> tuple[int, ...]:
        data = passed.next()
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
        stamps = start, copied, clock()
        passed.check(content)
        return stamps

    return {"write": write, "read": read}


def _file(path: Path, passed: Passed) -> Steps:
    def write() -> tuple[int, ...]:
        data = passed.next()
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
        stamps = start, opened, copied, deserialised, clock()
        passed.check(content)
        return stamps

    return {"write": write, "read": read}
