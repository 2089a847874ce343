"""Where messages differ inside: random words at random places, for each message others.

They follow from a key that the ends of a launch have and its mechanism has not.
"""

import hashlib
from collections.abc import Sequence
from struct import iter_unpack

import numpy as np

STAMP = 8  # bytes of a stamp; one in a shorter message has as many as it leaves
BLOCK = 256  # messages whose stamps are made at a time
KEPT = 16  # blocks
LARGE, FEW, MANY = 64 << 10, 1, 2  # stamps of a message up to so many bytes, and of others
Stamped = tuple[tuple[slice, ...], tuple[bytes, ...]]  # of one message: where, and what


class Stamps:
    """The stamps of messages of `size` bytes, none of them in the first `begin` bytes or beyond.

    `places` are where messages begin, in turn. Long ones have `many`. With a
    `tail` the last one of each is at its end. A message without room for any has none.
    """

    def __init__(
        self,
        key: str,
        begin: int,
        size: int,
        places: Sequence[int] = (0,),
        tail: bool = False,
        many: int = MANY,
    ) -> None:
        seed = hashlib.blake2b(f"stamps of {key}".encode(), digest_size=16).digest()
        self.seed = int.from_bytes(seed)
        self.begin, self.width = begin, min(STAMP, max(0, size - begin))
        self.last = size - self.width
        each = (FEW if size <= LARGE else many) + tail
        self.each, self.tail = each if self.width else 0, tail
        self.places = np.resize(np.array(places, np.int64), BLOCK)
        self.blocks: dict[int, list[Stamped]] = {}

    def of(self, number: int) -> Stamped:
        """Return where message `number` is stamped (slices), and with which bytes."""
        block = self.blocks.get(number // BLOCK) or self._made(number // BLOCK)
        return block[number % BLOCK]

    def ahead(self, first: int, count: int) -> None:
        """Make the stamps of `count` messages from `first`, so that none is made in a timed loop."""
        wanted = range(first // BLOCK, (first + count) // BLOCK + 1)
        self.blocks = {block: made for block, made in self.blocks.items() if block in wanted}
        for block in wanted:
            if block not in self.blocks:
                self.blocks[block] = self._drawn(block)

    def _made(self, block: int) -> list[Stamped]:
        if len(self.blocks) > KEPT:
            self.blocks.clear()
        return self.blocks.setdefault(block, self._drawn(block))

    def _drawn(self, block: int) -> list[Stamped]:
        chance = np.random.default_rng([self.seed, block & (1 << 63) - 1, block < 0])
        each, width = self.each, self.width
        if not each:
            return [((), ())] * BLOCK
        inside = chance.integers(self.begin, self.last, (BLOCK, each), endpoint=True)
        if self.tail:
            inside[:, -1] = self.last
        begins = (inside + self.places[:, None]).ravel()
        slices = map(slice, begins.tolist(), (begins + width).tolist())
        content = chance.bytes(BLOCK * each * width)
        contents = iter_unpack(f"{width}s" * each, content)
        return [*zip(zip(*[slices] * each, strict=True), contents, strict=True)]
