"""What each version of a shared dictionary holds: a number that no other one of its launch has.

The contents turn round, as the published values on other keys; the number, which begins with a
secret of the launch, stands in the text of the first entry and is as long as that in every codec.
"""

from functools import lru_cache

import numpy as np

from ipclab.backends.codecs import CODECS, Dictionary, published_dictionary

FIRST_BITS = 47  # of the number of version 0; the shortest text has room for 48
TEXT = "text"


class Versions:
    """The contents of `count` versions in turn, in `codec`, numbered from `first` (None: not)."""

    def __init__(self, codec: str, entries: int, count: int, first: int | None) -> None:
        self.codec, self.entries, self.count, self.first = codec, entries, count, first

    def renew(self) -> None:
        """Make the contents anew, as a program does that has others before."""
        _contents.cache_clear()
        self.content(0)

    def content(self, version: int) -> Dictionary:
        """Return the content of `version`, good until the next one is asked for."""
        content = _contents(self.entries, self.count)[version % self.count]
        if self.first is not None and content:
            entry = next(iter(content.values()))
            entry[TEXT] = self._text(version, len(entry[TEXT]))
        return content

    def encoded(self, version: int) -> bytearray:
        """Return the bytes of the content of `version`, good until the next one is asked for."""
        encoded, place, length = _encoded(self.codec, self.entries, self.count)[
            version % self.count
        ]
        if self.first is not None:
            encoded[place : place + length] = self._text(version, length).encode()
        return encoded

    def fault(self, version: int, data: bytes) -> str:
        """Return how `data`, which was read as `version`, differs from it."""
        if (other := self._other(data)) is not None:
            return f"version {version} had the content of version {other}"
        wanted = self.encoded(version)
        if len(data) != len(wanted):
            return f"version {version} had {len(data):,} of {len(wanted):,} bytes"
        if not any(data):
            return f"version {version} had nothing but zeros"
        differ = np.frombuffer(data, np.uint8) != np.frombuffer(wanted, np.uint8)
        return f"version {version} had other bytes at {np.flatnonzero(differ)[0]}"

    def _text(self, version: int, length: int) -> str:
        return f"{(self.first or 0) + version:0{length}x}"

    def _other(self, data: bytes) -> int | None:
        """Return the version that `data` is the content of, if it is one."""
        for _, place, length in _encoded(self.codec, self.entries, self.count):
            try:
                number = int(data[place : place + length], 16) - (self.first or 0)
            except ValueError:
                continue
            if data == self.encoded(number):
                return number
        return None


@lru_cache(maxsize=2)
def _contents(entries: int, count: int) -> list[Dictionary]:
    """Return `count` contents, whose first entries are their own."""
    contents = [published_dictionary(entries, rotation) for rotation in range(count)]
    for content in contents:
        for key in [*content][:1]:
            content[key] = {**content[key]}
    return contents


@lru_cache(maxsize=4)
def _encoded(codec: str, entries: int, count: int) -> list[tuple[bytearray, int, int]]:
    """Return the bytes of each content, and where in them the first entry's text is, how long."""
    every = []
    for rotation in range(count):
        content = published_dictionary(entries, rotation)
        text = next(iter(content.values()), {TEXT: ""})[TEXT].encode()
        encoded = bytearray(CODECS[codec].encode(content))
        every.append((encoded, encoded.index(text), len(text)))
    return every
