"""Proof that objects arrived: each one's sum comes back under a seal, and a share is compared."""

import hashlib
import random
import struct
from collections import deque
from collections.abc import Callable
from typing import Any

from ipclab.backends.interface import Data
from ipclab.spawn.proof import BUFFERS, PayloadError, looks
from ipclab_more.studies.objects import contents

# The numbers of the objects: the one that is compared whole, a small one before all others, at which
# libraries set themselves up, and the first of those that are timed, whose every sum is compared.
PROVED, FIRST, TIMED = range(3)
TIMED_BYTES = 16 << 20  # of all these together, unless two have more
ANSWER = struct.Struct("<qqd")  # clocks (ns) at the handle and at the sum, and the sum
SEAL_BYTES = 8
Answer = tuple[int, int, float]


class AnswerSeal:
    """What the taking end, who made the `secret`, and the giving end alone can put on an answer.

    It is put on after the clocks that the answer tells, so it is in no time.
    """

    def __init__(self, secret: str) -> None:
        self.secret = secret
        self.count = 0  # of the objects that were answered

    def _digest(self, body: Data) -> bytes:
        numbered = b"%d " % self.count + body
        return hashlib.blake2b(numbered, digest_size=SEAL_BYTES, key=self.secret.encode()).digest()

    def closed(self, *answer: float) -> bytes:
        """Return the answer to the next object, sealed."""
        body = ANSWER.pack(*answer)
        sealed = body + self._digest(body)
        self.count += 1
        return sealed

    def opened(self, sealed: Data) -> Answer:
        """Return the answer to the next object; `PayloadError` if it is none of the taking end."""
        answer, whole = f"the answer to object {self.count}", ANSWER.size + SEAL_BYTES
        if len(sealed) != whole:
            raise PayloadError(f"{answer} arrived with {len(sealed)} of {whole} bytes", "")
        body = bytes(sealed[: ANSWER.size])
        if self._digest(body) != sealed[ANSWER.size :]:
            why = "it is altered, an older one, or was given by somebody else"
            raise PayloadError(f"{answer} does not have the seal of the taking end", why)
        self.count += 1
        handle, summed, total = ANSWER.unpack(body)
        return handle, summed, total


def no_object(number: int, kind: str, error: Exception) -> PayloadError:
    """Return why no object of `kind` can be made, or summed, of message `number`."""
    return PayloadError(f"object {number} arrived as no {kind}", f"{type(error).__name__}: {error}")


def compare_objects(number: int, wanted: Any, came: Any) -> None:
    """Raise `PayloadError`, which says where, unless object `number` is `wanted`, whole."""
    for difference in contents.parts_that_differ(wanted, came):
        raise PayloadError(f"object {number} arrived wrong", difference)


class Order:
    """In which order the timed objects follow one another, and which of them are compared whole.

    Each that is given has another number in one of its cells. Both ends know all of that by the
    launch's secret, the mechanism does not.
    """

    def __init__(self, kind: str, size: int, seed: int, secret: str) -> None:
        self.kind, self.size, self.seed = kind, size, seed
        self.few = max(2, min(BUFFERS, TIMED_BYTES // size))
        self.chance, self.place = random.Random(secret), 0
        self.stamps = random.Random(f"stamps of {secret}")

    def plan(self, count: int) -> list[bool]:
        """Return which of the next `count` objects are compared whole."""
        return looks(self.chance, count, self.size)

    def next(self) -> int:
        """Return the place of the next object, which is another one than the one before."""
        self.place = (self.place + self.chance.randrange(1, self.few)) % self.few
        self.stamp = self.stamps.random(), self.stamps.random()
        return self.place

    def made(self, place: int) -> Any:
        """Return the object at `place`, made anew."""
        return contents.made_object(self.kind, self.size, self.seed, TIMED + place)


class Timed(Order):
    """The objects of the timed turns: each has a sum of its own, which the other end must tell."""

    def __init__(self, kind: str, size: int, seed: int, secret: str) -> None:
        super().__init__(kind, size, seed, secret)
        self.objects = [self.made(place) for place in range(self.few)]
        self.given = 0
        self.sums = deque[float](maxlen=BUFFERS)
        self.restore: Callable[[], object] = int

    def give(self) -> Any:
        """Return the next object, which has its stamp until the one after it is given."""
        self.given += 1
        self.restore()
        content = self.objects[self.next()]
        self.restore = contents.stamp(content, *self.stamp)
        self.sums.append(contents.element_sum(content))
        return content

    def check(self, total: float) -> None:
        """Raise `PayloadError` unless `total` is the sum of the last object."""
        if total == self.sums[-1]:
            return
        why = "its sum is that of another one" if total in self.sums else "its sum differs"
        raise PayloadError(f"object {self.given - 1} arrived wrong in a timed turn", why)
