"""How a producer reaches consumers: a channel to each, one shared queue, or a store."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import cycle
from typing import Any

from ipclab.backends.installed import backend as find
from ipclab.backends.interface import Backend, Channel, Data, End, Place, Store
from ipclab.spawn.worker import Worker
from ipclab.studies.joining import WAIT_NS, joined_ends

PRODUCER = "producer"
EACH, ONE = "each", "one"  # who gets a message: every consumer, or one of them


@dataclass
class StreamWay:
    """One process's end: a producer's `send` hands one message over, `tell` one to all.

    `recv` takes one.

    `offer` hands one to the first end with a deadline of its own. `channel` is the only one there
    is, if there is one: it can be answered, and used in batches. `opening_ns` is what making and
    joining took, without the meetings.
    """

    ends: Sequence[End]
    opening_ns: int
    send: Callable[[Data], object]
    tell: Callable[[Data], object]
    offer: Callable[[Data, int], object]
    recv: Callable[[int], Data]
    channel: Any = None

    def close(self) -> None:
        """Give everything back."""
        for end in self.ends:
            end.close()


def carrier(backend: Backend) -> type[Channel] | type[Store] | None:
    """Return the channel by which `backend` streams, or else the store by which it sends messages.

    None where it has neither, or may lose messages.
    """
    if backend.lossy:
        return None
    store = backend.store
    sends = store and not (backend.channel or store.keeps or store.collective)
    return store if sends else backend.stream or backend.channel


def consumer_role(number: int) -> str:
    """Return the role of consumer `number`, from 0."""
    return f"consumer {number + 1}"


def roles_of(consumers: int) -> list[str]:
    """Return the role of the producer, then that of each consumer."""
    return [PRODUCER, *map(consumer_role, range(consumers))]


def join(
    worker: Worker, backend: str, capacity: int, consumers: int, sharing: str, part: str = ""
) -> StreamWay:
    """Return this process's end of a stream of `capacity`-byte messages, once all joined.

    `part` tells several streams of one launch apart.
    """
    registered = find(backend)
    kind = carrier(registered)
    if kind is None:
        raise TypeError(f"{backend} has no stream")
    alone = issubclass(kind, Store) or consumers == 1 or (sharing == ONE and kind.shares)
    parts = [part] if alone else [f"{part}{number}-" for number in range(consumers)]
    where = worker.prefix, worker.folder, capacity, registered.waits[0], consumers
    places = [Place(*where, part=name, comm=worker.comm) for name in parts]
    ends, spent = joined_ends(worker, kind, places, PRODUCER, roles_of(consumers)[1:])
    way = _way(ends, spent, consumers, sharing)
    worker.meet()
    return way


def _way(ends: Sequence[Any], spent: int, consumers: int, sharing: str) -> StreamWay:
    end, alone = ends[0], len(ends) == 1
    stored = isinstance(end, Store)
    hands = [end.write] if stored else [end_of.send for end_of in ends]
    # who has an end of its own, or gets whatever is written, gets it by one call
    everyone = hands if not alone or (stored and end.fans_out) else hands * consumers
    first, turn = hands[0], cycle(hands)
    taken = 0

    def send(data: Data) -> None:
        first(data, WAIT_NS)

    def to_each(data: Data) -> None:
        for hand in everyone:
            hand(data, WAIT_NS)

    def to_next(data: Data) -> None:
        next(turn)(data, WAIT_NS)

    def read(timeout_ns: int) -> bytes:
        nonlocal taken
        data: bytes
        taken, data = end.read(taken, timeout_ns)
        return data

    several = to_each if sharing == EACH else to_next
    sends = send if alone else several
    if stored:
        return StreamWay(ends, spent, sends, to_each, first, read)
    return StreamWay(ends, spent, sends, to_each, first, end.recv, end if alone else None)
