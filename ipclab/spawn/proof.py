"""Proof that what is timed is what arrived: numbered messages, some of which are compared whole.

Messages come in turn from 16 random buffers and begin with a number that is never used again. Each
has stamps of its own somewhere inside. Where these are, and which messages are looked at, the ends
know and the mechanism does not.
"""

import hashlib
import random
import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ipclab.errors import LabError
from ipclab.spawn.stamps import Stamps

Data = bytes | bytearray | memoryview
BUFFERS, STEP = 16, 64  # the buffers begin a cache line apart, so that caches hold them as one
MARK = 8  # bytes of a number at the beginning of a message; a shorter one has as many as it has
EVERY = 8  # one in so many is looked at whole, up to `LARGE`; of longer ones, one a turn
LARGE = 64 << 10
WARM_SHARE = 0.5  # of the operations that are not recorded anyway
SMALL = 256  # bytes up to which each message is compared, since that costs no more than its number
LOOKED = 2  # operations that a look takes away from a turn: its own and the next one
FAR = 1 << 32  # numbers as far apart as that are none of the same messages
PROVED = "numbered", "compared"  # among a launch's facts: how many messages were
END = -1  # the number of a message that comes after the last one


class PayloadError(LabError):
    """Data were lost, torn, repeated or reordered on the way."""


class AwaitedError(PayloadError):
    """What was waited for did not come in time: it is lost, or the machine stood still."""


