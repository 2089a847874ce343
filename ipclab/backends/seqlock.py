"""A store in shared memory: a versioned header before the content, so that no read is torn.

It is a sequence lock, as in the Linux kernel: the writer makes the sequence odd, copies, and makes
it even again; a reader copies between two equal even values, or tries again. Python has no memory
barrier: where a processor reorders stores or loads (x86 does not), the header has a checksum of the
content too, and what does not fit it is read again.
"""

import os
import platform
import zlib
from contextlib import suppress
from time import monotonic_ns as clock
from typing import ClassVar

from ipclab.backends.interface import Data, Place, Segment, Store, too_long

SEQUENCE, LENGTH, CHECKSUM = 0, 1, 2  # words of 8 bytes
# Where the content begins. Not the next cache line: a large bytes object starts 48 bytes into its
# page, and copies
# whose ends lie 4 to 28 bytes apart within a page are many times slower on some processors (seen on
# Zen 4 with 64).
START = 128
# processors that keep the order of stores and of loads
ORDERED = "x86_64", "amd64", "i686", "i386"


class SeqlockStore(Store):
    """A store in memory behind that header."""

    def use(self, memory: memoryview) -> None:
        """Read and write `memory` from now on, zero at first.

        On a processor that reorders, the checksum stands in it, too.
        """
        self.buffer = memory.cast("B") if memory.format != "B" else memory
        self.words = self.buffer[: 8 * 3].cast("Q")
        self.capacity = len(self.buffer) - START
        self.checked = platform.machine().lower() not in ORDERED
        self.held.callback(self.buffer.release)
        self.held.callback(self.words.release)

    def write(self, data: Data, timeout_ns: int = 0) -> None:
        """Replace the content, without waiting; raises `ValueError` where there is no room."""
        size = len(data)
        if size > self.capacity:
            raise too_long(size, self.capacity)
        # odd where a writer was killed inside a write
        words, sequence = self.words, self.words[SEQUENCE] & ~1
        words[SEQUENCE] = sequence + 1
        self.buffer[START : START + size] = data
        words[LENGTH] = size
        if self.checked:
            words[CHECKSUM] = zlib.crc32(data)
        words[SEQUENCE] = sequence + 2

    def read(self, after: int, timeout_ns: int) -> tuple[int, bytes]:
        """Return version and content above `after`; `TimeoutError` when none is whole in time."""
        words, buffer, end = self.words, self.buffer, 0
        while True:
            before = words[SEQUENCE]
            if not before & 1 and before >> 1 > after:
                data = bytes(buffer[START : START + words[LENGTH]])
                if words[SEQUENCE] == before and (
                    not self.checked or zlib.crc32(data) == words[CHECKSUM]
                ):
                    return before >> 1, data
            now = clock()
            end = end or now + timeout_ns
            if now >= end:
                raise TimeoutError(f"no whole content above version {after} came in time")
            os.sched_yield()


class SegmentStore(SeqlockStore):
    """A store in a segment of the class's own kind; the end that created it removes it."""

    kind: ClassVar[type[Segment]]

    def __init__(self, place: Place, create: bool) -> None:
        super().__init__(place, create)
        segment = self.kind(place.name("store"), START + place.capacity, create)
        if create:
            self.held.callback(segment.unlink)
        self.held.enter_context(suppress(BufferError))
        self.held.callback(segment.close)
        self.use(segment.buffer)
