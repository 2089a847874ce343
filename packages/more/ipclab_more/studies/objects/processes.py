"""The two processes of an object handed over: one gives and times, one takes and sums."""

import gc
import secrets
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter_ns as clock
from typing import Any, NamedTuple

import numpy as np

from ipclab.backends.installed import backend as find
from ipclab.backends.installed import load
from ipclab.backends.interface import Channel, Place, Segment
from ipclab.spawn.loops import DISCARDED, keep_parted, operations
from ipclab.spawn.proof import LOOKED, AwaitedError, Data, recorded, unlike
from ipclab.spawn.worker import Turns, Worker
from ipclab.studies.joining import WAIT_NS
from ipclab.studies.round_trip.ends import channel_end
from ipclab_more.studies.objects import HANDLE, SUMMED, contents
from ipclab_more.studies.objects.copies import allocating, anew_bytes
from ipclab_more.studies.objects.proof import (
    FIRST,
    PROVED,
    Answer,
    AnswerSeal,
    Order,
    Timed,
    compare_objects,
    no_object,
)
from ipclab_more.studies.objects.ways import WAYS, ObjectWay, Room
from ipclab_more.studies.stream.memory import own_memory

FIRST_BYTES = 1_000
SPARE_BYTES = 1 << 20  # for what stands around an object's data
# what is shared with the fork server is not of the object
MEMORY = "Private_Dirty", "Pss_Shmem"


class Link(NamedTuple):
    """One end of the way: a channel, how objects of a kind go by it, the room beside it, the seal."""

    channel: Channel
    way: ObjectWay
    room: Room
    seal: AnswerSeal
    kind: str


def preload_ends() -> None:
    """Import what the ends need, and have libraries set themselves up.

    A small object of each kind goes every way within this process.
    """
    load()
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # joblib tells where it finds no shared memory
        room = Room(memoryview(bytearray(room_bytes(FIRST_BYTES))), Path(folder, "object"))
        for kind in contents.MADE:
            content = contents.made_object(kind, FIRST_BYTES, 0, FIRST)
            for way in WAYS.values():
                if not way.refuses(kind):
                    contents.element_sum(way.take(way.give(content, room), room, kind))


def capacity(size: int) -> int:
    """Return the longest message of an object of about `size` bytes."""
    return 2 * size + SPARE_BYTES


def room_bytes(size: int) -> int:
    """Return the bytes of shared memory that an object of about `size` bytes gets, if any."""
    return size + size // 2 + SPARE_BYTES


