"""The real Python writer: a file in /dev/shm by `open("wb")` and fsync, read back by a plain read."""

import os
from pathlib import Path
from time import perf_counter_ns as clock

import numpy as np

from ipclab.errors import LabError
from ipclab.spawn.loops import count_faults, record, repeats
from ipclab.spawn.worker import Worker
from ipclab.studies.payload.published import FOLDER, room

WRITE_PHASES = ("open", "serialise", "copy", "fsync", "close")
READ_PHASES = ("open", "copy", "deserialise", "close")


def run(worker: Worker, size: int, seed: int, budget_ns: int, least: int, most: int) -> None:
    """Write and read `size` bytes of float32 through the file interface, phases timed apart."""
    path = FOLDER / worker.name("file")
    data = np.random.Generator(np.random.PCG64(seed)).random(size // 4, dtype=np.float32)

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

    room(FOLDER, size)
    path.touch(mode=0o600)
    try:
        for op, phases, step in (("write", WRITE_PHASES, write), ("read", READ_PHASES, read)):
            record(worker, op, phases, step, repeats(step, budget_ns, least, most))
            count_faults(worker, op, step)
        if Path(path).read_bytes() != data.tobytes():
            raise LabError("what was read is not what was written", "the payload changed in /dev/shm")
    finally:
        path.unlink(missing_ok=True)
