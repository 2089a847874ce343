"""Mechanisms that lie, each in one way, over the Unix socket, and how an end is run over one."""

from collections import deque
from typing import Any, ClassVar

from ipclab_measure.backends.interface import Backend, Channel, Data
from ipclab_measure.backends.shm_mmap import MmapSegment
from ipclab_measure.backends.sockets import _UnixChannel as Base
from ipclab_measure.spawn.worker import Worker, called
from ipclab_measure.studies import calibration
from ipclab_measure.studies.payload import handover
from ipclab_measure.studies.round_trip import ends as trips
from ipclab_more.studies.stream import consumer, ways
from ipclab_more.studies.stream import ends as streams

WAIT_NS = 1_000_000_000  # what is lost is missed sooner
EVERY, LATE, LONG = 20, 25, 1000


class Lie(Base):
    """Every message that is received is one that `lie` returns, which gets it and how many came."""

    received = 0

    def recv(self, timeout_ns: int) -> Any:
        self.received += 1
        return self.lie(bytes(super().recv(timeout_ns)))

    def lie(self, data: bytes) -> Data:
        raise NotImplementedError


class Rot(Lie):
    """One bit turns, at `where` of the message's length, where `hits` says so."""

    where: ClassVar[float] = 0.0

    def lie(self, data: bytes) -> Data:
        wrong = bytearray(data)
        if len(data) > 8 and self.hits(data):  # what ends a stream is shorter
            wrong[min(len(data) - 1, int(len(data) * self.where))] ^= 1
        return bytes(wrong)

    def hits(self, data: bytes) -> bool:
        return True


class RotLast(Rot):
    where = 1.0


class RotMiddle(Rot):
    where = 0.5


class RotSome(RotLast):
    def hits(self, data: bytes) -> bool:
        return self.received % EVERY == 0


class RotLate(RotMiddle):
    def hits(self, data: bytes) -> bool:
        return self.received > LATE


class RotLong(RotMiddle):
    def hits(self, data: bytes) -> bool:
        return len(data) > LONG