@contextmanager
def linked(worker: Worker, backend: str, size: int, kind: str, way: str) -> Iterator[Link]:
    """Give the link of this end; the room is made and removed by the giving one."""
    chosen, gives, region = WAYS[way], worker.role == "client", memoryview(b"")
    place = Place(worker.prefix, worker.folder, 0)
    with (
        channel_end(worker, backend, capacity(size), find(backend).waits[0]) as channel,
        ExitStack() as held,
    ):
        secret = secrets.token_hex(16)
        if not gives:
            worker.meet(secret=secret)  # what the giving end makes is there
        if chosen.segment:
            make: Any = find(chosen.segment).segment
            segment = make(worker.name("room"), room_bytes(size), gives)
            held.callback(_unmap, segment)
            if gives:
                held.callback(segment.unlink)
            region = segment.buffer
        if gives:
            secret = worker.meet()["server"]["secret"]
        yield Link(channel, chosen, Room(region, place.path("object")), AnswerSeal(secret), kind)


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

    Where an object is compared whole, neither it nor the next one is recorded.

    At the end one message goes to further `readers`.
    """
    with linked(worker, backend, size, kind, way) as link:
        message, each_ns = _prove(worker, link, size, seed)
        timed = Timed(kind, size, seed, link.seal.secret)  # while the other end compares
        worker.meet()
        del message
        while True:
            long = each_ns > budget_ns
            discarded = 1 if long else DISCARDED
            count = discarded + operations(each_ns, budget_ns, least, most) + LOOKED
            # a long one fills the caches at once
            plan = {"recorded": count, "warming": 1 if long else count}
            if (yield plan) is None:
                break
            count = _planned(worker, plan)
            looked = timed.plan(count)
            with worker.counting(SUMMED, count):
                times = _timed(link, timed, count)
            each_ns = float(np.median(times[:, 1]))
            kept = recorded(looked, discarded)
            for op, column in zip((HANDLE, SUMMED), times.T, strict=True):
                keep_parted(worker, op, column, kept)
        worker.outcome.facts["numbered"] = timed.given
        _count_bytes(worker, link, timed.objects[0], readers)


def _prove(worker: Worker, link: Link, size: int, seed: int) -> tuple[Any, float]:
    """Send a first object, and one that the other end compares whole; return its message and time
    (ns). Memory is read while both ends hold it.
    """
    _send(link, contents.made_object(link.kind, FIRST_BYTES, seed, FIRST))
    _answer(link)
    before = own_memory(*MEMORY)
    content = contents.made_object(link.kind, size, seed, PROVED)
    begun = clock()
    message = _send(link, content)
    each_ns = float(_answer(link)[1] - begun)
    worker.meet()  # the other end holds the object now
    worker.outcome.facts["held_bytes"] = own_memory(*MEMORY) - before
    return message, each_ns


def _count_bytes(worker: Worker, link: Link, content: Any, readers: int) -> None:
    """Count what one object allocates and takes; then send it to further `readers`."""
    facts = worker.outcome.facts
    message, facts["allocated_bytes"] = allocating(lambda: _send(link, content))
    _answer(link)
    facts["placed_bytes"] = link.way.placed(message)
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
    message = link.way.give(content, link.room)
    _post(link, message, content)
    return message


def _post(link: Link, message: Any, content: Any) -> None:
    if message is content:  # the carrier pickles by itself
        link.channel.put(content)  # type: ignore[attr-defined]
    else:
        link.channel.send(message, WAIT_NS)


def _answer(link: Link) -> Answer:
    try:
        answer = link.channel.recv(WAIT_NS)
    except TimeoutError as error:
        said = f"no answer to object {link.seal.count} came"
        raise AwaitedError(said, "it or its answer was lost") from error
    if type(answer) is not bytes:
        raise unlike(answer, bytes, f"the answer to object {link.seal.count}")
    return link.seal.opened(answer)


def _timed(link: Link, timed: Timed, count: int) -> Any:
    """Hand `count` objects over; return rows of times (ns): until the handle, and until the sum."""
    times = np.empty((count, 2), np.int64)
    for number in range(count):
        content = timed.give()
        begun = clock()
        _send(link, content)
        handle, summed, total = _answer(link)
        times[number] = handle - begun, summed - begun
        timed.check(total)
    return times


def take(
    worker: Worker, backend: str, size: int, seed: int, kind: str, way: str, readers: int
) -> Turns:
    """Be the taking end: compare an object whole, then sum those of each turn and compare some.

    Then sum those of the further `readers`, and count the bytes of the last.
    """
    with linked(worker, backend, size, kind, way) as link:
        _take(link)
        wanted = contents.made_object(kind, size, seed, PROVED)
        before = own_memory(*MEMORY)
        came = _take(link)
        worker.outcome.facts["held_bytes"] = own_memory(*MEMORY) - before
        worker.meet()
        compare_objects(0, wanted, came)
        worker.meet()
        del came, wanted
        order, compared = Order(kind, size, seed, link.seal.secret), 1
        while roles := (yield {}):
            looked = order.plan(_planned(worker, roles["client"]))
            with worker.counting(SUMMED, len(looked)):
                _take_all(link, order, looked)
            compared += sum(looked)
        worker.outcome.facts["compared"] = compared
        _, worker.outcome.facts["allocated_bytes"] = allocating(lambda: _take(link))
        worker.meet()
        for _ in range(readers - 1):
            _take(link)
        message = _received(link)
        came = _took(link, message)
        _tell(link, came)
        worker.outcome.facts["anew_bytes"] = anew_bytes(came, message)
        worker.meet()  # the other end is done: nothing is closed under it


def _take_all(link: Link, order: Order, looked: Sequence[bool]) -> None:
    """Take the objects of a turn; compare those that are `looked` at, before the next is given."""
    for look in looked:
        place = order.next()
        if look:
            came = _took(link, _received(link))
            wanted = order.made(place)
            contents.stamp(wanted, *order.stamp)
            compare_objects(link.seal.count, wanted, came)
            _tell(link, came)
        else:
            _take(link)


def _received(link: Link) -> Any:
    try:
        message = link.channel.recv(WAIT_NS)
    except TimeoutError as error:
        raise AwaitedError(f"object {link.seal.count} did not come", "it was lost") from error
    if isinstance(message, Data) and type(message) is not bytes:
        raise unlike(message, bytes, f"object {link.seal.count}")
    return message


def _took(link: Link, message: Any) -> Any:
    try:
        return link.way.take(message, link.room, link.kind)
    except Exception as error:
        raise no_object(link.seal.count, link.kind, error) from error


def _take(link: Link) -> Any:
    """Take one object, whose message nobody holds longer; sum it, and answer; return it."""
    came = _took(link, _received(link))
    _tell(link, came)
    return came


def _tell(link: Link, came: Any) -> None:
    handle = clock()
    try:
        total = contents.element_sum(came)
    except Exception as error:
        raise no_object(link.seal.count, link.kind, error) from error
    link.channel.send(link.seal.closed(handle, clock(), total), WAIT_NS)
