"""Mechanisms that lie, each in one way, over the Unix socket, and how an end is run over one."""

import importlib
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ipclab.backends.interface import Backend, Data, Place, variant
from ipclab.backends.shm_mmap import MmapSegment
from ipclab.backends.sockets import _UnixChannel as Base
from ipclab.spawn.worker import Worker, call_target
from ipclab.studies import calibration
from ipclab.studies.payload import handover
from ipclab.studies.round_trip import ends as trips
from ipclab_more.studies.stream import consumer, ways
from ipclab_more.studies.stream import ends as streams

WAIT_NS = 1_000_000_000  # what is lost is missed sooner
EVERY, LATE, LONG, SHORT = 20, 25, 400, 8


class Lie:
    """What arrives is what `lie` makes of it; `received` is how many came to the end so far."""

    received = 0
    makes = False  # whether it is the end that made what the ends share

    def lie(self, data: bytes) -> bytes:
        raise NotImplementedError

    def told(self, data: bytes) -> bytes:
        """Return what is told of `data`; what ends a stream is shorter than a number, and true."""
        self.received += 1
        return self.lie(data) if len(data) > SHORT else data


class Rot(Lie):
    """One bit turns, at `where` of the message's length, where `hits` says so."""

    where: ClassVar[float] = 0.0

    def lie(self, data: bytes) -> bytes:
        wrong = bytearray(data)
        if self.hits(data):
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
    def lie(self, data: bytes) -> bytes:
        return data[: len(data) // 2]


class Longer(Lie):
    def lie(self, data: bytes) -> bytes:
        return data + b"\0"


class Padded(Lie):
    """The second half is nothing but padding."""

    def lie(self, data: bytes) -> bytes:
        return data[: len(data) // 2].ljust(len(data), b"\0")


class Zeros(Lie):
    def lie(self, data: bytes) -> bytes:
        return bytes(len(data))


class Past(Lie):
    """In place of some messages an older one comes, `back` before."""

    back = 1

    def lie(self, data: bytes) -> bytes:
        self.old = [*getattr(self, "old", []), data][-1 - self.back :]
        return self.old[0] if self.received % EVERY == 0 else data


class OtherTurn(Past):
    """It is as many messages older as there are different buffers, or contents."""

    back = 16


class OtherRound(Past):
    back = 10


class Repeated(Lie):
    """From one message on it is that message, at the asking or the receiving end."""

    def lie(self, data: bytes) -> bytes:
        if self.received <= LATE or self.makes:
            self.kept = data
        return self.kept


class LateBytes(bytes):
    """What says that it is there, and would be fetched when somebody asks how long it is."""


class Lazy(Lie):
    """A kind of bytes is handed over at once, which can fetch what it holds later."""

    def lie(self, data: bytes) -> bytes:
        return LateBytes(data)


class Viewed(Lie):
    """A view of the mechanism's own buffer is handed over where an object of its own is asked for."""

    def lie(self, data: bytes) -> Any:
        return memoryview(data)


class Owned(Lie):
    """The mechanism's own buffer is handed over, which it can write into later."""

    def lie(self, data: bytes) -> Any:
        return bytearray(data)


class Sixteen(Lie):
    """Only the first 2 KiB and the last 64 bytes are moved; the rest is what lay there 16 before.

    Of a short message, a quarter at each end.
    """

    def lie(self, data: bytes) -> bytes:
        self.old: deque[bytes] = getattr(self, "old", deque[bytes](maxlen=17))
        self.old.append(data)
        before = self.old[0] if len(self.old[0]) == len(data) else data
        return self.moved(data, before)

    def moved(self, data: bytes, before: bytes) -> bytes:
        begin, end = min(2048, len(data) // 4), len(data) - min(64, len(data) // 4)
        return data[:begin] + before[begin:end] + data[end:]


class Middle(Sixteen):
    """A sixteenth in the middle is not moved."""

    def moved(self, data: bytes, before: bytes) -> bytes:
        begin, end = len(data) * 15 // 32, len(data) * 17 // 32
        return data[:begin] + before[begin:end] + data[end:]


class Tail(Sixteen):
    """The last 64 bytes are not moved."""

    def moved(self, data: bytes, before: bytes) -> bytes:
        return data[:-64] + before[-64:]


class Alternate(Sixteen):
    """Every second half kilobyte is not moved."""

    def moved(self, data: bytes, before: bytes) -> bytes:
        each = range(0, len(data), 512)
        parts = [(before if at & 512 else data)[at : at + 512] for at in each]
        return b"".join(parts)


class LastTurn(Sixteen):
    """What comes after the first 60 messages is moved as `Sixteen` does."""

    def moved(self, data: bytes, before: bytes) -> bytes:
        return super().moved(data, before) if self.received > 2 * LATE + 10 else data


class Shorter(Lie):
    """Some messages lack their last byte."""

    def lie(self, data: bytes) -> bytes:
        return data[:-1] if self.received % EVERY == 0 else data


LIES: Sequence[type[Lie]] = (
    Rot, RotLast, RotMiddle, RotSome, RotLate, RotLong, Cut, Longer, Padded, Zeros, Past, OtherTurn,
    OtherRound, Repeated, Lazy, Viewed, Owned, Sixteen, Middle, Tail, Alternate, LastTurn, Shorter,
)  # fmt: skip


class Lying(Base):
    """A channel at which everything that is received is told by `liar`."""

    liar: ClassVar[type[Lie]]

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.lies = self.liar()
        self.lies.makes = create

    def recv(self, timeout_ns: int) -> Any:
        return self.lies.told(bytes(super().recv(timeout_ns)))


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


class EchoFlag(Base):
    """What begins as it came is answered by one byte, "what you sent"."""

    sent, came = b"", b""

    def send(self, data: Data, timeout_ns: int) -> None:
        self.sent = bytes(data)
        same = self.create and self.came[:8] == self.sent[:8]
        super().send(b"." if same else data, timeout_ns)

    def recv(self, timeout_ns: int) -> Any:
        data = super().recv(timeout_ns)
        self.came = bytes(data)
        return self.sent if data == b"." else data


class Ahead(Base):
    """The asking end does not wait for one answer in 50, and gives its own."""

    asked = 0

    def send(self, data: Data, timeout_ns: int) -> None:
        self.asked += not self.create
        self.sent = bytes(data)
        super().send(data, timeout_ns)

    def recv(self, timeout_ns: int) -> Any:
        data = super().recv(timeout_ns)
        return self.sent if self.asked % 50 == 49 else data


class Foretold(Base):
    """The asking end takes the difference of its first answer for that of all."""

    sent, learned = b"", 0

    def send(self, data: Data, timeout_ns: int) -> None:
        self.sent = bytes(data)
        super().send(data, timeout_ns)

    def recv(self, timeout_ns: int) -> Any:
        data = super().recv(timeout_ns)
        if self.create or len(data) != len(self.sent):
            return data
        whole = int.from_bytes(self.sent)
        self.learned = self.learned or whole ^ int.from_bytes(data)
        return (whole ^ self.learned).to_bytes(len(data))


class Behind(Base):
    """The answering end gives the answer before, so that it need not wait."""

    def send(self, data: Data, timeout_ns: int) -> None:
        before, self.before = getattr(self, "before", bytes(data)), bytes(data)
        super().send(before if self.create else data, timeout_ns)


KINDS: Sequence[type[Base]] = (
    Base, Twice, Swapped, Lost, Skip, Local, OneProcess, Half, Equal, Reused, Early, EchoFlag, Ahead,
    Foretold, Behind,
)  # fmt: skip
CHEATS: Mapping[str, type[Base]] = {kind.__name__: kind for kind in KINDS} | {
    lie.__name__: variant(Lying, liar=lie) for lie in LIES
}


class View:
    """A segment's memory as its ends see it: `put` and `get` are how slices go in and out."""

    def __init__(self, memory: memoryview) -> None:
        self.memory, self.count = memory, 0

    def __setitem__(self, place: slice, data: Data) -> None:
        self.count += 1
        self.put(place, bytes(data))

    def __getitem__(self, place: slice) -> bytes:
        return self.get(bytes(self.memory[place]))

    def put(self, place: slice, data: bytes) -> None:
        self.memory[place] = data

    def get(self, data: bytes) -> bytes:
        return data

    def release(self) -> None:
        self.memory.release()


class LyingView(View):
    liar: ClassVar[type[Lie]]

    def __init__(self, memory: memoryview) -> None:
        super().__init__(memory)
        self.lies = self.liar()

    def get(self, data: bytes) -> bytes:
        return self.lies.told(data)


class LostView(View):
    """Some message is not written, and comes in the place of the next one."""

    later = b""

    def put(self, place: slice, data: bytes) -> None:
        if self.count == LATE:
            self.later = data
        else:
            self.memory[place] = self.later or data
            self.later = b""


class SwappedView(View):
    """Some message and the next one change places."""

    later = b""

    def get(self, data: bytes) -> bytes:
        self.count += 1
        if self.count == LATE:
            self.later, data = data, self.later or bytes(len(data))
        elif self.later:
            self.later, data = b"", self.later
        return data


class LocalView(View):
    """The reading end makes what it reads of what it read first."""

    def get(self, data: bytes) -> bytes:
        self.kept = getattr(self, "kept", data)
        return self.kept


class PrivateView(View):
    """Each end has memory of its own."""

    def __getitem__(self, place: slice) -> bytes:
        return bytes(len(self.memory[place]))


class HalfView(View):
    def put(self, place: slice, data: bytes) -> None:
        self.memory[: len(data) // 2] = data[: len(data) // 2]


class EqualView(View):
    """Where only a message's beginning is new, only that is moved."""

    def put(self, place: slice, data: bytes) -> None:
        whole = len(data) if self.count == 1 else 64
        self.memory[:whole] = data[:whole]


class EarlyView(View):
    """A write counts as done before it is copied: the next one copies it."""

    owed = b""

    def put(self, place: slice, data: bytes) -> None:
        self.owed, data = data, self.owed or data
        self.memory[place] = data


VIEWS: dict[str, type[View]] = {
    "Lost": LostView, "Swapped": SwappedView, "Local": LocalView, "OneProcess": PrivateView,
    "Half": HalfView, "Equal": EqualView, "Early": EarlyView, "Base": View,
} | {lie.__name__: variant(LyingView, liar=lie) for lie in LIES}  # fmt: skip


class Lied(MmapSegment):
    """Shared memory of which each end has the view of a cheat."""

    view: ClassVar[type[View]]

    def __init__(self, name: str, size: int, create: bool) -> None:
        super().__init__(name, size, create)
        self.buffer = self.view(self.buffer)  # type: ignore[assignment]


SEGMENTS = {name: variant(Lied, view=view) for name, view in VIEWS.items()}


def run(worker: Worker, target: str, cheat: str, **arguments: Any) -> Any:
    """Be what `target` is, over the channel `cheat`: in a process that is only for that."""
    fake = Backend("cheat", channel=CHEATS.get(cheat), segment=SEGMENTS.get(cheat))
    for module in (trips, ways, handover):
        vars(module)["find"] = lambda name: fake
    own = importlib.import_module(target.partition(":")[0])
    for module in (own, trips, streams, consumer, ways, calibration):
        vars(module)["WAIT_NS"] = WAIT_NS
    handover.WAIT_SECONDS = WAIT_NS / 1e9 if cheat == "Base" else 0.3
    return call_target(worker, target, arguments)
