"""The interval of a ratio of two medians: that of their contest, or of heats of both."""

from dataclasses import replace
from functools import lru_cache
from math import inf
from pathlib import Path
from statistics import median
from typing import NamedTuple

import pandas as pd

from ipclab.frames import derived
from ipclab.frames.contests import fields, side_of
from ipclab.frames.stamps import stamp
from ipclab.stats.compare import Comparison, Side, compare
from ipclab.stats.contest import against_fastest, common_scatter
from ipclab.stats.paired import Scatter
from ipclab.stats.quantity import Quantity
from ipclab.store.run import RunFolder, read


class Contest(NamedTuple):
    """The entrants of a contest by point, the scatter of its pairs, and its fastest point.

    `over_fastest` is by point what is known of the others.
    """

    sides: dict[str, Side]
    scatter: Scatter
    fastest: str
    over_fastest: dict[str, Comparison]


class Value(NamedTuple):
    """Where a value stands in the frames of points."""

    study: str
    point: str
    op: str
    metric: str


def judged(run: RunFolder, ratio: Quantity) -> Quantity:
    """Return a ratio of two medians with their contest's interval in `run`; others as is.

    Of several contests it is one in which either of both is the fastest, since that is what a
    contest's verdicts are about; of several of these, or else of all, the largest. Where no contest
    holds both, but the same heats do, it is the interval of these two alone.
    """
    if not ratio or ratio.quotient is None:
        return ratio
    over, under = (Value(*row.split("/")) for row in ratio.quotient)
    if {over.metric, under.metric} != {"p50"} or over[:2] == under[:2]:
        return ratio
    comparison = _in_contest(run, over, under) or _in_heats(run, over, under)
    if comparison is None or comparison.ratio is None:
        return ratio
    if comparison.low is None:
        return replace(ratio, value=comparison.ratio, low=-inf, high=inf)
    return replace(ratio, value=comparison.ratio, low=comparison.low, high=comparison.high)


def _in_contest(run: RunFolder, over: Value, under: Value) -> Comparison | None:
    study = over.study
    contests = _contests(run.path, study, stamp(run, study)).get(over.op, [])
    points = {over.point, under.point}
    of_both = [contest for contest in contests if points <= contest.sides.keys()]
    if not of_both or (study, over.op) != (under.study, under.op):
        return None
    won_by_one = [contest for contest in of_both if contest.fastest in points]
    contest = max(won_by_one or of_both, key=lambda contest: len(contest.sides))
    sides = contest.sides
    mechanisms = len(sides)
    if contest.fastest in points:
        (other,) = points - {contest.fastest}
        mechanisms = contest.over_fastest[other].mechanisms
    one = sides[under.point]
    return compare(one, sides[over.point], mechanisms, derived.bound(run), contest.scatter)


def _in_heats(run: RunFolder, over: Value, under: Value) -> Comparison | None:
    """Return what the heats show that both points took part in; None where there is none."""
    one = _side(run, under)
    other = _side(run, over)
    if not one.heats.keys() & other.heats.keys():
        return None
    return compare(one, other, 2, derived.bound(run))


def _side(run: RunFolder, value: Value) -> Side:
    medians = _medians(run.path, value.study, stamp(run, value.study))
    rows = medians.get((value.point, value.op))
    return Side([]) if rows is None else side_of(rows)


# The stamp is asked for with the folder, so that what was read goes when the run's files change.
@lru_cache(maxsize=16)
def _medians(folder: Path, study: str, _stamp_of: str) -> dict[tuple[str, str], pd.DataFrame]:
    """Return the medians of a study's launches by point and op."""
    launches = derived.read(read(folder), study, "launches")
    by_op = launches[launches.metric == "p50"].groupby(["point", "op"])
    return {(str(point), str(op)): rows for (point, op), rows in by_op}


@lru_cache(maxsize=16)
def _contests(folder: Path, study: str, _stamp_of: str) -> dict[str, list[Contest]]:
    """Return the contests of a study by op."""
    run = read(folder)
    launches = derived.read(run, study, "launches")
    bound = derived.bound(run)
    contests: dict[str, list[Contest]] = {}
    for race in run.questions.of(study).races if len(launches) else ():
        for head, entrants in fields(race, launches):
            sides = {point: side for (_, point), side in entrants.items()}
            medians = {point: median(side.medians) for point, side in sides.items()}
            fastest = min(medians, key=medians.__getitem__)
            scatter = common_scatter(sides.values())
            over_fastest = against_fastest(sides, fastest, bound, scatter)
            contest = Contest(sides, scatter, fastest, over_fastest)
            contests.setdefault(head["op"], []).append(contest)
    return contests
