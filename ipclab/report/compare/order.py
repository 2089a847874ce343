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

COLUMNS = (
    *("pair", "study", *CONTEST),
    *("quick", "slow", "ratio", "ratio_second", "turned", "shown"),
)
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
        for key in sorted(one.keys() & two.keys()):
            here, there = one[key], two[key]
            shared = sorted(here.keys() & there.keys())
            for names in combinations(shared, 2):
                quick, slow = sorted(names, key=lambda name: mean_of(here[name].medians))
                ratio = mean_of(here[slow].medians) / mean_of(here[quick].medians)
                second = mean_of(there[slow].medians) / mean_of(there[quick].medians)
                turned = second < 1 < ratio
                shown = turned and (
                    _verdict(first, here, quick, slow, len(shared)) == SLOWER
                    and _verdict(other, there, quick, slow, len(shared)) == FASTER
                )
                rows.append((pair, *key, quick, slow, ratio, second, turned, shown))
    return pd.DataFrame(rows, columns=COLUMNS)


def _verdict(run: ComparedRun, field: Field, quick: str, slow: str, count: int) -> str:
    return compare(field[quick], field[slow], count, run.questions.same).verdict


def _contests(run: ComparedRun) -> dict[tuple[Any, ...], Field]:
    contests = {}
    for study, launches in run.launches.items():
        for race in run.questions.of(study).races:
            for head, entrants in fields(race, launches):
                if head["among"] == ALL:
                    key = study, *map(head.get, CONTEST)
                    contests[key] = {name: side for (name, _), side in entrants.items()}
    return contests
