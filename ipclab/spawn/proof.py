"""Proof that what is timed is what arrived: numbered messages, and answers that know a secret.

Messages come in turn from 16 random buffers and begin with a number. Both ends know which of them
are looked at whole, and the mechanism does not: the answer to such a one is what arrived, mixed
with a secret of the launch that only the server has when it answers.
"""

import hashlib
import random
import secrets
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from ipclab.errors import LabError

Data = bytes | bytearray | memoryview
BUFFERS, STEP = 16, 64  # the buffers begin a cache line apart, so that caches hold them as one
MARK = 8  # bytes of a number at the beginning of a message; a shorter one has as many as it has
EVERY = 8  # one in so many is looked at whole, up to `LARGE`; of longer ones, one a turn
LARGE = 64 << 10
SMALL = 256  # bytes up to which each message is compared, since that costs no more than its number
LOOKED = 2  # operations that a look takes away from a turn: its own and the next one
FAR = 1 << 32  # numbers as far apart as that are none of the same messages
END = -1  # the number of a message that comes after the last one


class PayloadError(LabError):
    """Data were lost, torn, repeated or reordered on the way."""


class AwaitedError(PayloadError):
    """What was waited for did not come in time: it is lost, or the machine stood still."""


def payload(seed: int, sequence: int, size: int) -> bytes:
    """Return message number `sequence` of `size` bytes; above 8 bytes no two are the same."""
    words = np.random.PCG64([seed, sequence]).random_raw(size // 8 + 1)
    return words.tobytes()[:size]


def digest(data: Data) -> str:
    """Return the digest of every byte of `data` (BLAKE2b, 16 bytes, hex)."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def arrived(number: int, what: str, why: str = "") -> PayloadError:
    """Return the error of message `number`, which arrived wrong as `what` says."""
    return PayloadError(f"message {number} {what}", why)


class Messages:
    """The messages of `size` bytes that follow from `key`, the same in each process that knows it.

    Message `number` is a window on random bytes with its number at the beginning. The windows
    overlap, so a message has the numbers of the 15 before it inside.
    """

    def __init__(self, key: str, size: int) -> None:
        chance = random.Random(key)
        self.size, self.width = size, min(MARK, size)
        self.first = chance.getrandbits(62) | 1 << 61  # which is the mark of message 0
        # a mark is written whole, also where the message is shorter
        self.pool = bytearray(noise(key, size + (BUFFERS - 1) * STEP + MARK))
        self.places = chance.sample(range(0, BUFFERS * STEP, STEP), BUFFERS)
        self.windows = [memoryview(self.pool)[at : at + size] for at in self.places]
        marks = [memoryview(self.pool)[at : at + MARK] for at in self.places]
        self.marks = [mark.cast("Q") for mark in marks]
        for number in range(-BUFFERS, 0):
            self.message(number)

    def number(self, data: Data, near: int = 0) -> int:
        """Return the number with which `data` begins; of a short mark, the one nearest to `near`."""
        half = 1 << (8 * self.width - 1)
        beyond = int.from_bytes(data[: self.width], sys.byteorder) - self.first - near + half
        return beyond % (2 * half) - half + near

    def message(self, number: int) -> memoryview:
        """Return message `number`, good until 15 others were made, which come in their order."""
        self.marks[number % BUFFERS][0] = self.first + number
        return self.windows[number % BUFFERS]

    def at(self, number: int) -> memoryview:
        """Return message `number`, whatever was made before."""
        for past in range(number - BUFFERS + 1, number + 1):
            self.message(past)
        return self.windows[number % BUFFERS]

    def is_whole(self, number: int, data: Data) -> bool:
        """Tell whether `data` is message `number`, which was made last."""
        return len(data) == self.size and self.pool.startswith(data, self.places[number % BUFFERS])

    def other(self, number: int, data: Data) -> int | None:
        """Return which other message `data` is, that arrived as message `number`, made last."""
        other = self.number(data, number)
        if len(data) != self.size or not 0 < abs(other - number) < FAR:
            return None
        same = bytes(self.at(other)) == data
        self.at(number)
        return other if same else None

    def fault(self, number: int, data: Data) -> PayloadError:
        """Return what is wrong with `data`, which arrived as message `number`, made last."""
        if len(data) != self.size:
            return arrived(number, f"arrived with {len(data):,} of {self.size:,} bytes")
        if (other := self.other(number, data)) is not None:
            when = "again" if other < number else "too early"
            return arrived(number, f"did not arrive: message {other} came in its place, {when}")
        wanted = np.frombuffer(self.windows[number % BUFFERS], np.uint8)
        wrong = np.flatnonzero(wanted != np.frombuffer(data, np.uint8))
        if not any(data):
            return arrived(number, "arrived with nothing but zeros")
        where = wrong[0] if len(wrong) else 0
        why = f"{len(wrong):,} of {self.size:,} bytes differ"
        return arrived(number, f"arrived with other bytes at {where}", why)


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


class _Meeting(Protocol):
    """What a proof needs of a worker."""

    prefix: str
    role: str
    outcome: Any

    def meet(self, **published: Any) -> dict[str, dict[str, Any]]: ...


class Proof:
    """One end's share of the proof of request and answer; the end of role `server` answers.

    Both ends ask for the `plan` of each turn, with the same counts.
    """

    def __init__(self, worker: _Meeting, size: int, server: str = "server") -> None:
        own = {"secret": secrets.token_hex(16)} if worker.role == server else {}
        secret = worker.meet(**own)[server]["secret"]
        self.worker, self.size = worker, size
        self.messages = Messages(f"{worker.prefix} {secret}", size)
        chance = random.Random(secret)
        self.key = np.frombuffer(noise(secret, size), np.uint8)
        self.shift = chance.randrange(size)
        self.room = np.zeros(size, np.uint8)
        self.chance = chance
        self.checked = size if size <= SMALL else MARK  # bytes of each answer
        self.made = self.compared = self.planned = 0

    def plan(self, count: int) -> list[bool]:
        """Return which of the next `count` operations are looked at whole: of all, the first."""
        plan = looks(self.chance, count, self.size)
        plan[0] |= not self.planned
        self.planned += count
        return plan

    def next(self) -> memoryview:
        """Return the next message."""
        number = self.made
        self.made = number + 1
        return self.messages.message(number)

    def mixed(self, data: Data) -> memoryview:
        """Return the answer to `data` of an operation that is looked at; good until the next one."""
        if len(data) != self.size:
            what = f"arrived at the server with {len(data):,} of {self.size:,} bytes"
            raise arrived(self.messages.number(data), what)
        # What turns a bit on both ways turns two: each byte goes back at another place.
        arrived_bytes = np.frombuffer(data, np.uint8)
        self.room[: self.size - self.shift] = arrived_bytes[self.shift :]
        self.room[self.size - self.shift :] = arrived_bytes[: self.shift]
        self.room ^= self.key
        return memoryview(self.room)

    def clear(self, answer: Data) -> bytes:
        """Return what arrived at the server if `answer`, which is as long, is mixed of it."""
        mixed = np.frombuffer(answer, np.uint8) ^ self.key
        return np.roll(mixed, self.shift).tobytes()

    def check(self, answer: Data, look: bool) -> None:
        """Raise `PayloadError` unless `answer` is that to the message made last."""
        messages, number = self.messages, self.made - 1
        if look:
            self._look(number, answer)
            return
        begins = messages.pool.startswith(answer[: self.checked], messages.places[number % BUFFERS])
        if not begins or len(answer) != self.size:
            raise self._fault(number, answer, answer)

    def _look(self, number: int, answer: Data) -> None:
        self.compared += 1
        if self.messages.is_whole(number, answer):
            raise arrived(number, "was not answered by the server", "its secret is not in it")
        clear = self.clear(answer) if len(answer) == self.size else answer
        if not self.messages.is_whole(number, clear):
            raise self._fault(number, answer, clear)

    def _fault(self, number: int, answer: Data, clear: Data) -> PayloadError:
        """Return what is wrong with `answer`, of which `clear` is to be the message itself."""
        old = [answer]
        if len(answer) == self.size:
            old.append(self.clear(answer))
        wrong = next((each for each in old if self.messages.other(number, each) is not None), clear)
        return self.messages.fault(number, wrong)

    @contextmanager
    def going(self) -> Iterator[None]:
        """Say which message was waited for inside, where that was in vain."""
        try:
            yield
        except TimeoutError as error:
            said = f"no answer to message {self.made - 1} came"
            raise AwaitedError(said, "it or its answer was lost") from error

    def refused(self) -> PayloadError:
        """Return the error of a message that was not taken, though those before were answered."""
        number = self.made - 1
        return AwaitedError(f"message {number} was not taken", "those before it had their answers")

    def missed(self, number: int) -> PayloadError:
        """Return the error of the server at message `number` of a turn, which did not come."""
        return AwaitedError(f"message {number} of a turn did not come", "it was lost")

    def stuck(self, number: int, error: Exception) -> PayloadError:
        """Return why the server could not answer message `number` of a turn."""
        if isinstance(error, ValueError):  # nobody has sent so much
            return arrived(number, "arrived longer than it was sent", str(error))
        return AwaitedError(f"the answer to message {number} of a turn was not taken")

    def told(self) -> None:
        """Note how many messages were numbered, and how many of these were compared whole."""
        compared = self.made if self.size <= SMALL else self.compared
        self.worker.outcome.facts |= {"numbered": self.made, "compared": compared}


def recorded(plan: Sequence[bool], discarded: int) -> "np.ndarray[Any, np.dtype[np.bool_]]":
    """Return which operations of a turn are recorded: not the first, nor looks and what follows.

    A look is a gap, after which a mechanism can take longer.
    """
    kept = ~np.array(plan)
    kept[1:] &= ~np.array(plan[:-1], bool)
    kept[:discarded] = False
    return kept


def check(seed: int, size: int, seen: Sequence[str], count: int) -> None:
    """Compare the digests `seen` at the far end with messages 0 to `count` - 1.

    Raises `PayloadError` that names the first message which differs and, where it can be told, how.
    """
    expected = [digest(payload(seed, sequence, size)) for sequence in range(count)]
    if len(seen) != count:
        raise PayloadError(
            f"{len(seen)} of {count} messages arrived", "messages were lost or repeated"
        )
    for sequence, (want, got) in enumerate(zip(expected, seen, strict=True)):
        if want != got:
            how = (
                f"it is message {expected.index(got)}"
                if got in expected
                else "its bytes are torn or altered"
            )
            raise PayloadError(f"message {sequence} of {count} arrived wrong", how)
