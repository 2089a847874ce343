"""How a producer reaches its consumers: by a channel to each, one queue that all take from, or a store of messages."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import cycle
from time import perf_counter_ns as clock
from typing import Any

from ipclab.backends.installed import backend as find
from ipclab.backends.interface import Backend, Channel, Data, End, Place, Store, StorePlace
from ipclab.backends.waiting import Peer
from ipclab.spawn.worker import Worker

WAIT_NS = 10_000_000_000
PRODUCER = "producer"
EACH, ONE = "each", "one"  # who gets a message: every consumer, or one of them
Send = Callable[[Data], object]
Accept = Callable[[Any, Peer], object]


@dataclass
class Way:
    """One process's end: a producer's `send` hands a message over, `tell` one to every consumer; `recv` takes one.

    `offer` hands one to the first end with a deadline of its own. `channel` is the only one there is, if there is one:
    it can be answered, and used in batches. `opening_ns` is what making and joining took, without the meetings.
    """

    ends: Sequence[End]
    opening_ns: int
    send: Send
    tell: Send
    offer: Callable[[Data, int], object]
    recv: Callable[[int], Data]
    channel: Any = None

    def close(self) -> None:
        """Give everything back."""
        for end in self.ends:
            end.close()


def channel_of(backend: Backend) -> type[Channel] | None:
    """Return the channel by which `backend` streams; None when it has none."""
    return backend.stream or backend.channel


def store_of(backend: Backend) -> type[Store] | None:
    """Return the store by which `backend`, which has no channel, sends messages; None when it has none."""
    kind = backend.store
    return None if backend.channel or not kind or kind.keeps or kind.collective else kind


def consumer_role(number: int) -> str:
    """Return the role of consumer `number`, from 0."""
    return f"consumer {number + 1}"


def join(worker: Worker, backend: str, capacity: int, consumers: int, sharing: str, part: str = "") -> Way:
    """Return this process's end of a stream of messages of at most `capacity` bytes, once all have joined.

    `part` tells several streams of one launch apart.
    """
    known = find(backend)
    store, channel = store_of(known), channel_of(known)
    if store:
        place = StorePlace(worker.prefix, worker.folder, capacity, readers=consumers, part=part)
        way = _by_store(worker, store, place)
    elif channel is None:
        raise TypeError(f"{backend} has no stream")
    else:
        alone = consumers == 1 or (sharing == ONE and channel.shares)
        parts = [part] if alone else [f"{part}{number}-" for number in range(consumers)]
        where = worker.prefix, worker.folder, capacity, known.waits[0]
        places = [Place(*where, part=each, comm=worker.comm) for each in parts]
        way = _by_channels(worker, channel, places, consumers, sharing)
    worker.meet()
    return way


def _made(
    worker: Worker, kind: Callable[[Any, bool], Any], places: Sequence[Place], consumers: int, each: Accept
) -> tuple[list[Any], int]:
    """Return this process's ends, and what making and joining them by `each` took (ns), without waiting for a turn.

    The producer has one at each of `places`, a consumer the one that is its own; consumers come one after the other.
    """
    me, begun = asdict(Peer.me()), clock()
    if worker.role == PRODUCER:
        ends = [kind(place, True) for place in places]
        spent = clock() - begun
        met = worker.meet(peer=me, addresses=[end.address for end in ends])
        for number in range(consumers):
            worker.meet()
            if number < len(ends):
                begun = clock()
                each(ends[number], Peer(**met[consumer_role(number)]["peer"]))
                spent += clock() - begun
        return ends, spent
    producer, mine = worker.meet(peer=me)[PRODUCER], int(worker.role.split()[-1]) - 1
    for number in range(consumers):
        worker.meet()
        if number == mine:
            begun = clock()
            end = kind(places[mine % len(places)], False)
            end.address = producer["addresses"][mine % len(places)]
            each(end, Peer(**producer["peer"]))
            spent = clock() - begun
    return [end], spent


def _by_store(worker: Worker, kind: type[Store], place: StorePlace) -> Way:
    (store,), spent = _made(worker, kind, [place], place.readers, lambda store, peer: None)
    begun, taken = clock(), 0
    store.accept(WAIT_NS)
    spent += clock() - begun

    def recv(timeout_ns: int) -> bytes:
        nonlocal taken
        taken, data = store.read(taken, timeout_ns)
        return bytes(data)

    def send(data: Data) -> None:
        store.write(data, WAIT_NS)

    def tell(data: Data) -> None:
        for _ in range(1 if kind.fans_out else place.readers):
            store.write(data, WAIT_NS)

    return Way([store], spent, send, tell, store.write, recv)


def _by_channels(worker: Worker, kind: type[Channel], places: Sequence[Place], consumers: int, sharing: str) -> Way:
    ends, spent = _made(worker, kind, places, consumers, lambda end, peer: end.accept(peer, WAIT_NS))
    sends, turn = [end.send for end in ends], cycle(range(len(ends)))
    first = sends[0]

    def send(data: Data) -> None:
        first(data, WAIT_NS)

    def to_each(data: Data) -> None:
        for each in sends:
            each(data, WAIT_NS)

    def to_next(data: Data) -> None:
        sends[next(turn)](data, WAIT_NS)

    def tell(data: Data) -> None:
        for number in range(consumers):
            sends[number % len(sends)](data, WAIT_NS)

    several = to_each if sharing == EACH else to_next
    alone = len(ends) == 1
    return Way(ends, spent, send if alone else several, tell, first, ends[0].recv, ends[0] if alone else None)