def digest(data: Data) -> str:
    """Return the digest of every byte of `data` (BLAKE2b, 16 bytes, hex)."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def arrived(number: int, what: str, why: str = "") -> PayloadError:
    """Return the error of message `number`, which arrived wrong as `what` says."""
    return PayloadError(f"message {number} {what}", why)


class Messages:
    """The messages of `size` bytes that follow from `key`, the same in each process that knows it.

    Message `number` is a window on random bytes with its number at the beginning and its `Stamps`
    inside. The windows overlap, so a message has the numbers of the 15 before it inside. The bytes
    are `content`, where it is given.
    """

    def __init__(self, key: str, size: int, content: bytes = b"") -> None:
        chance = random.Random(key)
        self.size, self.width = size, min(MARK, size)
        self.first = chance.getrandbits(62) | 1 << 61  # which is the mark of message 0
        # a mark is written whole, also where the message is shorter
        self.pool = bytearray(content or noise(key, pool_bytes(size)))
        self.places = chance.sample(range(0, BUFFERS * STEP, STEP), BUFFERS)
        self.windows = [memoryview(self.pool)[at : at + size] for at in self.places]
        marks = [memoryview(self.pool)[at : at + MARK] for at in self.places]
        self.marks = [mark.cast("Q") for mark in marks]
        self.base = bytes(self.pool)
        self.stamps = Stamps(key, MARK, size, self.places, tail=True)
        self.stamped: tuple[slice, ...] = ()  # where the message made last is
        self.under: list[tuple[slice, bytearray]] = []  # what was before where an answer is stamped
        for number in range(-BUFFERS, 0):
            self.message(number)

    def number(self, data: Data, near: int = 0) -> int:
        """Return the number with which `data` begins; of a short mark, the one nearest to `near`."""
        half = 1 << (8 * self.width - 1)
        beyond = int.from_bytes(data[: self.width], sys.byteorder) - self.first - near + half
        return beyond % (2 * half) - half + near

    def message(self, number: int) -> memoryview:
        """Return message `number`, good until the next one is made, which come in their order."""
        pool = self.pool
        while self.under:
            place, before = self.under.pop()
            pool[place] = before
        for place in self.stamped:
            pool[place] = self.base[place]
        self.marks[number % BUFFERS][0] = self.first + number
        places, contents = self.stamps.of(number)
        for place, content in zip(places, contents, strict=False):
            pool[place] = content
        self.stamped = places
        return self.windows[number % BUFFERS]

    def at(self, number: int) -> memoryview:
        """Return message `number`, whatever was made before."""
        for past in range(number - BUFFERS + 1, number + 1):
            self.message(past)
        return self.windows[number % BUFFERS]

    def begins(self, number: int, data: Data) -> bool:
        """Tell whether message `number`, which was made last, begins with `data`."""
        return self.pool.startswith(data, self.places[number % BUFFERS])

    def ends(self, number: int, data: Data) -> bool:
        """Tell whether message `number`, which was made last, ends with `data`."""
        return self.pool.startswith(data, self.places[number % BUFFERS] + self.size - len(data))

    def other(self, number: int, data: Data) -> int | None:
        """Return which other message `data` is, that arrived as message `number`, made last."""
        other = self.number(data, number)
        if len(data) != self.size or not 0 < abs(other - number) < FAR:
            return None
        same = bytes(self.at(other)) == data
        self.at(number)
        return other if same else None

    def replaced(self, number: int, other: int) -> PayloadError:
        """Return the error of message `other` that came in place of message `number`."""
        when = "again" if other < number else "too early"
        return arrived(number, f"did not arrive: message {other} came in its place, {when}")

    def stamp(self, places: Sequence[slice], contents: Sequence[bytes], number: int) -> None:
        """Write `contents` over `places` of message `number`, until the next one is made."""
        begin, pool = self.places[number % BUFFERS], self.pool
        for place, content in zip(places, contents, strict=True):
            where = slice(begin + place.start, begin + place.stop)
            self.under.append((where, pool[where]))
            pool[where] = content

    def stamped_alike(self, number: int, data: Data) -> bool:
        """Tell whether `data` has what message `number`, made last, has where it is stamped."""
        begin, pool = self.places[number % BUFFERS], self.pool
        stamped = (*self.stamped, *(place for place, _ in self.under))
        return all(
            data[place.start - begin : place.stop - begin] == pool[place] for place in stamped
        )

    def fault(self, number: int, data: Data) -> PayloadError:
        """Return what is wrong with `data`, which arrived as message `number`, made last."""
        if len(data) != self.size:
            return arrived(number, f"arrived with {len(data):,} of {self.size:,} bytes")
        if (other := self.other(number, data)) is not None:
            return self.replaced(number, other)
        return altered(number, self.windows[number % BUFFERS], data)


def unlike(data: object, kind: type, what: str) -> PayloadError:
    """Return why `data` is not what was asked for: exactly a `kind`, which is there."""
    why = "what is handed over must be there, and the receiver's own unless a view is asked for"
    return PayloadError(f"{what} arrived as a {type(data).__name__}, not as {kind.__name__}", why)


def last_word(size: int) -> tuple[Callable[[Data, int], object], int]:
    """Return what reads the last word of a message of `size` bytes, and where that begins."""
    width = min(MARK, size)
    return struct.Struct(f"{width}s").unpack_from, size - width


def differing(wanted: Data, data: Data) -> "np.ndarray[Any, np.dtype[np.intp]]":
    """Return where `data`, which is as long, has other bytes than those `wanted`."""
    return np.flatnonzero(np.frombuffer(wanted, np.uint8) != np.frombuffer(data, np.uint8))


def altered(number: int, wanted: Data, data: Data) -> PayloadError:
    """Return what is wrong with `data`, which arrived as message `number`, as long as `wanted`."""
    if not any(data):
        return arrived(number, "arrived with nothing but zeros")
    wrong = differing(wanted, data)
    where = wrong[0] if len(wrong) else 0
    why = f"{len(wrong):,} of {len(wanted):,} bytes differ"
    return arrived(number, f"arrived with other bytes at {where}", why)


def pool_bytes(size: int) -> int:
    """Return how many bytes messages of `size` bytes are windows of."""
    return size + (BUFFERS - 1) * STEP + MARK


def noise(key: str, size: int) -> bytes:
    """Return `size` random bytes, which follow from `key`."""
    seed = int.from_bytes(hashlib.blake2b(key.encode(), digest_size=16).digest())
    return np.random.default_rng(seed).bytes(size)


def looks(chance: random.Random, count: int, size: int, most: int = sys.maxsize) -> list[bool]:
    """Return which of the next `count` operations on `size` bytes are looked at whole.

    They are at least one, and `most` at most.
    """
    few = max(1, count // EVERY) if size <= LARGE else 1
    chosen = set(chance.sample(range(count), min(few, count, most)))
    return [number in chosen for number in range(count)]


class Numbered:
    """One end's share of the proof of messages that go one way, of `size` bytes.

    Both ends ask for the `plan` of each turn, with the same counts, and for the `next` message, of
    which one end checks what arrived.
    """

    def __init__(self, key: str, size: int, content: bytes = b"") -> None:
        self.size, self.messages = size, Messages(key, size, content)
        self.chance = random.Random(key)
        # bytes at the beginning and at the end of each that arrives
        self.checked = size if size <= SMALL else min(MARK, size)
        self.made = self.compared = self.planned = 0

    def plan(self, count: int, warm: bool = False) -> list[bool]:
        """Return which of the next `count` operations are looked at whole: of all, the first.

        Half of those are that only warm up, where a look costs nothing; of long ones, all, since
        there are few of them.
        """
        plan = looks(self.chance, count, self.size)
        if warm and self.size > LARGE:
            plan = [True] * count
        elif warm:
            plan = [look or self.chance.random() < WARM_SHARE for look in plan]
        plan[0] |= not self.planned
        self.planned += count
        self.messages.stamps.ahead(self.made, count)
        return plan

    def next(self) -> Data:
        """Return the next message."""
        number = self.made
        self.made = number + 1
        return self.messages.message(number)

    def check(self, data: Data, look: bool) -> None:
        """Raise `PayloadError` unless `data` is the message made last."""
        if look:
            self.look(self.made - 1, data)
            return
        if not self.alike(self.made - 1, data):
            raise self.fault(self.made - 1, data)

    def alike(self, number: int, data: Data) -> bool:
        """Tell whether `data` is message `number`, made last, at both ends and where stamped."""
        messages, few = self.messages, self.checked
        return (
            len(data) == self.size
            and messages.begins(number, data[:few])
            and messages.ends(number, data[-few:])
            and messages.stamped_alike(number, data)
        )

    def look(self, number: int, data: Data) -> None:
        """Raise `PayloadError` unless `data` is message `number` whole, which was made last."""
        self.compared += 1
        if len(data) != self.size or not self.messages.begins(number, data):
            raise self.fault(number, data)

    def fault(self, number: int, data: Data) -> PayloadError:
        """Return what is wrong with `data`, which arrived as message `number`."""
        return self.messages.fault(number, data)

    def told(self) -> dict[str, int]:
        """Return how many messages were numbered, and how many of these were compared whole."""
        compared = self.made if self.size <= SMALL else self.compared
        return dict(zip(PROVED, (self.made, compared), strict=True))


def recorded(plan: Sequence[bool], discarded: int) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Return which operations of a turn are recorded: not the first, nor looks and what follows.

    A look is a gap, after which a mechanism can take longer.
    """
    kept = ~np.array(plan)
    kept[1:] &= ~np.array(plan[:-1], bool)
    kept[:discarded] = False
    return kept
