"""Stores that lie, each in one way, and the study's ends over them, in threads of one process."""

import threading
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ipclab.backends.interface import Data, Place, variant
from ipclab.backends.seqlock import START, SeqlockStore
from ipclab.spawn.worker import Outcome, Roles, Worker
from ipclab.studies.shared_dict import ends
from tests.support.cheats import EVERY, LATE, LIES, Heard


class Base(SeqlockStore):
    """Shared state with a sequence lock, in memory that the ends of one launch share."""

    memory: ClassVar[bytearray]

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        if create:
            type(self).memory = bytearray(START + 2 * place.capacity)
        self.use(memoryview(self.memory))
        self.reads = 0

    def read(self, after: int, timeout_ns: int) -> tuple[int, bytes]:
        version, data = super().read(after, timeout_ns)
        self.reads += 1
        return version, data


class Lying(Base):
    """A store of which everything that is read is told by a lie."""

    cheat: ClassVar[str]  # of `LIES`

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.heard = Heard(makes=False)

    def read(self, after: int, timeout_ns: int) -> tuple[int, Any]:
        version, data = super().read(after, timeout_ns)
        return version, self.heard.told(data, LIES[self.cheat])


class Equal(Base):
    """Where a content is as long as the one before, only its beginning is moved."""

    def write(self, data: Data, timeout_ns: int = 0) -> None:
        before = getattr(self, "before", bytes(data))
        super().write(bytes(data[:32]) + before[32:], timeout_ns)
        self.before = bytes(data)


class Half(Base):
    def write(self, data: Data, timeout_ns: int = 0) -> None:
        super().write(bytes(data[: len(data) // 2]).ljust(len(data), b"."), timeout_ns)


class Skip(Base):
    """The content of the next write is not awaited: the version before is given with its number."""

    kept: bytes

    def read(self, after: int, timeout_ns: int) -> tuple[int, bytes]:
        if after and self.reads % EVERY == EVERY - 1:
            self.reads += 1
            return after + 1, self.kept
        version, self.kept = super().read(after, timeout_ns)
        return version, self.kept


class Local(Base):
    """The reading end makes what it reads of what it read first: nothing is handed over."""

    def read(self, after: int, timeout_ns: int) -> tuple[int, bytes]:
        if not hasattr(self, "kept"):
            self.version, self.kept = super().read(after, timeout_ns)
        self.version += 1
        return max(after + 1, 1), self.kept


class Twice(Base):
    """Some version is read twice, under its number."""

    def read(self, after: int, timeout_ns: int) -> tuple[int, bytes]:
        if self.reads != LATE:
            self.kept = super().read(after, timeout_ns)
        else:
            self.reads += 1
        return self.kept


class Swapped(Base):
    """Two versions change their numbers."""

    def read(self, after: int, timeout_ns: int) -> tuple[int, bytes]:
        version, data = super().read(after, timeout_ns)
        return (version + 1 if self.reads == LATE else version), data


class Lost(Base):
    """Some version is not written, and comes with the next one."""

    written, later = 0, b""

    def write(self, data: Data, timeout_ns: int = 0) -> None:
        self.written += 1
        if self.written % LATE == 0:
            data = self.later
        self.later = bytes(data)
        super().write(data, timeout_ns)


class OneProcess(Base):
    """Each end has memory of its own: what is written reaches nobody."""

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.own = place.capacity
        if not create:
            self.use(memoryview(bytearray(START + 2 * place.capacity)))

    def read(self, after: int, timeout_ns: int) -> tuple[int, bytes]:
        return after + 1, bytes(self.own)


class Early(Base):
    """A write counts as done before it is copied: the next one copies it."""

    owed = b""

    def write(self, data: Data, timeout_ns: int = 0) -> None:
        owed, self.owed = self.owed, bytes(data)
        super().write(owed or data, timeout_ns)


CHEATS: Mapping[str, type[Base]] = {
    kind.__name__: kind
    for kind in (Base, Twice, Swapped, Lost, Skip, Local, OneProcess, Half, Equal, Early)
} | {name: variant(Lying, cheat=name) for name in LIES}


class Meetings:
    """Where the threads of a launch meet; one that fails ends the waits of all."""

    def __init__(self, roles: Sequence[str]) -> None:
        self.roles = list(roles)
        self.barrier = threading.Barrier(len(roles), timeout=10)
        self.said: dict[str, dict[str, Any]] = {}
        self.signals = {role: threading.Semaphore(0) for role in roles}


class Thread(Worker):
    """A rank that is a thread: it meets and signals the others of one process."""

    comm, address, crowd, fresh = None, "127.0.0.1", 1.0, False

    def __init__(self, meetings: Meetings, index: int) -> None:
        self.meetings, self.index, self.roles = meetings, index, meetings.roles
        self._begin(self.roles[index], "ipclab-1", "/nowhere")
        self.peers = [rank for rank in range(len(self.roles)) if rank != index]

    def meet(self, **published: Any) -> Roles:
        self.meetings.said[self.role] = published
        self.barrier()
        said = dict(self.meetings.said)
        self.barrier()
        return said

    def barrier(self) -> None:
        self.meetings.barrier.wait()

    def signal(self, peer: int) -> None:
        self.meetings.signals[self.role].release()

    def await_signals(self, peers: Sequence[int]) -> None:
        for peer in peers:
            if not self.meetings.signals[self.roles[peer]].acquire(timeout=10):
                raise TimeoutError
        if self.meetings.barrier.broken:
            raise BrokenPipeError

    def signalled(self, peer: int) -> bool:
        return False

    def run(self, turns: int, levels: dict[str, Any]) -> None:
        task = ends.use_dictionary(self, **levels)  # type: ignore[arg-type]
        published = next(task)
        for number in range(turns):
            self.recording = number > 0
            published = task.send(self.meet(**published))
        for _ in task:
            raise ValueError("another turn")


def ran(turns: int, **levels: Any) -> dict[str, Outcome | Exception]:
    """Return how the writer and its readers end after `turns` turns; who only followed is left out."""
    meetings = Meetings(["writer", *(f"reader {n + 1}" for n in range(levels["readers"]))])
    ended: dict[str, Outcome | Exception] = {}

    def be(worker: Thread) -> None:
        try:
            worker.run(turns, levels)
            ended[worker.role] = worker.outcome
        except (threading.BrokenBarrierError, BrokenPipeError):
            pass
        except Exception as error:
            ended[worker.role] = error
            meetings.barrier.abort()
            for signal in meetings.signals.values():
                signal.release(9)

    threads = [
        threading.Thread(target=be, args=(Thread(meetings, index),))
        for index in range(len(meetings.roles))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return ended
