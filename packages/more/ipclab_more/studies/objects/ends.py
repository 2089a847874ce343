"""The two processes of an object handed over: one gives and times, one takes and sums."""

import gc
import random
import struct
import warnings
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter_ns as clock
from typing import Any

import numpy as np

from ipclab_measure.backends.installed import backend as find
from ipclab_measure.backends.installed import backends
from ipclab_measure.backends.interface import Channel, Place, Segment
from ipclab_measure.spawn.loops import DISCARDED, keep, operations
from ipclab_measure.spawn.proof import BUFFERS, PayloadError
from ipclab_measure.spawn.worker import Turns, Worker
from ipclab_measure.studies.joining import WAIT_NS
from ipclab_measure.studies.round_trip.ends import opened
from ipclab_more.studies.objects import HANDLE, SUMMED, contents
from ipclab_more.studies.objects.copies import allocating, anew_bytes
from ipclab_more.studies.objects.ways import Room, Way, ways
from ipclab_more.studies.stream.memory import memory

# The numbers of the objects: the one that is compared whole, a small one before all others, at which
# libraries set themselves up, and the first of those that are timed, whose every sum is compared.
PROVED, FIRST, TIMED = range(3)
TIMED_BYTES = 16 << 20  # of all these together, unless two have more
FIRST_BYTES = 1_000
SPARE_BYTES = 1 << 20  # for what stands around an object's data
ANSWER = struct.Struct("<qqd")  # clocks (ns) at the handle and at the sum, and the sum
# what is shared with the fork server is not of the object
MEMORY = "Private_Dirty", "Pss_Shmem"

Link = tuple[Channel, Way, Room]


def preload() -> None:
    """Import what the ends need, and have libraries set themselves up.

    A small object of each kind goes every way within this process.
    """
    backends()
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # joblib tells where it finds no shared memory
        room = Room(memoryview(bytearray(room_bytes(FIRST_BYTES))), Path(folder, "object"))
        for kind in contents.MADE:
            content = contents.made(kind, FIRST_BYTES, 0, FIRST)
            for way in ways(kind).values():
                if not way.refuses(kind):
                    contents.total(way.take(way.give(content, room), room))


def capacity(size: int) -> int:
    """Return the longest message of an object of about `size` bytes."""
    return 2 * size + SPARE_BYTES


def room_bytes(size: int) -> int:
    """Return the bytes of shared memory that an object of about `size` bytes gets, if any."""
    return size + size // 2 + SPARE_BYTES


@contextmanager
def linked(worker: Worker, backend: str, size: int, kind: str, way: str) -> Iterator[Link]:
    """Give the channel, the way, and the room, which the giving end makes and removes."""
    chosen, gives, region = ways(kind)[way], worker.role == "client", memoryview(b"")
    place = Place(worker.prefix, worker.folder, 0)
    with (
        opened(worker, backend, capacity(size), find(backend).waits[0]) as channel,
        ExitStack() as held,
    ):
        if not gives:
            worker.meet()  # what the giving end makes is there
        if chosen.segment:
            make: Any = find(chosen.segment).segment
            segment = make(worker.name("room"), room_bytes(size), gives)
            held.callback(_unmap, segment)
            if gives:
                held.callback(segment.unlink)
            region = segment.buffer
        if gives:
            worker.meet()
        yield channel, chosen, Room(region, place.path("object"))


def _unmap(segment: Segment) -> None:
    gc.collect()
    # an object that was read in place is still held: the process's end unmaps it
    with suppress(BufferError):
        segment.close()


def give(
    worker: Worker,
    backend: str,
    size: int,
    seed: int,
    kind: str,
    way: str,
    readers: int,
    budget_ns: int,
    least: int,
    most: int,
) -> Turns:
    """Be the giving end: prove the way, time objects in each turn, then count bytes.

    At the end one message goes to further `readers`.
    """
    with linked(worker, backend, size, kind, way) as link:
        _send(link, contents.made(kind, FIRST_BYTES, seed, FIRST))
        _answer(link)
        before = memory(*MEMORY)
        content = contents.made(kind, size, seed, PROVED)
        begun = clock()
        message = _send(link, content)  # held, as the object is, while memory is read
        each_ns = float(_answer(link)[1] - begun)
        worker.meet()  # the other end holds the object now
        worker.outcome.facts["held_bytes"] = memory(*MEMORY) - before
        timed = Timed(kind, size, seed)  # while the other end compares
        content = timed.objects[0]
        worker.meet()
        while True:
            long = each_ns > budget_ns
            discarded = 1 if long else DISCARDED
            count = discarded + operations(each_ns, budget_ns, least, most)
            # a long one fills the caches at once
            plan = {"recorded": count, "warming": 1 if long else count}
            if (yield plan) is None:
                break
            count = _planned(worker, plan)
            with worker.counting(SUMMED, count):
                times = _timed(link, timed, count)
            each_ns = float(np.median(times[:, 1]))
            for op, column in zip((HANDLE, SUMMED), times[discarded:].T, strict=True):
                keep(worker, op, column)
        facts = worker.outcome.facts
        facts |= {"numbered": timed.given, "compared": timed.given}
        message, facts["allocated_bytes"] = allocating(lambda: _send(link, content))
        _answer(link)
        facts["placed_bytes"] = link[1].placed(message)
        # what a queue pickles by itself, or the message
        sent = ForkingPickler.dumps(content) if message is content else message
        facts["message_bytes"] = len(sent)
        facts["own_bytes"] = contents.own_bytes(content)
        worker.meet()  # the other end traces no more
        facts["reader_ns"] = _reader_ns(link, message, content, readers)
        worker.meet()


