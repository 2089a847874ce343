"""What a writer and a reader repeat: encode, write, read, decode; all timed, reads checked."""

from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from time import monotonic_ns as clock
from typing import Any, ClassVar

import numpy as np

from ipclab.backends.codecs import CODECS, Codec, rotations
from ipclab.backends.interface import Store
from ipclab.spawn.loops import await_due, keep_phases, keep_unrecorded, operations
from ipclab.spawn.mpi_worker import RankWorker
from ipclab.spawn.proof import MARK, PayloadError, unlike
from ipclab.studies.joining import WAIT_NS
from ipclab.studies.shared_dict.versions import Versions

READY_NS = 3_000_000  # until all ranks have come from a meeting, where they sleep


@dataclass(frozen=True)
class Task:
    """The levels of a point and how much to do, as each rank is told."""

    backend: str
    arm: str
    codec: str
    entries: int
    readers: int
    sync: str
    map: str
    nodes: int
    writes: int
    budget_ns: int
    least: int
    most: int

    @property
    def contents(self) -> int:
        """Return how many contents the writer turns through: one as published, else several."""
        return 1 if self.arm == "published" else rotations(self.entries)

    @property
    def coder(self) -> Codec:
        """Return what encodes and decodes, of which `codec` is the name."""
        return CODECS[self.codec]

    def fitting(self, step: Callable[[], object], least: int) -> int:
        """Return how many repeats of `step` fit into a turn, by how long one takes."""
        start = clock()
        step()
        return operations(clock() - start, self.budget_ns, least, self.most)


@dataclass
class Body:
    """What the loop bodies of both ends share: the times of each turn, and how many they are.

    Contents are numbered from `first`, but as published they are all the same.
    """

    op: ClassVar[str]
    phases: ClassVar[tuple[str, str]]
    worker: RankWorker
    task: Task
    store: Store
    first: int
    version: int = 0
    stamps: list[tuple[int, int, int]] = field(default_factory=list)  # of this turn
    count: int = 0  # of all turns

    def __post_init__(self) -> None:
        task = self.task
        first = None if task.arm == "published" else self.first
        self.versions = Versions(task.codec, task.entries, task.contents, first)

    def end_turn(self) -> None:
        """Keep the samples of this turn."""
        stamps = np.array(self.stamps)
        keep_phases(self.worker, self.op, self.phases, stamps)
        if not self.worker.recording:
            keep_unrecorded(self.worker, self.op, stamps[:, -1] - stamps[:, 0])
        self.count += len(self.stamps)
        self.stamps.clear()


@dataclass
class Writing(Body):
    """The writer's loop body: encode, hand over, keep the times."""

    op, phases = "write", ("encode", "transport")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.copies = 1 if self.store.fans_out else len(self.worker.peers)

    def write(self, copies: int = 1) -> int:
        """Encode and write the next version `copies` times; return the clock before that."""
        self.version += 1
        content = self.versions.content(self.version)
        encode = self.task.coder.encode
        write = self.store.write
        start = clock()
        data = encode(content)
        encoded = clock()
        for _ in range(copies):
            write(data, WAIT_NS)
        self.stamps.append((start, encoded, clock()))
        return start

    def write_all(self, count: int) -> None:
        """Write `count` times, and count what it takes."""
        with self.worker.counting("write", count):
            for _ in range(count):
                self.write()

    def note_first(self) -> None:
        """Keep the first write of all, which finds everything cold, in whatever turn."""
        start, _, done = self.stamps[0]
        self.worker.outcome.samples["write-cold"] = array("q", [done - start])

    def fitting_reads(self) -> int:
        """Return how many reads fit into a turn, by how long one decoding takes the writer."""
        coder = self.task.coder
        decode = partial(coder.decode, coder.encode(self.versions.content(0)))
        return self.task.fitting(decode, self.task.least)

    def ask(self, reads: int) -> None:
        """Tell readers to make `reads` reads, all from one moment where they have one clock."""
        facts = self.worker.outcome.facts
        facts["asked"] = facts.get("asked", 0) + reads
        at = clock() + READY_NS if self.task.nodes == 1 else 0
        self.worker.meet(reads=reads, at=at, version=self.version)

    def finish(self) -> None:
        """Note how much was written in all."""
        messages = self.count * self.copies
        self.worker.outcome.facts |= {"writes": self.count, "messages": messages}


@dataclass
class Reading(Body):
    """A reader's loop body: read, decode, keep the times, check every byte by its own encoding."""

    op, phases = "read", ("transport", "decode")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.decode = self.task.coder.decode
        self.torn = 0
        self.decoded: Any = None

    def read(self, after: int, acknowledge: Callable[[], None] | None = None) -> int:
        """Read and decode a version above `after`, then check it; return the version."""
        start = clock()
        self.version, data = self.store.read(after, WAIT_NS)
        if type(data) is not bytes:
            raise unlike(data, bytes, f"version {self.version}")
        _ = data[-MARK:]  # it is there
        got = clock()
        try:
            # what was decoded before goes meanwhile, as in a program that keeps one
            self.decoded = self.decode(data)
        except Exception as error:
            if data == self.versions.encoded(self.version):
                raise
            why = self.versions.fault(self.version, data)
            raise PayloadError(f"a read of version {self.version} was torn", why) from error
        done = clock()
        if acknowledge:
            acknowledge()
        self.stamps.append((start, got, done))
        self.check(self.version, data)  # outside of any timed region
        return self.version

    def check(self, version: int, data: bytes) -> None:
        """Note what is wrong with `data`, the content of `version`, if anything is."""
        if data != self.versions.encoded(version):
            self.torn += 1
            fault = self.versions.fault(version, data)
            self.worker.outcome.facts.setdefault("fault", fault)

    def read_all(self, count: int, once: bool) -> None:
        """Read `count` times, each version `once` or whatever there is, and count what it takes."""
        with self.worker.counting("read", count):
            for _ in range(count):
                self.read(self.version if once else 0)

    def asked(self) -> int:
        """Return how many reads the writer asks for, once they are due.

        `wanted` is the version that it has written last.
        """
        asked = self.worker.meet()[self.worker.roles[0]]
        self.wanted = int(asked["version"])
        await_due(asked["at"])
        return int(asked["reads"])

    def finish(self) -> None:
        """Note how much was read in all; what was decoded last is compared with the dictionary."""
        whole = self.task.coder.restore(self.decoded) == self.versions.content(self.version)
        torn = self.torn or int(not whole)
        self.worker.outcome.facts |= {"reads": self.count, "torn": torn}
