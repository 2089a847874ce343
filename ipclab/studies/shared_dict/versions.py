"""What each version of a shared dictionary holds: a number that no other one of its launch has.

The contents turn round, as the published values on other keys; the number, which begins with a
secret of the launch, stands in the text of the first entry and is as long as that in every codec.
The texts of the last one and of another, which the secret chooses, are random in each version.
"""

from dataclasses import dataclass, field
from functools import lru_cache

from ipclab.backends.codecs import CODECS, Dictionary, published_dictionary
from ipclab.spawn.proof import differing
from ipclab.spawn.stamps import STAMP, Stamps

FIRST_BITS = 47  # of the number of version 0; the shortest text has room for 48
TEXT = "text"
Stamped = list[tuple[int, str]]  # entries, and the text of each
PUBLISHED = b"test_value_"  # with which the text of every entry begins


@dataclass
class _Content:
    """A content, in which a few entries have another text than published."""

    entries: Dictionary
    under: Dictionary = field(default_factory=dict)

    def stamp(self, stamps: Stamped) -> None:
        """Give entries, counted from 0, as much of their stamps as their texts have."""
        self.entries |= self.under
        self.under = {f"key_{entry}": self.entries[f"key_{entry}"] for entry, _ in stamps}
        for entry, text in stamps:
            published = self.under[f"key_{entry}"]
            own = {**published, TEXT: text[: len(published[TEXT])]}
            self.entries[f"key_{entry}"] = own


@dataclass
class _Encoded:
    """The bytes of a content, and where in them the text of each entry is, how long."""

    data: bytearray
    texts: list[slice]
    under: list[tuple[slice, bytes]] = field(default_factory=list)

    def stamp(self, stamps: Stamped) -> None:
        """Give entries, counted from 0, as much of their stamps as their texts have."""
        for place, published in self.under:
            self.data[place] = published
        places = [self.texts[entry] for entry, _ in stamps]
        self.under = [(place, bytes(self.data[place])) for place in places]
        for place, (_, text) in zip(places, stamps, strict=True):
            self.data[place] = text[: place.stop - place.start].encode()


class Versions:
    """The contents of `count` versions in turn, in `codec`, numbered from `first` (None: not)."""

    def __init__(self, codec: str, entries: int, count: int, first: int | None) -> None:
        self.codec, self.entries, self.count, self.first = codec, entries, count, first
        self.stamps = Stamps(f"versions from {first}", 0, STAMP * (entries - 1), tail=True)

    def renew(self) -> None:
        """Make the contents anew, as a program does that has others before."""
        _contents.cache_clear()
        self.content(0)

    def content(self, version: int) -> Dictionary:
        """Return the content of `version`, good until the next one is asked for."""
        content = _contents(self.entries, self.count)[version % self.count]
        if self.first is not None and content.entries:
            content.stamp(self._stamps(version))
            first = next(iter(content.entries.values()))
            first[TEXT] = self._text(version, len(first[TEXT]))
        return content.entries

    def encoded(self, version: int) -> bytearray:
        """Return the bytes of the content of `version`, good until the next one is asked for."""
        content = _encoded(self.codec, self.entries, self.count)[version % self.count]
        if self.first is not None and content.texts:
            content.stamp(self._stamps(version))
            place = content.texts[0]
            content.data[place] = self._text(version, place.stop - place.start).encode()
        return content.data

    def _stamps(self, version: int) -> Stamped:
        """Return which entries of `version`, beside the first one, have texts of their own, and which."""
        stamps = zip(*self.stamps.of(version), strict=True)
        return [(1 + place.start // STAMP, 2 * text.hex()) for place, text in stamps]

    def fault(self, version: int, data: bytes) -> str:
        """Return how `data`, which was read as `version`, differs from it."""
        if (other := self._other(data)) is not None:
            return f"version {version} had the content of version {other}"
        wanted = self.encoded(version)
        if len(data) != len(wanted):
            return f"version {version} had {len(data):,} of {len(wanted):,} bytes"
        if not any(data):
            return f"version {version} had nothing but zeros"
        return f"version {version} had other bytes at {differing(wanted, data)[0]}"

    def _text(self, version: int, length: int) -> str:
        return f"{(self.first or 0) + version:0{length}x}"

    def _other(self, data: bytes) -> int | None:
        """Return the version that `data` is the content of, if it is one."""
        for content in _encoded(self.codec, self.entries, self.count):
            try:
                number = int(data[content.texts[0]], 16) - (self.first or 0)
            except (ValueError, IndexError):
                continue
            if data == self.encoded(number):
                return number
        return None


@lru_cache(maxsize=2)
def _contents(entries: int, count: int) -> list[_Content]:
    """Return `count` contents, whose first entries are their own."""
    contents = [published_dictionary(entries, rotation) for rotation in range(count)]
    for content in contents:
        for key in [*content][:1]:
            content[key] = {**content[key]}
    return [*map(_Content, contents)]


@lru_cache(maxsize=4)
def _encoded(codec: str, entries: int, count: int) -> list[_Encoded]:
    """Return the bytes of each content."""
    every = []
    for rotation in range(count):
        content = published_dictionary(entries, rotation)
        encoded = bytearray(CODECS[codec].encode(content))
        texts, place = list[slice](), 0
        for entry in content.values():
            begin = encoded.index(PUBLISHED, place)
            place = begin + len(entry[TEXT])
            texts.append(slice(begin, place))
        every.append(_Encoded(encoded, texts))
    return every
