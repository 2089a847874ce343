"""The interval of a ratio of two medians: that of their contest, or of the heats that both took
part in.
"""

from dataclasses import replace
from functools import lru_cache
from math import inf
from pathlib import Path

import pandas as pd

from ipclab.frames import derived
from ipclab.frames.contests import fields, races, side_of
from ipclab.frames.stamps import stamp
from ipclab.stats.compare import Comparison, Side, common_scatter, compare
from ipclab.stats.paired import Scatter
from ipclab.stats.quantity import Quantity
from ipclab.store.run import RunFolder, read

Point = tuple[str, str]  # its study and its name
Contest = tuple[dict[str, Side], Scatter]  # its entrants by point, and the scatter of its pairs


def judged(run: RunFolder, ratio: Quantity) -> Quantity:
    """Return a ratio of two medians with the interval of their largest contest in `run`; others as
    they are.

    Where no contest holds both, but the same heats do, it is the interval of these two alone.
    """
    if not ratio or ratio.quotient is None:
        return ratio
    (study, over, op, metric), (other, under, of, other_metric) = (
        row.split("/") for row in ratio.quotient
    )
    if (metric, other_metric) != ("p50", "p50") or (study, over) == (other, under):
        return ratio
    comparison = _in_contest(run, study, op, over, under) if (study, op) == (other, of) else None
    comparison = comparison or _in_heats(run, (study, over), op, (other, under), of)
    if comparison is None or comparison.ratio is None:
        return ratio
    if comparison.low is None:
        return replace(ratio, value=comparison.ratio, low=-inf, high=inf)
    return replace(ratio, value=comparison.ratio, low=comparison.low, high=comparison.high)


def _in_contest(run: RunFolder, study: str, op: str, over: str, under: str) -> Comparison | None:
    contests = _contests(run.path, study, stamp(run, study)).get(op, [])
    of_both = [(sides, scatter) for sides, scatter in contests if {over, under} <= sides.keys()]
    if not of_both:
        return None
    sides, scatter = max(of_both, key=lambda contest: len(contest[0]))
    return compare(sides[under], sides[over], len(sides), derived.bound(run), scatter)


def _in_heats(run: RunFolder, over: Point, op: str, under: Point, of: str) -> Comparison | None:
    """Return what the heats show that both points took part in; None where there is none."""
    one = _side(run, under, of)
    other = _side(run, over, op)
    if not one.heats.keys() & other.heats.keys():
        return None
    return compare(one, other, 2, derived.bound(run))


def _side(run: RunFolder, point: Point, op: str) -> Side:
    study, name = point
    medians = _medians(run.path, study, stamp(run, study))
    return side_of(medians[(medians.point == name) & (medians.op == op)])


@lru_cache(maxsize=16)
def _medians(folder: Path, study: str, _stamp_of: str) -> pd.DataFrame:
    launches = derived.read(read(folder), study, "launches")
    return launches[launches.metric == "p50"]


@lru_cache(maxsize=16)
def _contests(folder: Path, study: str, _stamp_of: str) -> dict[str, list[Contest]]:
    """Return the contests of a study by op."""
    launches = derived.read(read(folder), study, "launches")
    contests: dict[str, list[Contest]] = {}
    for race in races(study) if len(launches) else ():
        for head, entrants in fields(race, launches):
            sides = {point: side for (_, point), side in entrants.items()}
            contest = sides, common_scatter(sides.values())
            contests.setdefault(head["op"], []).append(contest)
    return contests
