"""One point's raw samples as a Parquet file: columns launch, op, ns.

All else in the schema's metadata.
"""

import io
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Meta

from ipclab.errors import LabError
from ipclab.store import validity
from ipclab.store.launch import Launch, Samples
from ipclab.store.point import Point
from ipclab.store.schema import POINT_STEPS, SCHEMA, parse

METADATA = b"ipclab"
AGAIN = "restore it, or remove it and measure again"
BATCH = 1 << 16  # rows that are decoded at once
OpSamples = tuple[tuple[int, str], Samples]  # a launch's number and an op, and its samples


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


def decode(path: Path) -> Measured:
    """Read a point's file in a run.

    Raises `LabError` when it is not one, or cannot have been measured as this one.
    """
    named = f"{path.parent.name}/{path.stem}"
    what = f"{path} is not a point's file"
    try:
        with pa.OSFile(str(path)) as source:
            validity.footer(source)
            with pq.ParquetFile(source, read_dictionary=["op"], pre_buffer=False) as file:
                validity.columns(file)
                metadata, parts = file.metadata.metadata[METADATA], _parts(file)
        measured = parse(metadata, named, POINT_STEPS, _parsed)
        _fill(measured.launches, parts)
        validity.possible(measured.point, measured.launches, named)
    except LabError as error:
        raise LabError(what, error.why, error.fix) from error
    except (
        OSError,
        LookupError,
        TypeError,
        AttributeError,
        ValueError,
        pa.ArrowException,
    ) as error:
        why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise LabError(what, why, AGAIN) from error
    return measured


def encode(measured: Measured) -> bytes:
    """Return the Parquet file of a finished point; equal points give equal bytes."""
    ops = measured.op_names()
    launches = measured.launches
    numbers, codes, times = [], [], []
    for number, launch in enumerate(launches):
        for op, ns in launch.samples.items():
            numbers.append(np.full(len(ns), number, np.int32))
            codes.append(np.full(len(ns), ops.index(op), np.int8))
            times.append(ns)
    columns = {
        "launch": pa.array(np.concatenate(numbers)),
        "op": pa.DictionaryArray.from_arrays(np.concatenate(codes), ops),
        "ns": pa.array(np.concatenate(times)),
    }
    metadata = json.dumps({"schema": SCHEMA, **told_of(measured)}, sort_keys=True)
    table, sink = pa.table(columns), io.BytesIO()
    how: dict[str, Any] = {
        "compression": "zstd",
        "use_dictionary": ["op"],
        "column_encoding": dict.fromkeys(("launch", "ns"), "DELTA_BINARY_PACKED"),
    }
    # Arrow's own copy of the schema would hold all metadata once more.
    with pq.ParquetWriter(sink, table.schema, store_schema=False, **how) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({METADATA: metadata})
    return sink.getvalue()


def told_of(measured: Measured) -> dict[str, Any]:
    """Return all of `measured` but the samples."""
    launches = []
    for launch in measured.launches:
        about = vars(launch).copy()
        del about["samples"]
        for name in ("whole", "turns"):  # which only thinned runs, or only heats, have
            if not about[name]:
                del about[name]
        launches.append(about)
    point = {**vars(measured.point), "primary": [*measured.point.primary]}
    return {**vars(measured), "point": point, "launches": launches}


def _parsed(about: dict[str, Any]) -> Measured:
    """Return what `told_of` told; raises `ValueError` for a field that lacks or is one too many."""
    launches = [{**each, "samples": {}} for each in about["launches"]]
    measured = msgspec.convert({**about, "launches": launches}, Measured)
    if {**about, **told_of(measured)} != about:
        raise ValueError("its fields are not those of a point and its launches")
    first = _counted(measured.launches[0])
    if any(_counted(launch) != first for launch in measured.launches):
        raise ValueError("its launches did not count the same")
    return measured


def _counted(launch: Launch) -> set[str]:
    counters = {f"{op} {name}" for op, counted in launch.counters.items() for name in counted}
    facts = {name for name, value in launch.facts.items() if isinstance(value, int | float)}
    return counters | facts


def _parts(file: pq.ParquetFile) -> list[OpSamples]:
    """Return the samples in order, from launch to launch and op to op; they alone are held.

    Raises `ValueError` for a row that lacks something, and for more parts than a point has.
    """
    times = np.empty(file.metadata.num_rows, np.int64)
    heads: list[tuple[int, str]] = []
    begins: list[int] = []
    done = 0
    for rows in file.iter_batches(BATCH, use_threads=False):
        if any(column.null_count for column in rows.columns):
            raise ValueError("a row lacks its launch, its op or its time")
        number, codes = rows["launch"].to_numpy(), rows["op"].indices.to_numpy()
        changes = (number[1:] != number[:-1]) | (codes[1:] != codes[:-1])
        names = rows["op"].dictionary.to_pylist()
        for place in (0, *(np.flatnonzero(changes) + 1).tolist()):
            head = int(number[place]), names[codes[place]]
            if head not in heads[-1:]:
                heads.append(head)
                begins.append(done + place)
        if len(names) > validity.MOST_OPS or len(heads) > validity.MOST_PARTS:
            raise ValueError("its launches and ops do not follow one another")
        times[done : done + len(rows)] = rows["ns"].to_numpy()
        done += len(rows)
    return list(zip(heads, np.split(times[:done], begins[1:]), strict=True))


def _fill(launches: list[Launch], parts: list[OpSamples]) -> None:
    """Give each launch its samples.

    Raises `ValueError` when one has none of an op, or parts are out of order.
    """
    numbers = [number for (number, _), _ in parts]
    if numbers != sorted(numbers) or numbers[0] < 0 or numbers[-1] >= len(launches):
        raise ValueError(f"its rows are not those of {len(launches)} launches in their order")
    found: dict[tuple[int, str], list[Samples]] = {}
    for head, ns in parts:
        found.setdefault(head, []).append(ns)
    ops = dict.fromkeys(op for _, op in found)
    if len(found) < len(launches) * len(ops):
        raise ValueError("a launch lacks samples")
    for (number, op), each in found.items():  # several where ops come in turn
        launches[number].samples[op] = each[0] if len(each) == 1 else np.concatenate(each)
    for launch in launches:
        launch.samples = {op: launch.samples[op] for op in ops}
