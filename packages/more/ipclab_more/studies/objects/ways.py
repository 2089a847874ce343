"""Ways to hand over an object: what the giving end makes of it, and the taking end of that.

What a way cannot put into the message lies in a `Room` that both ends have: a segment of mode 0600,
or a file in the session's private folder (0700). Pickles are only read from there and from the
launch's own channel, which no other user can write to: a pickle runs what it says.
"""

import os
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa

from ipclab.backends.interface import Data
from ipclab_more.studies.objects.contents import ARRAY, FRAME

PROTOCOL = 5
ALIGNMENT = 64  # bytes: of a buffer in the room, as Arrow has it
ONLY_ARRAYS = (
    "a segment under an array holds elements of one dtype; texts and dictionaries are objects of"
    " one process"
)
_pack, _unpack = msgspec.msgpack.Encoder().encode, msgspec.msgpack.Decoder().decode


@dataclass(frozen=True)
class Room:
    """Where both ends look beside the message: shared memory, which may be empty, and a file."""

    region: memoryview
    file: Path


@dataclass(frozen=True)
class ObjectWay:
    """One way: `give` returns the message, `take` the object of a kind, perhaps over the room's bytes.

    `segment` is the backend whose segment is its room. `maps` says whether the taking end reads
    elements where the giving end wrote them, `placed` how many bytes beside a message were.
    """

    give: Callable[[Any, Room], Any]
    take: Callable[[Any, Room, str], Any]
    segment: str = ""
    maps: bool = False
    placed: Callable[[Any], int] = lambda message: 0
    only_arrays: bool = False

    def refuses(self, kind: str) -> str | None:
        """Return why it cannot carry an object of `kind`; None when it can."""
        return ONLY_ARRAYS if self.only_arrays and kind != ARRAY else None


def _pickled(content: Any, room: Room) -> bytes:
    return pickle.dumps(content, PROTOCOL)


def _unpickled(message: Data, room: Room, kind: str) -> Any:
    return pickle.loads(message)


def _pickled_apart(content: Any, room: Room) -> bytes:
    """Put the object's buffers into the room, one after the other, the rest into the message."""
    buffers: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(content, PROTOCOL, buffer_callback=buffers.append)
    places, end = [], 0
    for buffer in buffers:
        raw = buffer.raw()
        room.region[end : end + raw.nbytes] = raw
        places.append((end, raw.nbytes))
        end += -(-raw.nbytes // ALIGNMENT) * ALIGNMENT
    return _pack((rest, places))


def _unpickled_apart(message: Data, room: Room, kind: str) -> Any:
    rest, places = _unpack(message)
    buffers = [room.region[start : start + length] for start, length in places]
    return pickle.loads(rest, buffers=buffers)


def _bytes_apart(message: Data) -> int:
    return sum(length for _, length in _unpack(message)[1])


def _packed(content: Any, room: Room) -> bytes:
    """Return numbers as bytes with their dtype, and texts as texts: msgpack knows no arrays."""
    if isinstance(content, np.ndarray):
        return _pack((content.dtype.str, content.shape, content.data))
    if isinstance(content, pd.DataFrame):
        return _pack([(name, *_packed_column(content[name])) for name in content])
    return _pack(content)


def _packed_column(column: "pd.Series[Any]") -> tuple[str, Any]:
    if column.dtype == "str":
        return "", column.tolist()
    values = column.to_numpy()
    return values.dtype.str, values.view(np.uint8).data


def _unpacked(message: Data, room: Room, kind: str) -> Any:
    parts = _unpack(message)
    if kind == ARRAY:
        dtype, shape, data = parts
        return np.frombuffer(data, dtype).reshape(shape)
    if kind == FRAME:
        columns = {
            name: np.frombuffer(data, dtype) if dtype else pd.array(data, dtype="str")
            for name, dtype, data in parts
        }
        return pd.DataFrame(columns)
    return parts


def _stream(content: Any, sink: Any) -> Any:
    """Write an object to `sink` as an Arrow table; arrays and numbers without gaps are not copied."""
    if isinstance(content, np.ndarray):
        table = pa.table({ARRAY: pa.array(content)})
    elif isinstance(content, pd.DataFrame):
        table = pa.Table.from_pandas(content, preserve_index=False, nthreads=1)
    else:
        entries = [*content.values()]
        columns = {name: [entry[name] for entry in entries] for name in entries[0]}
        table = pa.table({"key": [*content], **columns})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink


def _as_arrow(content: Any, room: Room) -> memoryview:
    return memoryview(_stream(content, pa.BufferOutputStream()).getvalue())


def _of_arrow(message: Data, room: Room, kind: str) -> Any:
    """Return the object of a table: numbers in place, a dictionary made anew."""
    table = pa.ipc.open_stream(pa.py_buffer(message)).read_all()
    if kind == ARRAY:
        return table.column(0).chunk(0).to_numpy(zero_copy_only=True)
    if kind == FRAME:
        return table.to_pandas(split_blocks=True, use_threads=False)
    keys = table.column("key").to_pylist()
    return dict(zip(keys, table.drop_columns(["key"]).to_pylist(), strict=True))


def _as_mapped_arrow(content: Any, room: Room) -> bytes:
    return _pack(_stream(content, pa.FixedSizeBufferWriter(pa.py_buffer(room.region))).tell())


def _of_mapped_arrow(message: Data, room: Room, kind: str) -> Any:
    return _of_arrow(room.region[: _unpack(message)], room, kind)


def _copied_in(content: Any, room: Room) -> bytes:
    np.copyto(np.ndarray(content.shape, content.dtype, room.region), content)
    return _pack((content.dtype.str, content.shape))


def _in_place(message: Data, room: Room, kind: str) -> Any:
    dtype, shape = _unpack(message)
    return np.ndarray(shape, dtype, room.region)


def _bytes_in_place(message: Data) -> int:
    dtype, shape = _unpack(message)
    return np.ndarray(shape, dtype).nbytes


def _dumped(content: Any, room: Room) -> bytes:
    """Write a new file under the old one's name: who still maps that keeps it whole."""
    import joblib  # warns, when it is imported, where it finds no shared memory

    fresh = room.file.with_suffix(".new")
    joblib.dump(content, os.fspath(fresh))
    fresh.replace(room.file)
    return _pack(room.file.stat().st_size)


def _loaded(message: Data, room: Room, kind: str) -> Any:
    import joblib

    loaded = joblib.load(os.fspath(room.file), mmap_mode="r")
    return loaded.view(np.ndarray) if isinstance(loaded, np.memmap) else loaded


WAYS = {
    "pickle5": ObjectWay(_pickled, _unpickled),
    "pickle5-shm": ObjectWay(_pickled_apart, _unpickled_apart, "posix-shm", True, _bytes_apart),
    "msgpack": ObjectWay(_packed, _unpacked),
    "arrow": ObjectWay(_as_arrow, _of_arrow),
    "arrow-mapped": ObjectWay(_as_mapped_arrow, _of_mapped_arrow, "posix-shm", True, _unpack),
    "shared-memory": ObjectWay(
        _copied_in, _in_place, "mp-shm", True, _bytes_in_place, only_arrays=True
    ),
    "queue": ObjectWay(lambda content, room: content, lambda content, room, kind: content),
    "joblib": ObjectWay(_dumped, _loaded, maps=True, placed=_unpack),
}
