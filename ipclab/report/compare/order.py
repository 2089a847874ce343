"""Where the order of mechanisms changes between runs, over the contests of both."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pandas as pd

from ipclab.frames.contests import ALL, CONTEST, fields
from ipclab.report.compare.held import ComparedRun
from ipclab.report.compare.shared import run_pairs
from ipclab.stats.compare import FASTER, SLOWER, Side, compare
from ipclab.stats.intervals import mean_of

FOUND = ("quick", "slow", "ratio", "ratio_second", "turned", "shown")
COLUMNS = ("pair", "study", *CONTEST, *FOUND)
Field = dict[str, Side]  # launch medians by the name of the mechanism


def order_changes(runs: Sequence[ComparedRun]) -> pd.DataFrame:
    """Return one row for each pair of mechanisms of each contest in the first and another run.

    `quick` and `slow` are named as the first run has them; `ratio` is slow over quick there,
    `ratio_second` in the other; `turned`: their order is another there; `shown`: tests within both
    runs show both orders. Launches of one run are interleaved, so that pairs are compared by round,
    at the level of all pairs of their contest.
    """
    rows = []
    for pair, first, other in run_pairs(runs):
        one = _contests(first)
        two = _contests(other)
        same = first.questions.same, other.questions.same
        for key in sorted(one.keys() & two.keys()):
            shared = sorted(one[key].keys() & two[key].keys())
            for mechanisms in combinations(shared, 2):
                ordered = _ordered(mechanisms, one[key], two[key], len(shared), same)
                rows.append((pair, *key, *ordered))
    return pd.DataFrame(rows, columns=COLUMNS)


def _ordered(
    pair: Sequence[str], one: Field, two: Field, count: int, same: Sequence[float]
) -> tuple[Any, ...]:
    """Return the columns `FOUND` of two of the `count` mechanisms of a contest, in both runs.

    `same` is what counts as the same in each.
    """
    quick, slow = sorted(pair, key=lambda name: mean_of(one[name].medians))
    here = mean_of(one[slow].medians) / mean_of(one[quick].medians)
    there = mean_of(two[slow].medians) / mean_of(two[quick].medians)
    turned = there < 1 < here
    shown = False
    if turned:
        slower_here = compare(one[quick], one[slow], count, same[0]).verdict == SLOWER
        shown = slower_here and compare(two[quick], two[slow], count, same[1]).verdict == FASTER
    return quick, slow, here, there, turned, shown


def _contests(run: ComparedRun) -> dict[tuple[Any, ...], Field]:
    contests = {}
    for study, launches in run.launches.items():
        for race in run.questions.of(study).races:
            for head, entrants in fields(race, launches):
                if head["among"] == ALL:
                    key = study, *map(head.get, CONTEST)
                    contests[key] = {name: side for (name, _), side in entrants.items()}
    return contests
