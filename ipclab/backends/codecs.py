"""The published dictionary, and the codecs that turn it into bytes and back."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

Dictionary = dict[str, dict[str, Any]]
PICKLE_PROTOCOL = 5
# how many contents of one size there are at most; a quarter of them above so many entries
ROTATIONS, LARGE = 16, 1000
FIXED = np.dtype(
    [("key", "S16"), ("value", "<i8"), ("squared", "<i8"), ("text", "S24"), ("float", "<f8")]
)


def published_dictionary(entries: int, rotation: int = 0) -> Dictionary:
    """Return the published dictionary with its contents moved on by `rotation` keys."""
    published = _published(entries)
    start = rotation % max(1, entries)
    keys, values = list(published), list(published.values())
    return dict(zip(keys, values[start:] + values[:start], strict=True))


@lru_cache(maxsize=2)
def _published(entries: int) -> Dictionary:
    values = (
        {"value": i, "squared": i * i, "text": f"test_value_{i}", "float": i / 3}
        for i in range(entries)
    )
    return {f"key_{i}": value for i, value in enumerate(values)}


def rotations(entries: int) -> int:
    """Return how many different contents of `entries` entries are used."""
    return min(max(1, entries), ROTATIONS if entries <= LARGE else ROTATIONS // 4)


@dataclass(frozen=True)
class Codec:
    """A way to turn a dictionary into bytes and back.

    `decode` gives what a program works with: the dictionary, or an array over the bytes; `restore`
    makes it that again.
    """

    encode: Callable[[Dictionary], bytes]
    decode: Callable[[bytes], Any]
    restore: Callable[[Any], Dictionary] = lambda decoded: decoded


def _fixed(content: Dictionary) -> bytes:
    rows = [
        (key, entry["value"], entry["squared"], entry["text"], entry["float"])
        for key, entry in content.items()
    ]
    return np.array(rows, FIXED).tobytes()


def _restored(entries: npt.NDArray[np.void]) -> Dictionary:
    return {
        key.decode(): {"value": value, "squared": squared, "text": text.decode(), "float": number}
        for key, value, squared, text, number in entries.tolist()
    }


CODECS = {
    # Only for what a rank of this launch wrote under a private name: a pickle runs what it says.
    "pickle": Codec(lambda content: pickle.dumps(content, PICKLE_PROTOCOL), pickle.loads),
    "msgpack": Codec(msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder().decode),
    "json": Codec(msgspec.json.Encoder().encode, msgspec.json.Decoder().decode),
    # The entries as an array in place: nothing is parsed, and nothing is copied.
    "fixed": Codec(_fixed, lambda data: np.frombuffer(data, FIXED), _restored),
}


@lru_cache(maxsize=64)
def encoded_bytes(codec: str, entries: int) -> int:
    """Return how many bytes the dictionary of `entries` entries takes in `codec`."""
    return len(CODECS[codec].encode(published_dictionary(entries)))
