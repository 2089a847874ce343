"""The launch medians of a run: what two runs are compared by, kept apart from the samples that they follow from."""

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ipclab.runs.samples import Measured

COLUMNS = ("study", "point", "op", "relation", "medians_ns")


@dataclass(frozen=True)
class Medians:
    """One op of one point: the medians (ns) of its launches in the order taken, and how its CPUs lay to each other."""

    study: str
    point: str
    op: str
    relation: str
    values: tuple[float, ...]

    def cells(self) -> tuple[str, ...]:
        """Return the row in the order of `COLUMNS`; equal values give equal text."""
        return self.study, self.point, self.op, self.relation, " ".join(f"{value:.9g}" for value in self.values)


def medians(measured: Measured) -> Iterator[Medians]:
    """Yield the launch medians of a point's primary ops; of all whole ops when it names none that was taken."""
    ops = measured.op_names()
    primary = [op for op in measured.point.primary if op in ops] or [op for op in ops if "." not in op]
    relations = sorted({str(launch.facts.get("relation", "")) for launch in measured.launches})
    for op in primary:
        values = tuple(float(np.median(launch.times(op))) for launch in measured.launches)
        yield Medians(measured.point.study, measured.point.id, op, "/".join(relations), values)


def read_medians(rows: Iterable[dict[str, str]]) -> list[Medians]:
    """Return what `Medians.cells` wrote as text."""
    return [
        Medians(row["study"], row["point"], row["op"], row["relation"], tuple(map(float, row["medians_ns"].split())))
        for row in rows
    ]


def launches_table(found: Iterable[Medians]) -> str:
    """Return `tables/launches.csv`."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(each.cells() for each in found)
    return text.getvalue()