def _planned(worker: Worker, plan: Mapping[str, int]) -> int:
    """Return how many objects both ends hand over in this turn."""
    return plan["recorded" if worker.recording else "warming"]


def _reader_ns(link: Link, message: Any, content: Any, readers: int) -> float:
    """Return the time (ns) to send one message to one more reader and have its sum.

    It is the median of `readers` of them.
    """
    times = []
    for _ in range(readers):
        begun = clock()
        _post(link, message, content)
        times.append(_answer(link)[1] - begun)
    return float(np.median(times))


def _send(link: Link, content: Any) -> Any:
    """Give `content` and return what went as the message."""
    _, way, room = link
    message = way.give(content, room)
    _post(link, message, content)
    return message


def _post(link: Link, message: Any, content: Any) -> None:
    if message is content:  # the carrier pickles by itself
        link[0].put(content)  # type: ignore[attr-defined]
    else:
        link[0].send(message, WAIT_NS)


def _answer(link: Link) -> tuple[int, int, float]:
    handle, summed, total = ANSWER.unpack(link[0].recv(WAIT_NS))
    return handle, summed, total


class Timed:
    """The objects of the timed turns, which follow one another in a random order.

    No two have one sum, which the other end tells of what it got, and no one can tell beforehand.
    """

    def __init__(self, kind: str, size: int, seed: int) -> None:
        few = max(2, min(BUFFERS, TIMED_BYTES // size))
        self.objects = [contents.made(kind, size, seed, TIMED + number) for number in range(few)]
        self.sums = [contents.total(each) for each in self.objects]
        self.chance, self.given, self.place = random.Random(), 0, 0

    def next(self) -> Any:
        """Return the next object, which is another one than the one before."""
        self.place = (self.place + self.chance.randrange(1, len(self.objects))) % len(self.objects)
        self.given += 1
        return self.objects[self.place]

    def check(self, total: float) -> None:
        """Raise `PayloadError` unless `total` is the sum of the last object."""
        if total == self.sums[self.place]:
            return
        why = "its sum is that of another one" if total in self.sums else "its sum differs"
        raise PayloadError(f"object {self.given - 1} arrived wrong in a timed turn", why)


def _timed(link: Link, timed: Timed, count: int) -> Any:
    """Hand `count` objects over; return rows of times (ns): until the handle, and until the sum."""
    times = np.empty((count, 2), np.int64)
    for number in range(count):
        content = timed.next()
        begun = clock()
        _send(link, content)
        handle, summed, total = _answer(link)
        times[number] = handle - begun, summed - begun
        timed.check(total)
    return times


def take(
    worker: Worker, backend: str, size: int, seed: int, kind: str, way: str, readers: int
) -> Turns:
    """Be the taking end: compare an object whole, then sum those of each turn.

    Then sum those of the further `readers`, and count the bytes of the last.
    """
    with linked(worker, backend, size, kind, way) as link:
        _take(link)
        wanted = contents.made(kind, size, seed, PROVED)
        before = memory(*MEMORY)
        came = _take(link)
        worker.outcome.facts["held_bytes"] = memory(*MEMORY) - before
        worker.meet()
        worker.outcome.proof = [fault_of(wanted, came)]
        worker.meet()
        del came, wanted
        while roles := (yield {}):
            count = _planned(worker, roles["client"])
            with worker.counting(SUMMED, count):
                for _ in range(count):
                    _take(link)
        _, worker.outcome.facts["allocated_bytes"] = allocating(lambda: _take(link))
        worker.meet()
        for _ in range(readers - 1):
            _take(link)
        worker.outcome.facts["anew_bytes"] = _take_counted(link)
        worker.meet()  # the other end is done: nothing is closed under it


def _take(link: Link) -> Any:
    """Take one object, sum it, and answer; return it."""
    channel, way, room = link
    came = way.take(channel.recv(WAIT_NS), room)
    _tell(channel, came)
    return came


def _take_counted(link: Link) -> int:
    """Take one object as `_take` does, and return how many bytes of it were made anew."""
    channel, way, room = link
    message = channel.recv(WAIT_NS)
    came = way.take(message, room)
    _tell(channel, came)
    return anew_bytes(came, message)


def _tell(channel: Channel, came: Any) -> None:
    handle = clock()
    total = contents.total(came)
    channel.send(ANSWER.pack(handle, clock(), total), WAIT_NS)


def fault_of(wanted: Any, came: Any) -> str:
    """Return how `came` differs from `wanted`, empty where it does not."""
    try:
        contents.compare(wanted, came)
    except PayloadError as error:
        return str(error)
    return ""
