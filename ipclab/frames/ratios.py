"""What the medians of a run are of each other: as their contest judges it, or heats of both."""

from dataclasses import dataclass
from functools import cached_property
from math import inf
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from ipclab.frames import derived
from ipclab.frames.contests import fields, side_of
from ipclab.frames.digests import frames_digest
from ipclab.frames.remembered import remembered
from ipclab.stats.compare import Comparison, Side, compare
from ipclab.stats.contest import Contest, judged
from ipclab.stats.product import Ends
from ipclab.store.run import RunFolder, read_run

MEDIAN = "/p50"


class Row(NamedTuple):
    """Where a value stands in the frames of points."""

    study: str
    point: str
    op: str
    metric: str


@dataclass(frozen=True, eq=False)
class Ratios:
    """The ratios of a run's medians, each with one value and one interval.

    Of several contests that hold both it is one in which either is the fastest, since that is what
    a contest's verdicts are about; of several of these, or else of all, the largest. Where no
    contest holds both, but the same heats do, it is the interval of these two alone.
    """

    run: RunFolder

    def __eq__(self, other: object) -> bool:
        """Tell whether both are of one run."""
        return isinstance(other, Ratios) and self.run.path == other.run.path

    def __hash__(self) -> int:
        """Return what is the same for both of one run."""
        return hash(self.run.path)

    def ratio(self, over: str, under: str) -> Ends | None:
        """Return the ratio of two rows of medians (study/point/op/metric), or None."""
        comparison = self.compared(over, under)
        if comparison is None or comparison.ratio is None:
            return None
        if comparison.low is None or comparison.high is None:
            return Ends(comparison.ratio, -inf, inf)
        return Ends(comparison.ratio, comparison.low, comparison.high)

    def compared(self, over: str, under: str) -> Comparison | None:
        """Return what is known of one row of medians over another, or None.

        Of one launch the medians of several ops share all there is: no contest is about them.
        """
        if not (over.endswith(MEDIAN) and under.endswith(MEDIAN)):
            return None
        one, other = Row(*over.split("/")), Row(*under.split("/"))
        if one[:2] == other[:2]:
            return None
        return self._in_contest(one, other) or self._in_heats(one, other)

    def _in_contest(self, over: Row, under: Row) -> Comparison | None:
        if (over.study, over.op) != (under.study, under.op):
            return None
        points = {over.point, under.point}
        contests = _contests(self.run.path, over.study, self._digest(over.study)).get(over.op, [])
        of_both = [contest for contest in contests if points <= contest.sides.keys()]
        if not of_both:
            return None
        won_by_one = [contest for contest in of_both if contest.fastest in points]
        contest = max(won_by_one or of_both, key=lambda contest: len(contest.sides))
        sides = contest.sides
        mechanisms = len(sides)
        if contest.fastest in points:
            (other,) = points - {contest.fastest}
            mechanisms = contest.over_fastest[other].mechanisms
        same = self.run.questions.same
        pair = sides[under.point], sides[over.point]
        return compare(*pair, mechanisms, same, contest.scatter, contest.alpha)

    def _in_heats(self, over: Row, under: Row) -> Comparison | None:
        """Return what the heats show that both points took part in; None where there is none."""
        one, other = self._side(under), self._side(over)
        if not one.heats.keys() & other.heats.keys():
            return None
        return compare(one, other, 2, self.run.questions.same)

    def _side(self, row: Row) -> Side:
        medians = _medians(self.run.path, row.study, self._digest(row.study))
        rows = medians.get((row.point, row.op))
        return Side([]) if rows is None else side_of(rows)

    def _digest(self, study: str) -> str:
        if study not in self._digests:
            self._digests[study] = frames_digest(self.run, study)
        return self._digests[study]

    @cached_property
    def _digests(self) -> dict[str, str]:
        return {}


@remembered
def _medians(folder: Path, study: str, _digest: str) -> dict[tuple[str, str], pd.DataFrame]:
    """Return the medians of a study's launches by point and op."""
    launches = derived.read_frame(read_run(folder), study, "launches")
    by_op = launches[launches.metric == "p50"].groupby(["point", "op"])
    return {(str(point), str(op)): rows for (point, op), rows in by_op}


@remembered
def _contests(folder: Path, study: str, _digest: str) -> dict[str, list[Contest[str]]]:
    """Return the contests of a study by op, their sides by point."""
    run = read_run(folder)
    launches = derived.read_frame(run, study, "launches")
    contests: dict[str, list[Contest[str]]] = {}
    for race in run.questions.of(study).races if len(launches) else ():
        for head, entrants in fields(race, launches):
            sides = {point: side for (_, point), side in entrants.items()}
            contests.setdefault(head["op"], []).append(judged(sides, run.questions.same))
    return contests
