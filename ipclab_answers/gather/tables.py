"""What `gather` says of many nodes in lines, and the tables that it writes for other programs."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from ipclab.frames.limits import LEAST
from ipclab.store.files import write_whole
from ipclab_answers.gather import nodes
from ipclab_answers.gather.bundles import Gathered
from ipclab_answers.gather.index import Index

VALUES = [
    *nodes.NODE,
    "study",
    "point",
    "backend",
    "size_bytes",
    "placement",
    "levels",
    "op",
]
VALUES += ["ns", "low", "high", "launches", "over_limit"]


def written(index: Index, differing: pd.DataFrame, folder: Path, form: str) -> Iterator[Path]:
    """Write the tables of an index into `folder` as CSV or Parquet, and yield their files."""
    chosen, found = nodes.nodes(index), nodes.answers(index)
    values = index.values.astype({"file": str}).merge(chosen[list(nodes.NODE)], on="file")
    bundles = index.bundles.drop(columns=["bytes", "mtime_ns"])
    frames = {
        "bundles": bundles,
        "values": values[VALUES],
        "differing": differing,
        "answers": found,
        "matrix": nodes.matrix(found),
    }
    for name, rows in frames.items():
        file = folder / f"{name}.{form}"
        if form == "csv":
            content = rows.to_csv(index=False, lineterminator="\n").encode()
        else:
            content = rows.to_parquet(index=False)
        write_whole(file, content)
        yield file


def told(best: Sequence[Gathered]) -> Iterator[str]:
    """Yield which bundle stands for each node, and what in it is faster than its limit."""
    for bundle in best:
        label = bundle.facts.get("label")
        node = f"{bundle.machine} {label}" if label else bundle.machine
        yield f"machine {node}: {bundle.file} ({bundle.profile}, {bundle.begun[:10]})"
        for row in bundle.rows:
            if row["over_limit"] and row["over_limit"] < LEAST:
                which = f"{row['backend']} {row['placement']} of {bundle.file}"
                yield f"x {row['over_limit']:.2f} of its limit: {which}"


def named(differing: pd.DataFrame) -> Iterator[str]:
    """Yield each node that differs from its equals, in what, by how much, and beside which fact."""
    for row in differing.to_dict("records"):
        yield (
            f"differs: {row['label'] or row['file']} {asked(row)} {row['ratio']:.3f} of its equals"
            + (f" ({row['low']:.3f} to {row['high']:.3f}); {row['fact'] or 'no fact differs'}")
        )


def asked(row: dict[Any, Any]) -> str:
    """Return the op of a row in which a node differs: all, or one of a point."""
    alone = row["point"] == nodes.ALL
    return nodes.ALL if alone else f"{row['op']} of {row['point']}"
