"""What a person who measured is told at the end: what was asked, beside what, and what to do next."""

import math
from collections.abc import Iterator, Sequence

import pandas as pd

from ipclab.bounds.points import cut_points
from ipclab.console import aligned
from ipclab.frames import derived
from ipclab.frames.points import KEY, VALUES
from ipclab.lab.data import Data
from ipclab.paths import Paths
from ipclab.stats.compare import SLOWER
from ipclab.store.questions import ALWAYS
from ipclab.store.run import RunFolder
from ipclab.words.catalogue import SOURCE
from ipclab.words.words import Words

MOST_ROWS = 40  # more are a table for a report
COLUMNS = ("study", "mechanism", "size", "placement", "levels", "op", "median", "beside")


def median_lines(paths: Paths, run: RunFolder, studies: Sequence[str]) -> list[str]:
    """Return the lines of a table of the medians of `studies` in `run`, and the next command.

    Where they are more than `MOST_ROWS`, the lines say how many there are of each study.
    """
    data = Data(run, Words.load(SOURCE), paths)
    asked = [
        name for name in derived.studies_measured(run) if name in studies and name not in ALWAYS
    ]
    frames = {name: _medians(data, name) for name in asked}
    count = sum(map(len, frames.values()))
    if not count:
        return []
    if count > MOST_ROWS:
        counts = ", ".join(f"{name} {len(frame)}" for name, frame in frames.items() if len(frame))
        next_ = f"ipclab values {run.id} --study {asked[0]} --metric p50 --format table"
        return [f"{count} medians: {counts}", f"to see them: {next_}"]
    rows = [row for name, frame in frames.items() for row in _rows(data, name, frame)]
    next_ = f"ipclab report --run {run.id} --lang en"
    filled = [column for column in zip(COLUMNS, *rows, strict=True) if any(column[1:])]
    return [*aligned(zip(*filled, strict=True)), f"as pages: {next_}"]


def _medians(data: Data, study: str) -> pd.DataFrame:
    points = cut_points(data.run, study)
    return points[(points.metric == "p50") & ~points.op.str.contains(".", regex=False)]


def _rows(data: Data, study: str, medians: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    beside = _beside(derived.read_frame(data.run, study, "contests"))
    factors = medians.columns.difference([*KEY, *VALUES], sort=False)
    said = [name for name in factors if medians[name].nunique(dropna=False) > 1]
    medians = medians.sort_values(["op", "placement", "size_bytes", "value"], kind="stable")
    for row in data.cells(medians).to_dict("records"):
        levels = ", ".join(f"{name}={row[name]}" for name in said if not pd.isna(row[name]))
        has_ends = math.isfinite(row["low"])
        median = data.say("{cell:interval}" if has_ends else "{cell}", cell=row["cell"])
        words = study, row["backend"], f"{row['size_bytes']:,} B", row["placement"], levels
        yield (*map(str, words), row["op"], median, beside.get((row["point"], row["op"]), ""))


def _beside(contests: pd.DataFrame) -> dict[tuple[str, str], str]:
    """Return what each mechanism is beside, by point and op: the one with the least median.

    That is the fastest only where all others were shown to be slower; one that is alone in its
    contest is beside nothing.
    """
    said: dict[tuple[str, str], str] = {}
    paired = contests[contests.other_point != ""]
    for (point, op), rivals in paired.groupby(["point", "op"], sort=False):
        slower = (rivals.verdict == SLOWER).all()
        word = "the fastest" if slower else "the least median"
        said.setdefault((str(point), str(op)), f"{word} of {len(set(rivals.other_point)) + 1}")
        for row in rivals.itertuples():
            how = f"{row.verdict}, {row.ratio:.2f} x {row.fastest}"
            said.setdefault((str(row.other_point), str(op)), how)
    return said
