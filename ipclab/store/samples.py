"""One point's raw samples as a Parquet file: columns launch, op, ns; all else in the schema's metadata."""

import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Annotated, Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Meta

from ipclab.errors import LabError
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.store.schema import POINT_STEPS, SCHEMA, understood

METADATA = b"ipclab"


@dataclass
class Measured:
    """A finished point: its levels, its launches, why it was ended."""

    point: Point
    launches: Annotated[list[Launch], Meta(min_length=1)]
    stop: str
    failures: list[str] = field(default_factory=list)

    def op_names(self) -> list[str]:
        """Return the ops in the order in which the first launch took them."""
        return list(self.launches[0].samples)


def encode(measured: Measured) -> bytes:
    """Return the Parquet file of a finished point; equal points give equal bytes."""
    ops, launches = measured.op_names(), measured.launches
    taken = [(i, ops.index(op), ns) for i, launch in enumerate(launches) for op, ns in launch.samples.items()]
    launch = np.concatenate([np.full(len(ns), number, np.int32) for number, _, ns in taken])
    op = np.concatenate([np.full(len(ns), code, np.int8) for _, code, ns in taken])
    columns = {
        "launch": pa.array(launch),
        "op": pa.DictionaryArray.from_arrays(pa.array(op), pa.array(ops)),
        "ns": pa.array(np.concatenate([ns for *_, ns in taken])),
    }
    metadata = json.dumps({"schema": SCHEMA, **_told(measured)}, sort_keys=True)
    table, sink = pa.table(columns), io.BytesIO()
    encodings = {"launch": "DELTA_BINARY_PACKED", "ns": "DELTA_BINARY_PACKED"}
    how: dict[str, Any] = {"compression": "zstd", "use_dictionary": ["op"], "column_encoding": encodings}
    # Arrow's own copy of the schema would hold all metadata once more.
    with pq.ParquetWriter(sink, table.schema, store_schema=False, **how) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({METADATA: metadata})
    return sink.getvalue()


def decode(path: Path | IO[bytes]) -> Measured:
    """Read a point's file; raises `LabError` when it is not one."""
    try:
        with pq.ParquetFile(path, read_dictionary=["op"]) as file:  # a small one sooner than by `read_table`
            table = file.read()
        found = understood(table.schema.metadata[METADATA], str(path), POINT_STEPS, _parsed)
        _fill(found.launches, table)
    except (OSError, LookupError, TypeError, AttributeError, ValueError, pa.ArrowException) as error:
        raise LabError(f"{path} is not a point's file", str(error), "measure the point again") from error
    return found


def _told(measured: Measured) -> dict[str, Any]:
    """Return all of `measured` but the samples."""
    launches = [_about(each) for each in measured.launches]
    return {
        **vars(measured),
        "point": {**vars(measured.point), "primary": [*measured.point.primary]},
        "launches": launches,
    }


def _about(launch: Launch) -> dict[str, Any]:
    """Return all of `launch` but the samples; only one of a thinned run has a `whole`."""
    left_out = ("samples",) if launch.whole else ("samples", "whole")
    return {name: value for name, value in vars(launch).items() if name not in left_out}


def _parsed(about: dict[str, Any]) -> Measured:
    """Return what `_told` told; raises `ValueError` for a field that lacks or is one too many."""
    launches = [{**each, "samples": {}} for each in about["launches"]]
    found = msgspec.convert({**about, "launches": launches}, Measured)
    if {**about, **_told(found)} != about:
        raise ValueError("its fields are not those of a point and its launches")
    first, *others = map(_counted, found.launches)
    if any(each != first for each in others):
        raise ValueError("its launches did not count the same")
    return found


def _counted(launch: Launch) -> set[str]:
    counters = {f"{op} {name}" for op, counted in launch.counters.items() for name in counted}
    return counters | {name for name, value in launch.facts.items() if isinstance(value, int | float)}


def _fill(launches: list[Launch], table: pa.Table) -> None:
    """Give each launch its samples; raises `ValueError` when one has none of an op."""
    number, ns = (table[name].to_numpy() for name in ("launch", "ns"))
    column = table["op"].combine_chunks()
    codes, names = column.indices.to_numpy(), column.dictionary.to_pylist()
    for i, launch in enumerate(launches):
        first, last = np.searchsorted(number, [i, i + 1])
        mine, values = codes[first:last], ns[first:last]
        launch.samples = {name: values if len(names) == 1 else values[mine == code] for code, name in enumerate(names)}
        if not all(map(len, launch.samples.values())):
            raise ValueError(f"launch {i} lacks samples")
