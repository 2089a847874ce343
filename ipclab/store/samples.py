"""One point's raw samples as a Parquet file: columns launch, op, ns.

All else in the schema's metadata.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Meta

from ipclab.errors import LabError
from ipclab.plugins import offered
from ipclab.store import validity
from ipclab.store.launch import Launch, Samples
from ipclab.store.point import Point
from ipclab.store.run import RunFolder
from ipclab.store.schema import POINT_STEPS, parse

METADATA = b"ipclab"
AGAIN = "restore it, or remove it and measure again"


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
    with _opened(path) as file:
        return decode_opened(file, f"{path.parent.name}/{path.stem}")


def consistent(run: RunFolder, points: Iterable[Measured]) -> Iterable[Measured]:
    """Give the points of `run` on; `LabError` where what it tells contradicts itself."""
    checked: Iterable[Measured] = offered("consistent", lambda _run, points: points)(run, points)
    return checked


def row_count(path: Path) -> int:
    """Return how many rows a point's file says that it has, of which none is read.

    Raises as `decode` does.
    """
    with _opened(path) as file, _refusing(path.name):
        validity.footer(file)
        return int(pq.ParquetFile(file).metadata.num_rows)


def decode_opened(source: pa.NativeFile, named: str, most: int = validity.MOST_ROWS) -> Measured:
    """Read the file of the point `named` (study/point), of `most` rows; raises as `decode` does."""
    return measured_of(named, *contents_of(source, named, most))


def contents_of(source: pa.NativeFile, named: str, most: int) -> tuple[bytes, pa.Table]:
    """Return the metadata and the rows of the file of the point `named` (study/point), of `most`
    rows, for `measured_of`; raises as `decode` does.
    """
    with _refusing(named):
        validity.footer(source)
        with pq.ParquetFile(source, read_dictionary=["op"], pre_buffer=False) as file:
            validity.columns(file, most)
            return file.metadata.metadata[METADATA], file.read(use_threads=False)


def measured_of(named: str, metadata: bytes, rows: pa.Table) -> Measured:
    """Return the point `named` (study/point) that a file with these contents holds; raises as
    `decode` does.
    """
    with _refusing(named):
        measured = parse(metadata, named, POINT_STEPS, _parsed)
        _fill(measured.launches, rows)
        validity.possible(measured.point, measured.launches, named)
    return measured


@contextmanager
def _opened(path: Path) -> Iterator[pa.NativeFile]:
    with _refusing(str(path)), pa.OSFile(str(path)) as file:
        yield file


@contextmanager
def _refusing(named: str) -> Iterator[None]:
    try:
        yield
    except LabError as error:
        raise LabError(f"{named} is not a point's file", error.why, error.fix) from error
    except (
        OSError,
        LookupError,
        TypeError,
        AttributeError,
        ValueError,
        pa.ArrowException,
    ) as error:
        why = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise LabError(f"{named} is not a point's file", why, AGAIN) from error


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
    first, *others = map(_counted, measured.launches)
    if any(each != first for each in others):
        raise ValueError("its launches did not count the same")
    return measured


def _counted(launch: Launch) -> set[str]:
    counters = {f"{op} {name}" for op, counted in launch.counters.items() for name in counted}
    return counters | {
        name for name, value in launch.facts.items() if isinstance(value, int | float)
    }


def _fill(launches: list[Launch], table: pa.Table) -> None:
    """Give each launch its samples.

    Raises `ValueError` when one has none of an op, or rows are out of order.
    """
    if not len(table):
        raise ValueError("it has no samples")
    (rows,) = table.combine_chunks().to_batches()
    if any(column.null_count for column in rows.columns):
        raise ValueError("a row lacks its launch, its op or its time")
    number, op, ns = rows["launch"].to_numpy(), rows["op"], rows["ns"].to_numpy()
    codes = op.indices.to_numpy()
    names = op.dictionary.to_pylist()
    borders = _borders(number, codes)
    validity.order(number[borders[:-1]], len(launches))
    used = set(codes[borders[:-1]].tolist())
    if len(borders) - 1 > len(launches) * len(used):  # ops in turn, as nothing here writes them
        places = np.lexsort((codes, number))
        number, codes, ns = number[places], codes[places], ns[places]
        borders = _borders(number, codes)
    begins = borders[:-1]
    parts = zip(codes[begins].tolist(), number[begins].tolist(), pairwise(borders), strict=True)
    for code, launch, (begin, end) in sorted(parts):
        launches[launch].samples[names[code]] = ns[begin:end]
    for place, launch in enumerate(launches):
        if len(launch.samples) < len(used):
            raise ValueError(f"launch {place} lacks samples")


def _borders(number: Samples, codes: Samples) -> list[int]:
    """Return where the rows of a launch's op begin, and the number of all rows."""
    changes = (number[1:] != number[:-1]) | (codes[1:] != codes[:-1])
    return [0, *(np.flatnonzero(changes) + 1).tolist(), len(number)]
