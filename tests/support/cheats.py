"""Mechanisms that lie, each in one way, over the Unix socket, and how an end is run over one."""

import ctypes
import importlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from ipclab.backends.interface import Backend, Data, Place, variant
from ipclab.backends.shm_mmap import MmapSegment
from ipclab.backends.sockets import _UnixChannel as Base
from ipclab.spawn.worker import Worker, call_target
from ipclab.studies import calibration
from ipclab.studies.payload import handover
from ipclab.studies.round_trip import ends as trips
from ipclab_more.studies.stream import connection, consumer
from ipclab_more.studies.stream import processes as streams

WAIT_NS = 1_000_000_000  # what is lost is missed sooner
EVERY, LATE, LONG, SHORT = 20, 25, 400, 8
WORD = 8
BEFORE_BYTES = bytes.__basicsize__ - 1  # of an object, what it holds follows
Lie = Callable[["Heard"], Any]


class Heard:
    """What came to one end so far: the last message, those before it, and how many they were."""

    def __init__(self, makes: bool) -> None:
        self.makes = makes  # whether it is the end that made what the ends share
        self.received = 0
        self.data = self.kept = self.owed = b""
        self.messages = deque[bytes](maxlen=17)

    @property
    def some(self) -> bool:
        """Tell whether the last message is one of the few that a cheat alters."""
        return self.received % EVERY == 0

    def told(self, data: bytes, lie: Lie) -> Any:
        """Return what is told of `data`; what ends a stream is shorter than a number, and true."""
        self.received += 1
        if self.owed:
            ctypes.memmove(id(self.owed) + BEFORE_BYTES, self.data, len(self.owed))
            self.owed = b""
        if len(data) <= SHORT:
            return data
        self.data = data
        self.messages.append(data)
        if self.received <= LATE or self.makes:
            self.kept = data
        return lie(self)

    def past(self, back: int) -> bytes:
        """Return the message of `back` before, or the first of those that are kept."""
        return self.messages[max(0, len(self.messages) - 1 - back)]

    def mixed(self, *moved: tuple[float, float]) -> bytes:
        """Return the message of 16 before, but with the bytes that were `moved`, from and to."""
        before = self.past(16)
        mixed = bytearray(before if len(before) == len(self.data) else self.data)
        for begin, end in moved:
            mixed[int(begin) : int(end)] = self.data[int(begin) : int(end)]
        return bytes(mixed)


def turned(data: bytes, where: float) -> bytes:
    """Return `data` with one bit turned, at `where` of its length."""
    wrong = bytearray(data)
    wrong[min(len(data) - 1, int(len(data) * where))] ^= 1
    return bytes(wrong)


class LateBytes(bytes):
    """What says that it is there, and would be fetched when somebody asks how long it is."""


def sixteen(heard: Heard) -> bytes:
    """Return the first 2 KiB and the last 64 bytes, of a short message a quarter at each end, with
    what lay between them 16 before.
    """
    size = len(heard.data)
    return heard.mixed((0, min(2048, size // 4)), (size - min(64, size // 4), size))


def alternate(heard: Heard) -> bytes:
    size = len(heard.data)
    return heard.mixed(*((at, at + 512) for at in range(0, size, 1024)))


def middle(heard: Heard) -> bytes:
    size = len(heard.data)
    return heard.mixed((0, size * 15 // 32), (size * 17 // 32, size))


def filled(heard: Heard) -> bytes:
    """Return the first and the last word; what is between them is there when the next one comes."""
    data = heard.data
    heard.owed = data[:WORD] + bytes(len(data) - 2 * WORD) + data[-WORD:]
    return heard.owed


# What docs/cheats.md says of each.
LIES: Mapping[str, Lie] = {
    "Rot": lambda heard: turned(heard.data, 0),
    "RotMiddle": lambda heard: turned(heard.data, 0.5),
    "RotLast": lambda heard: turned(heard.data, 1),
    "RotSome": lambda heard: turned(heard.data, 1) if heard.some else heard.data,
    "RotLate": lambda heard: turned(heard.data, 0.5) if heard.received > LATE else heard.data,
    "RotLong": lambda heard: turned(heard.data, 0.5) if len(heard.data) > LONG else heard.data,
    "Cut": lambda heard: heard.data[: len(heard.data) // 2],
    "Longer": lambda heard: heard.data + b"\0",
    "Shorter": lambda heard: heard.data[:-1] if heard.some else heard.data,
    "Padded": lambda heard: heard.data[: len(heard.data) // 2].ljust(len(heard.data), b"\0"),
    "Zeros": lambda heard: bytes(len(heard.data)),
    "Past": lambda heard: heard.past(1) if heard.some else heard.data,
    "OtherRound": lambda heard: heard.past(10) if heard.some else heard.data,
    "OtherTurn": lambda heard: heard.past(16) if heard.some else heard.data,
    "Repeated": lambda heard: heard.kept,
    "Lazy": lambda heard: LateBytes(heard.data),
    "Viewed": lambda heard: memoryview(heard.data),
    "Owned": lambda heard: bytearray(heard.data),
    "Sixteen": sixteen,
    "LastTurn": lambda heard: sixteen(heard) if heard.received > 2 * LATE + 10 else heard.data,
    "Middle": middle,
    "Tail": lambda heard: heard.mixed((0, len(heard.data) - 64)),
    "Alternate": alternate,
    "Filled": filled,
}


class Lying(Base):
    """A channel at which everything that is received is told by a lie."""

    cheat: ClassVar[str]  # of `LIES`

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        self.heard = Heard(create)

    def recv(self, timeout_ns: int) -> Any:
        return self.heard.told(bytes(super().recv(timeout_ns)), LIES[self.cheat])


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
    Twice, Swapped, Lost, Skip, Local, OneProcess, Half, Equal, Reused, Early, EchoFlag, Ahead,
    Foretold, Behind,
)  # fmt: skip
CHEATS: Mapping[str, type[Base]] = (
    {"Base": Base}
    | {kind.__name__: kind for kind in KINDS}
    | {name: variant(Lying, cheat=name) for name in LIES}
)


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
    cheat: ClassVar[str]  # of `LIES`

    def __init__(self, memory: memoryview) -> None:
        super().__init__(memory)
        self.heard = Heard(makes=False)

    def get(self, data: bytes) -> Any:
        return self.heard.told(data, LIES[self.cheat])


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
} | {name: variant(LyingView, cheat=name) for name in LIES}  # fmt: skip


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
    for module in (trips, connection, handover):
        vars(module)["find"] = lambda name: fake
    own = importlib.import_module(target.partition(":")[0])
    for module in (own, trips, streams, consumer, connection, calibration):
        vars(module)["WAIT_NS"] = WAIT_NS
    handover.WAIT_SECONDS = WAIT_NS / 1e9 if cheat == "Base" else 0.3
    return call_target(worker, target, arguments)
