"""One point's raw samples as a Parquet file: columns launch, op, ns; all else in the schema's metadata."""

import io
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ipclab.errors import LabError
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.store.schema import SCHEMA, LaunchAbout, PointAbout, checked

METADATA = b"ipclab"


@dataclass
class Measured:
    """A finished point: its levels, its launches, why it was ended."""

    point: Point
    launches: list[Launch]
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
    told = [{name: getattr(each, name) for name in LaunchAbout.__struct_fields__} for each in launches]
    about = {"schema": SCHEMA, "point": asdict(measured.point), "stop": measured.stop, "launches": told}
    about["failures"] = measured.failures
    table = pa.table(columns).replace_schema_metadata({METADATA: json.dumps(about, sort_keys=True)})
    sink = io.BytesIO()
    encodings = {"launch": "DELTA_BINARY_PACKED", "ns": "DELTA_BINARY_PACKED"}
    pq.write_table(table, sink, compression="zstd", use_dictionary=["op"], column_encoding=encodings)
    return sink.getvalue()


def decode(path: Path | IO[bytes]) -> Measured:
    """Read a point's file; raises `LabError` when it is not one."""
    try:
        with pq.ParquetFile(path) as file:  # a small one sooner than by `read_table`
            table = file.read()
        about = checked(table.schema.metadata[METADATA], str(path), PointAbout)
        point = Point(**{**about["point"], "primary": tuple(about["point"]["primary"])})
        launches = _launches(table, about["launches"])
    except (OSError, LookupError, TypeError, AttributeError, ValueError, pa.ArrowException) as error:
        raise LabError(f"{path} is not a point's file", str(error), "measure the point again") from error
    return Measured(point, launches, about["stop"], about["failures"])


def _launches(table: pa.Table, about: list[dict[str, Any]]) -> list[Launch]:
    number, ns = (table[name].to_numpy() for name in ("launch", "ns"))
    column = table["op"].combine_chunks()
    codes, names = column.indices.to_numpy(), column.dictionary.to_pylist()
    launches = []
    for i, facts in enumerate(about):
        first, last = np.searchsorted(number, [i, i + 1])
        mine, values = codes[first:last], ns[first:last]
        found = {name: values if len(names) == 1 else values[mine == code] for code, name in enumerate(names)}
        if not all(len(values) for values in found.values()):
            raise ValueError(f"launch {i} lacks samples")
        launches.append(Launch(found, **facts))
    return launches
