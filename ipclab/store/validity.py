"""What a point's file must be: bounded before it is read, then possible in each value.

A file may be anybody's: a bundle's, or one that was altered with all digests made to fit. What no
clock and no counter can give is refused here, in the one place where points are read.
"""

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ipclab.errors import plain
from ipclab.store import MOST_LAUNCHES
from ipclab.store.launch import Launch, Samples
from ipclab.store.point import Point

MOST_ROWS = 1 << 24  # of one point, after which it gets no more launches
MOST_TIMES = 1 << 21  # of an op in a launch; the largest profile takes 600,000
MOST_BYTES = 1 << 27  # of its columns before compression
MOST_OPS, MOST_NAME = 64, 100  # of a launch, and characters
MOST_PARTS = MOST_OPS * MOST_LAUNCHES
MOST_FOOTER = 16 << 20  # bytes that describe the columns and the launches
FOOTER_END = 8  # bytes: the footer's size and the format's name
DAY_NS = 86_400 * 10**9  # no operation takes as long
COLUMNS = ["launch", "op", "ns"]
# of all samples of a launch, in ascending order
ENDS = "min", "p50", "p90", "p99", "p99.9", "max"
ROUNDING = 1e-6  # of what is kept of all samples


def footer(file: pa.NativeFile) -> None:
    """Raise `ValueError` when the description at a Parquet file's end is too large for a point."""
    size = file.size()
    file.seek(max(0, size - FOOTER_END))
    size_told = int.from_bytes(file.read(4), "little")
    file.seek(0)
    if size_told > min(MOST_FOOTER, size):
        raise ValueError(f"its description is said to have {size_told:,} bytes")


def columns(file: pq.ParquetFile) -> None:
    """Raise `ValueError` unless a file has a point's columns, in `MOST_ROWS` and `MOST_BYTES`."""
    schema = file.schema_arrow
    metadata = file.metadata
    if schema.names != COLUMNS:
        raise ValueError(f"its columns are not {', '.join(COLUMNS)}")
    for name, kind in (("launch", pa.int32()), ("ns", pa.int64())):
        if schema.field(name).type != kind:
            raise ValueError(f"its {name} is {schema.field(name).type}, not {kind}")
    op = schema.field("op").type
    if (op.value_type if pa.types.is_dictionary(op) else op) != pa.string():
        raise ValueError(f"its op is {op}, not string")
    size = sum(
        metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups)
    )
    if not (0 < metadata.num_rows <= MOST_ROWS and 0 <= size <= MOST_BYTES):
        raise ValueError(f"it is said to have {metadata.num_rows:,} rows in {size:,} bytes")


def possible(point: Point, launches: Sequence[Launch], named: str) -> None:
    """Raise `ValueError` for a point that cannot be what was measured as `named` (study/point)."""
    if named != f"{point.study}/{point.id}":
        raise ValueError(f"it is of {point.study}/{point.id}, not of {named}")
    if len(launches) > MOST_LAUNCHES:
        raise ValueError(f"it has {len(launches):,} launches, above {MOST_LAUNCHES:,}")
    for number, launch in enumerate(launches):
        try:
            check_launch(launch)
        except ValueError as error:
            raise ValueError(f"launch {number}: {error}") from error
        if launch.per != launches[0].per:
            raise ValueError("samples of its launches do not stand for equally many operations")


def check_launch(launch: Launch) -> None:
    """Raise `ValueError` for a launch that no clock and no counter can give."""
    for op, times in launch.samples.items():
        _times(op, times)
        _whole(launch, op)
    if min(launch.order, launch.started_ns, launch.elapsed_ns) < 0:
        raise ValueError("it was taken before the run began")
    for kind in (launch.per, launch.whole, launch.turns):
        if odd := kind.keys() - launch.samples.keys():
            raise ValueError(f"{min(odd)!r} has no samples")
    for op, counted in launch.counters.items():
        for name, value in counted.items():
            if not 0 <= value < math.inf:
                raise ValueError(f"{op} counted {value} {name}")
    for name, fact in launch.facts.items():
        if isinstance(fact, float) and not math.isfinite(fact):
            raise ValueError(f"its {name} is {fact}")
        if name in ("round", "heat") and (type(fact) is not int or fact < 0):
            raise ValueError(f"its {name} is {fact!r}")


def _times(op: str, times: Samples) -> None:
    """Raise `ValueError` for times that no clock gives: most whole operations take some time."""
    if not 0 < len(op) <= MOST_NAME or op != plain(op).strip():
        raise ValueError(f"an op is called {op[:MOST_NAME]!r}")
    if len(times) > MOST_TIMES:
        raise ValueError(f"{op} has {len(times):,} samples, above {MOST_TIMES:,}")
    least = int(times.min())
    most = int(times.max())
    if least < 0 or most > DAY_NS:
        raise ValueError(f"{op} took {least if least < 0 else most} ns")
    if least == 0 and "." not in op and 2 * np.count_nonzero(times) <= len(times):
        raise ValueError(f"{op} took 0 ns")


def _whole(launch: Launch, op: str) -> None:
    """Raise `ValueError` when turns, or what is told of all samples, do not fit those kept."""
    count = len(launch.samples[op])
    if whole := launch.whole.get(op):
        if not all(map(math.isfinite, whole.values())):
            raise ValueError(f"{op} has values that are no numbers")
        ends = [whole[name] for name in ENDS]
        if not 0 <= ends[0] <= ends[-1] <= DAY_NS or ends != sorted(ends):
            raise ValueError(f"{op} has quantiles that are not in order")
        lowest = ends[0] * (1 - ROUNDING)
        highest = ends[-1] * (1 + ROUNDING)
        inside = np.array([whole["mean"], whole["median"], *launch.turn_medians(op)])
        if inside.min() < lowest or inside.max() > highest or not 0 <= whole["sd"] <= DAY_NS:
            raise ValueError(f"{op} has a mean or a median that its samples cannot have")
        kept = launch.times(op)
        among = lowest <= kept.min() and kept.max() <= highest
        if not (among and count <= whole["samples"] <= MOST_ROWS):
            raise ValueError(f"{op} keeps samples that are not among all of them")
        count = int(whole["samples"])
    turns = launch.turns.get(op, [])
    if turns and (min(turns) < 1 or sum(turns) != count):
        raise ValueError(f"{op} has turns of {sum(turns)} samples and {count} samples")
