"""Which points two runs share, which have a counterpart under other conditions, and which only one of them has."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ipclab.facts.launches import Medians
from ipclab.facts.rows import Rows
from ipclab.store.point import Point

FAILED, NOT_TESTABLE, NOT_MEASURED = "failed", "not-testable", "not-measured"


@dataclass(frozen=True)
class RunData:
    """What a comparison needs of one run: its `run.json` (with its `id`), its rows and its launch medians."""

    about: Mapping[str, Any]
    rows: Rows
    medians: Sequence[Medians]

    @property
    def id(self) -> str:
        """Return the run's name."""
        return str(self.about["id"])

    @property
    def machine(self) -> str:
        """Return the machine's digest."""
        return str(self.about["machine"]["digest"])

    def sides(self) -> dict[tuple[str, str], "Measurement"]:
        """Return what was measured by (point, op)."""
        points = {row.point.id: row.point for row in self.rows}
        found = (Measurement(points[each.point], each) for each in self.medians if each.point in points)
        return {(each.point.id, each.medians.op): each for each in found}


@dataclass(frozen=True)
class Measurement:
    """One op of one point in one run."""

    point: Point
    medians: Medians

    def conditions(self) -> dict[str, str | int]:
        """Return what both sides must share beyond the point's own levels: how the CPUs lie to each other."""
        return {"relation": self.medians.relation}


@dataclass(frozen=True)
class Unshared:
    """A point that only one run has (`side` 0 or 1), and why the other has it not: one of the three reasons above."""

    point: Point
    op: str
    side: int
    reason: str


@dataclass(frozen=True)
class Matching:
    """The points of two runs: `shared`, `close` (other conditions: the names that differ), `unshared`."""

    shared: list[tuple[Measurement, Measurement]]
    close: list[tuple[Measurement, Measurement, tuple[str, ...]]]
    unshared: list[Unshared]


def match(first: RunData, second: RunData) -> Matching:
    """Return how the points of two runs belong together.

    A point without its equal is set beside the nearest of the same study, mechanism and op that has no equal either;
    the levels that differ are then the reason why the two are not comparable.
    """
    a, b = first.sides(), second.sides()
    shared = [(a[key], b[key]) for key in sorted(a.keys() & b.keys(), key=lambda key: (a[key].point.study, key))]
    left, right = (_ordered(mine[key] for key in mine.keys() - other.keys()) for mine, other in ((a, b), (b, a)))
    close = []
    for one in list(left):
        rivals = [(len(names), names, other) for other in right if (names := _differing(one, other))]
        if rivals:
            _, names, other = min(rivals, key=lambda rival: (rival[0], rival[1], rival[2].point.id))
            close.append((one, other, names))
            left.remove(one)
            right.remove(other)
    lone = [(one, 0, second) for one in left] + [(one, 1, first) for one in right]
    unshared = [Unshared(one.point, one.medians.op, side, _why(one.point, other)) for one, side, other in lone]
    return Matching(shared, close, unshared)


def _ordered(found: Iterable[Measurement]) -> list[Measurement]:
    return sorted(found, key=lambda one: (one.point.study, one.point.id, one.medians.op))


def _differing(one: Measurement, other: Measurement) -> tuple[str, ...]:
    """Return the names of the levels that differ; none for points of other studies, mechanisms or ops."""
    heads = [(each.point.study, each.point.backend, each.medians.op) for each in (one, other)]
    if heads[0] != heads[1]:
        return ()
    a, b = one.point.key(), other.point.key()
    return tuple(name for name in sorted(a.keys() | b.keys()) if a.get(name) != b.get(name))


def _why(point: Point, other: RunData) -> str:
    if point.id in other.about["failures"]:
        return FAILED
    return NOT_TESTABLE if point.id in other.about.get("points", {}) else NOT_MEASURED