class Cut(Lie):
    def lie(self, data: bytes) -> Data:
        return data[: max(8, len(data) // 2)]


class Longer(Lie):
    def lie(self, data: bytes) -> Data:
        return data + b"\0" if len(data) > 8 else data


class Padded(Lie):
    """The second half is nothing but padding."""

    def lie(self, data: bytes) -> Data:
        return data[: len(data) // 2].ljust(len(data), b"\0") if len(data) > 8 else data


class Zeros(Lie):
    def lie(self, data: bytes) -> Data:
        return bytes(len(data)) if len(data) > 8 else data


class Past(Lie):
    """In place of some messages an older one comes, `back` before."""

    back = 1

    def lie(self, data: bytes) -> Data:
        if len(data) <= 8:
            return data
        self.old = [*getattr(self, "old", []), data][-1 - self.back :]
        return self.old[0] if self.received % EVERY == 0 else data


class OtherTurn(Past):
    back = 15


class Repeated(Lie):
    """From one message on it is that message, at the asking or the receiving end."""

    def lie(self, data: bytes) -> Data:
        if self.received <= LATE or self.create:
            self.kept = data
        return self.kept if len(data) > 8 else data


class Twice(Base):
    """Some message is received twice."""

    received = 0
    last: bytes = b""

    def recv(self, timeout_ns: int) -> Any:
        self.received += 1
        if self.received % EVERY or len(self.last) <= 8:
            self.last = super().recv(timeout_ns)
        return self.last


class Swapped(Base):
    """Some messages change places."""

    received = 0
    later: bytes = b""

    def recv(self, timeout_ns: int) -> Any:
        if self.later:
            data, self.later = self.later, b""
            return data
        self.received += 1
        data = super().recv(timeout_ns)
        if self.received == LATE and len(data) > 8:
            self.later = data
            data = super().recv(timeout_ns)
        return data


class Lost(Base):
    """Some message is not sent, and comes after the next one where there is one."""

    sent, later = 0, b""

    def send(self, data: Data, timeout_ns: int) -> None:
        self.sent += 1
        if self.sent == LATE and len(data) > 8:
            self.later = bytes(data)
            return
        super().send(data, timeout_ns)
        if self.later:
            super().send(self.later, timeout_ns)
            self.later = b""


class Skip(Base):
    """Some questions are not sent, and answered as they were asked."""

    asked, local = 0, b""

    def send(self, data: Data, timeout_ns: int) -> None:
        self.asked += not self.create
        if self.asked % EVERY == EVERY - 1:
            self.local = bytes(data)
        else:
            super().send(data, timeout_ns)

    def recv(self, timeout_ns: int) -> Any:
        data, self.local = self.local, b""
        return data or super().recv(timeout_ns)


class Local(Base):
    """The asking end answers itself; real answers are taken eight messages later."""

    sent, owed = b"", 0

    def send(self, data: Data, timeout_ns: int) -> None:
        if not self.create:
            if self.owed >= 8:
                super().recv(timeout_ns)
                self.owed -= 1
            self.sent = bytes(data)
            self.owed += 1
        super().send(data, timeout_ns)

    def recv(self, timeout_ns: int) -> Any:
        return super().recv(timeout_ns) if self.create else self.sent


class OneProcess(Base):
    """Both ends are in the asking process: the other one gets nothing."""

    kept = b""

    def send(self, data: Data, timeout_ns: int) -> None:
        self.kept = bytes(data)

    def recv(self, timeout_ns: int) -> Any:
        return super().recv(timeout_ns) if self.create else self.kept


class Half(Base):
    """Half of each message is sent, and the receiver has the rest from the first one."""

    first = b""

    def send(self, data: Data, timeout_ns: int) -> None:
        whole = not self.first or len(data) <= 8
        self.first = self.first or b"."
        super().send(data if whole else data[: len(data) // 2], timeout_ns)

    def recv(self, timeout_ns: int) -> Any:
        data = super().recv(timeout_ns)
        self.rest = getattr(self, "rest", data)
        return data + self.rest[len(data) :] if len(data) > 8 else data


class Equal(Base):
    """Where only a message's beginning is new, only that is moved."""

    def send(self, data: Data, timeout_ns: int) -> None:
        super().send(data if len(data) <= 64 else data[:64], timeout_ns)

    def recv(self, timeout_ns: int) -> Any:
        data = super().recv(timeout_ns)
        return data + bytes(self.capacity - len(data)) if len(data) == 64 else data


class Reused(Base):
    """What is received lies in a buffer of which the next message takes the place."""

    def recv(self, timeout_ns: int) -> Any:
        data = super().recv(timeout_ns)
        if len(data) <= 8:
            return data
        self.buffer = getattr(self, "buffer", bytearray(self.capacity))
        self.buffer[:] = data
        return memoryview(self.buffer)


class Early(Base):
    """A message counts as sent before it is copied: a few are at a time."""

    def send(self, data: Data, timeout_ns: int) -> None:
        self.owed: deque[Data] = getattr(self, "owed", deque[Data]())
        self.owed.append(data)
        if len(self.owed) > 4 or len(data) <= 8:
            while self.owed:
                super().send(self.owed.popleft(), timeout_ns)

    def recv(self, timeout_ns: int) -> Any:
        while getattr(self, "owed", ()):
            super().send(self.owed.popleft(), timeout_ns)
        return super().recv(timeout_ns)


CHEATS: dict[str, type[Channel]] = {
    kind.__name__: kind
    for kind in (
        Rot, RotLast, RotMiddle, RotSome, RotLate, RotLong, Cut, Longer, Padded, Zeros, Past,
        OtherTurn, Repeated, Twice, Swapped, Lost, Skip, Local, OneProcess, Half, Equal, Reused, Early,
    )
} | {"Base": Base}  # fmt: skip


class Private(MmapSegment):
    """Shared memory of which the reading end has a copy, taken once."""

    def __init__(self, name: str, size: int, create: bool) -> None:
        super().__init__(name, size, create)
        if not create:
            own = bytearray(self.buffer)
            self.shared, self.own, self.buffer = self.buffer, own, memoryview(own)

    def close(self) -> None:
        if hasattr(self, "own"):
            self.shared.release()
        super().close()


class HalfWritten(MmapSegment):
    """The writing end writes the second half of a message where nobody reads it."""

    def __init__(self, name: str, size: int, create: bool) -> None:
        super().__init__(name, size, create)
        self.whole = self.buffer
        self.buffer = HalfView(self.whole, size) if create else self.whole  # type: ignore[assignment]

    def close(self) -> None:
        self.whole.release()
        self.buffer = memoryview(b"")
        super().close()


class HalfView:
    def __init__(self, whole: memoryview, size: int) -> None:
        self.whole, self.size = whole, size

    def __setitem__(self, place: slice, data: Data) -> None:
        half = self.size // 2
        self.whole[:half] = data[:half]


SEGMENTS = {"Private": Private, "HalfWritten": HalfWritten}


def run(worker: Worker, target: str, cheat: str, **arguments: Any) -> Any:
    """Be what `target` is, over the channel `cheat`: in a process that is only for that."""
    fake = Backend("cheat", channel=CHEATS.get(cheat), segment=SEGMENTS.get(cheat))
    for module in (trips, ways, handover):
        vars(module)["find"] = lambda name: fake
    for module in (trips, streams, consumer, ways, calibration):
        vars(module)["WAIT_NS"] = WAIT_NS
    return called(worker, target, arguments)
