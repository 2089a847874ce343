"""What `gather` says of many nodes in lines, and the tables that it writes for other programs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from ipclab.store.files import write_whole
from ipclab_answers.gather import nodes
from ipclab_answers.gather.equals import ALL
from ipclab_answers.gather.index import KEY, Index
from ipclab_answers.gather.trips import beaten

VALUES = [*nodes.NODE, "study", "point", "backend", "size_bytes", "placement", "levels", "op"]
VALUES += ["ns", "low", "high", "launches", "over_limit"]


def written(index: Index, differing: pd.DataFrame, folder: Path, form: str) -> Iterator[Path]:
    """Write the tables of an index into `folder` as CSV or Parquet, and yield their files."""
    chosen, answers = nodes.nodes(index), nodes.answers(index)
    values = index.values[index.values.file.isin(chosen.file)]
    of_file = chosen.set_index("file", drop=False)
    # texts, whatever `map` makes of a name that one file has or many
    named = {name: values.file.map(of_file[name]).astype(str) for name in nodes.NODE}
    frames = {
        "bundles": index.bundles.drop(columns=KEY[1:]),
        "values": values.assign(**named)[VALUES],
        "differing": differing,
        "answers": answers,
        "matrix": nodes.matrix(answers),
    }
    for name, rows in frames.items():
        file = folder / f"{name}.{form}"
        if form == "csv":
            content = rows.to_csv(index=False, lineterminator="\n").encode()
        else:
            content = rows.to_parquet(index=False)
        write_whole(file, content)
        yield file


def told(machines: pd.DataFrame, rows: pd.DataFrame) -> Iterator[str]:
    """Yield which bundle stands for each node, and what in it is faster than its limit."""
    faster = dict(list(beaten(rows).groupby("file", observed=True)))
    for node in machines.to_dict("records"):
        name = f"{node['machine']} {node['label']}".rstrip()
        yield f"machine {name}: {node['file']} ({node['profile']}, {node['begun'][:10]})"
        if node["file"] not in faster:
            continue
        for row in faster[node["file"]].itertuples():
            which = f"{row.backend} {row.placement} of {row.file}"
            yield f"x {row.over_limit:.2f} of its limit: {which}"


def named(differing: pd.DataFrame) -> Iterator[str]:
    """Yield each node that differs from its equals, in what, by how much, and beside which fact."""
    for row in differing.to_dict("records"):
        node = row["label"] or row["file"]
        ends = f"{row['low']:.3f} to {row['high']:.3f}"
        ratio = f"{row['ratio']:.3f} of its equals ({ends})"
        yield f"differs: {node} {asked(row)} {ratio}; {row['fact'] or 'no fact differs'}"


def asked(row: dict[Any, Any]) -> str:
    """Return the op of a row in which a node differs: all, or one of a point."""
    alone = row["point"] == ALL
    return ALL if alone else f"{row['op']} of {row['point']}"
