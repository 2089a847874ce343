"""What a writer and a reader do over and over: encode and write, read and decode, each timed and
each read checked.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic_ns as clock
from typing import Any, cast

import numpy as np

from ipclab.backends.codecs import CODECS, Codec, Dictionary, dictionary, encoded_bytes, rotations
from ipclab.backends.interface import Store
from ipclab.spawn.loops import keep_phases
from ipclab.spawn.mpi_worker import RankWorker
from ipclab.spawn.proof import PayloadError, digest

WAIT_NS = 10_000_000_000


@dataclass(frozen=True)
class Task:
    """The levels of a point and how much to do, as each rank is told."""

    backend: str
    arm: str
    codec: str
    entries: int
    sync: str
    map: str
    nodes: int
    writes: int
    budget_ns: int
    least: int
    most: int

    @property
    def size(self) -> int:
        """Return the encoded bytes."""
        return encoded_bytes(self.codec, self.entries)

    @property
    def contents(self) -> int:
        """Return how many contents the writer turns through: one as published, several where
        versions matter.
        """
        return rotations(self.entries) if self.arm in ("stream", "live") else 1

    @property
    def how(self) -> Codec:
        """Return the codec itself."""
        return CODECS[self.codec]


class Writing:
    """The writer's loop body: encode, hand over, keep the times."""

    def __init__(self, worker: RankWorker, task: Task, store: Store) -> None:
        self.worker, self.task, self.store = worker, task, store
        self.contents = _contents(task.entries, task.contents)
        self.version = 0
        self.stamps: list[tuple[int, int, int]] = []  # of this turn
        self.copies = 1 if store.fans_out else len(worker.peers)
        self.writes = self.messages = 0  # of all turns

    def write(self, copies: int = 1) -> int:
        """Encode and write the next version `copies` times; return the clock before that."""
        self.version += 1
        content = self.contents[self.version % len(self.contents)]
        encode, write = self.task.how.encode, self.store.write
        start = clock()
        data = encode(content)
        encoded = clock()
        for _ in range(copies):
            write(data, WAIT_NS)
        self.stamps.append((start, encoded, clock()))
        return start

    def end_turn(self) -> None:
        """Keep the samples of this turn's writes."""
        keep_phases(self.worker, "write", ("encode", "transport"), np.array(self.stamps, np.int64))
        self.writes += len(self.stamps)
        self.messages += len(self.stamps) * self.copies
        self.stamps.clear()

    def finish(self) -> None:
        """Note how much was written in all."""
        self.worker.outcome.facts |= {"writes": self.writes, "messages": self.messages}


@lru_cache(maxsize=2)
def _contents(entries: int, count: int) -> list[Dictionary]:
    """Return `count` contents, that of version v at v modulo `count`."""
    return [dictionary(entries, rotation) for rotation in range(count)]


@lru_cache(maxsize=4)
def _encoded(codec: str, entries: int, count: int) -> list[bytes]:
    return [CODECS[codec].encode(content) for content in _contents(entries, count)]


class Reading:
    """A reader's loop body: read, decode, keep the times, check every byte with what this reader
    encodes by itself.
    """

    def __init__(self, worker: RankWorker, task: Task, store: Store) -> None:
        self.worker, self.task, self.store = worker, task, store
        self.decode = task.how.decode
        self.expected = _encoded(task.codec, task.entries, task.contents)
        self.stamps: list[tuple[int, int, int]] = []  # of this turn
        self.version, self.torn, self.reads = 0, 0, 0
        self.data, self.decoded = b"", cast(Any, None)

    def read(self, after: int, acknowledge: Callable[[], None] | None = None) -> int:
        """Read and decode a version above `after`, then check it; return the version."""
        start = clock()
        self.version, data = self.store.read(after, WAIT_NS)
        got = clock()
        try:
            # what was decoded before goes meanwhile, as in a program that keeps one
            self.decoded = self.decode(data)
        except Exception as error:
            if data == self._expected():
                raise
            why = "its bytes are none that were written"
            raise PayloadError(f"a read of version {self.version} was torn", why) from error
        done = clock()
        if acknowledge:
            acknowledge()
        self.stamps.append((start, got, done))
        self.torn += data != self._expected()  # outside of any timed region
        self.data = data
        return self.version

    def _expected(self) -> bytes:
        return self.expected[self.version % len(self.expected)]

    def end_turn(self) -> None:
        """Keep the samples of this turn's reads."""
        keep_phases(self.worker, "read", ("transport", "decode"), np.array(self.stamps, np.int64))
        self.reads += len(self.stamps)
        self.stamps.clear()

    def finish(self) -> None:
        """Note how much was read in all, and the proof: what was decoded last compared with the
        dictionary itself.
        """
        content = dictionary(self.task.entries, self.version % len(self.expected))
        whole = self.task.how.restore(self.decoded) == content
        self.worker.outcome.proof = [digest(self.data)]
        self.worker.outcome.facts |= {
            "reads": self.reads,
            "torn": self.torn + (not whole and not self.torn),
        }
