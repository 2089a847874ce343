"""What `gather` says of many nodes in lines, and the tables that it writes for other programs."""

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ipclab.report.sheet import csv
from ipclab.store.files import whole
from ipclab_more.gather import nodes
from ipclab_more.gather.equals import ALL
from ipclab_more.gather.index import KEY, Index
from ipclab_more.gather.trips import beaten_trips

VALUES = [
    *nodes.NODE,
    "study",
    "point",
    "backend",
    "size_bytes",
    "placement",
    "levels",
    "op",
    "ns",
    "low",
    "high",
    "launches",
    "over_limit",
]
AT_ONCE = 1 << 20  # rows that are made into text together, and a row group of Parquet


def written_tables(
    index: Index, differing: pd.DataFrame, folder: Path, form: str
) -> Iterator[Path]:
    """Write the tables of an index into `folder` as CSV or Parquet, and yield their files."""
    chosen = nodes.nodes(index)[nodes.NODE]
    answers = nodes.answers(chosen, index.values)
    frames = {
        "bundles": [index.bundles.drop(columns=KEY[1:])],
        "values": _values(chosen, index.values),
        "differing": [differing],
        "answers": [answers],
        "matrix": [nodes.matrix(answers)],
    }
    write = _csv if form == "csv" else _parquet
    for name, parts in frames.items():
        file = folder / f"{name}.{form}"
        file.parent.mkdir(parents=True, exist_ok=True)
        with whole(file) as part, part.open("wb") as out:
            write(out, parts)
            out.flush()
            os.fsync(out.fileno())
        yield file


def _values(chosen: pd.DataFrame, values: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the ops of all nodes, in parts: their texts take much memory together."""
    places = np.flatnonzero(values.file.isin(chosen.file))
    by_file = chosen.set_index("file", drop=False)
    of_category = by_file.reindex(values.file.cat.categories)[nodes.NODE]
    for start in range(0, max(1, len(places)), AT_ONCE):
        part = values.iloc[places[start : start + AT_ONCE]]
        category = part.file.cat.codes.to_numpy()
        names = of_category.take(category).set_axis(part.index)
        yield part.drop(columns="file").join(names)[VALUES]


def _csv(out: IO[bytes], parts: Iterable[pd.DataFrame]) -> None:
    with_head = True
    for rows in parts:
        csv(rows, out, header=with_head, mode="wb")
        with_head = False


def _parquet(out: IO[bytes], parts: Iterable[pd.DataFrame]) -> None:
    tables = (pa.Table.from_pandas(rows, preserve_index=False) for rows in parts)
    first = next(tables)
    with pq.ParquetWriter(out, first.schema) as writer:
        for table in chain([first], tables):
            writer.write_table(table)


def node_lines(machines: pd.DataFrame, rows: pd.DataFrame) -> Iterator[str]:
    """Yield which bundle stands for each node, and what in it is faster than its limit."""
    faster = dict(list(beaten_trips(rows).groupby("file", observed=True)))
    shown = machines[["machine", "label", "file", "profile", "begun"]]
    for node in shown.to_dict("records"):
        file = node["file"]
        name = f"{node['machine']} {node['label']}".rstrip()
        yield f"machine {name}: {file} ({node['profile']}, {node['begun'][:10]})"
        if file not in faster:
            continue
        for row in faster[file].itertuples():
            which = f"{row.backend} {row.placement} of {row.file}"
            yield f"x {row.over_limit:.2f} of its limit: {which}"


def differing_nodes(differing: pd.DataFrame) -> Iterator[str]:
    """Yield each node that differs from its equals, in what, by how much, and beside which fact."""
    for row in differing.to_dict("records"):
        node = row["label"] or row["file"]
        ends = f"{row['low']:.3f} to {row['high']:.3f}"
        ratio = f"{row['ratio']:.3f} of its equals ({ends})"
        yield f"differs: {node} {op_of_row(row)} {ratio}; {row['fact'] or 'no fact differs'}"


def op_of_row(row: dict[Any, Any]) -> str:
    """Return the op of a row in which a node differs: all, or one of a point."""
    alone = row["point"] == ALL
    return ALL if alone else f"{row['op']} of {row['point']}"
