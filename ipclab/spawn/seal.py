"""What a server puts into each of its answers, so that nobody else can have made them."""

import ctypes
from typing import TypeVar

import numpy as np

from ipclab.spawn.proof import MARK, SMALL, Data
from ipclab.spawn.stamps import Stamps

Writable = TypeVar("Writable", bytearray, memoryview)
TABLES = 256
address_of = ctypes.pythonapi.PyBytes_AsString
address_of.argtypes, address_of.restype = (ctypes.py_object,), ctypes.c_void_p
copy_to = ctypes.memmove


class Seal:
    """How the answer to each question of `size` bytes differs from it, known by a secret.

    Short ones have each byte turned by one of 256 secret tables, another one each time; longer ones
    have a secret stamp somewhere, which leaves their first and last words as they are.
    """

    def __init__(self, secret: str, size: int) -> None:
        ends = MARK if size > SMALL else 0  # which such answers have as the question has them
        self.stamps = Stamps(f"answers of {secret}", ends, size - ends, many=1)
        order = np.random.default_rng([self.stamps.seed, 0]).permutation(TABLES).astype(np.uint8)
        tables = (order ^ np.arange(TABLES, dtype=np.uint8)[:, None]).tobytes()
        self.tables = [tables[place : place + TABLES] for place in range(0, len(tables), TABLES)]

    def table(self, number: int) -> bytes:
        """Return what each byte of the short question `number` is turned into."""
        return self.tables[self.stamps.of(number)[1][0][0]]

    def turned(self, number: int, data: Data) -> bytes:
        """Return the answer to the short question `number`, which is `data`."""
        return bytes(data).translate(self.table(number))

    def stamped(self, number: int, data: Writable) -> Writable:
        """Return `data`, the question `number`, with the answer's stamps written into it."""
        self._stamped(number, data)
        return data

    def _stamped(self, number: int, data: bytearray | memoryview) -> bytearray | memoryview:
        places, contents = self.stamps.of(number)
        for place, content in zip(places, contents, strict=True):
            data[place] = content
        return data

    def stamped_there(self, number: int, data: Data) -> Data:
        """Return the long question `number` with the answer's stamps written over it.

        What was received as an object of its own, or into the receiver's memory, is the receiver's:
        to copy it would be in the time.
        """
        if isinstance(data, bytearray | memoryview):
            return self._stamped(number, data)
        places, contents = self.stamps.of(number)
        begin = address_of(data)
        for place, content in zip(places, contents, strict=True):
            copy_to(begin + place.start, content, len(content))
        return data
