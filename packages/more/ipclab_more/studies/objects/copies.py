"""How often an object's own data are copied on their way: bytes are counted where they land.

A way writes them into its message or beside it, the carrier moves the message, and what the taking
end holds lies where it came or was made anew. What a library copies in between, such as a buffer
that grows, is not seen: this is the least.
"""

import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from ipclab_more.studies.objects.contents import own_bytes

MAPS = Path("/proc/self/maps")
Span = tuple[int, int]  # the first address, and the first one behind


# How often a carrier copies a message: by system calls, and in its ends. The kernel takes the bytes
# and gives them back; an end then makes a message of its own of what it received.
CARRIED = {"unix": (2, 1), "mp-queue": (2, 1), "posix-shm": (0, 2)}


def copied(facts: Mapping[str, Any], carrier: str) -> dict[str, float]:
    """Return the bytes copied, and how often the object's own that is; nothing unless `CARRIED`."""
    if carrier not in CARRIED:
        return {}
    message = facts["message_bytes"] * (1 + sum(CARRIED[carrier]))
    total = message + facts["placed_bytes"] + facts["anew_bytes"]
    return {"copied_bytes": total, "copies": total / facts["own_bytes"]}


def anew_bytes(came: Any, message: Any) -> int:
    """Return how many bytes of the object `came` lie neither in `message` nor in shared memory."""
    if isinstance(came, dict):
        return own_bytes(came)  # objects of this process alone
    lent = _shared()
    if isinstance(message, bytes | bytearray | memoryview):
        lent.append(_span(pa.py_buffer(message)))
    total = 0
    for start, end in _pieces(came):
        if not any(first <= start and end <= last for first, last in lent):
            total += end - start
    return total


def _shared() -> list[Span]:
    """Return the memory that this process maps to share it (proc(5), maps)."""
    spans = []
    for line in MAPS.read_text().splitlines():
        addresses, permissions = line.split()[:2]
        if permissions.endswith("s"):
            start, _, end = addresses.partition("-")
            spans.append((int(start, 16), int(end, 16)))
    return spans


def _span(buffer: Any) -> Span:
    return buffer.address, buffer.address + buffer.size


def _pieces(content: Any) -> Iterator[Span]:
    """Yield where the data of an array, or of a frame's columns, lie."""
    if isinstance(content, np.ndarray):
        yield content.ctypes.data, content.ctypes.data + content.nbytes
        return
    for name in content:
        column: pd.Series[Any] = content[name]
        if column.dtype == "str":
            chunks = pa.chunked_array(column.array.__arrow_array__()).chunks
            buffers = [buffer for chunk in chunks for buffer in chunk.buffers()]
            yield from (_span(buffer) for buffer in buffers if buffer)
        else:
            yield from _pieces(column.to_numpy())


def allocating(act: Callable[[], Any]) -> tuple[Any, int]:
    """Return what `act` returns, and the most bytes at a time that Python and Arrow took.

    A buffer that grows counts with its spare room: this is memory needed, no count of copies.
    """
    pool = pa.default_memory_pool()
    before = pool.bytes_allocated()
    tracemalloc.start()
    try:
        result = act()
        grown = tracemalloc.get_traced_memory()[1] + pool.bytes_allocated() - before
        return result, max(0, grown)
    finally:
        tracemalloc.stop()
