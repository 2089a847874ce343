"""Where the order of mechanisms changes from one run to another, over every contest that both hold."""

from collections.abc import Sequence
from itertools import combinations
from statistics import median
from typing import Any

import pandas as pd

from ipclab.compare.held import Held
from ipclab.compare.shared import names, pairs
from ipclab.frames.contests import ALL, CONTEST, fields, races
from ipclab.stats.compare import FASTER, SLOWER, Side, compare

FOUND = ("quick", "slow", "ratio", "ratio_second", "turned", "shown")
COLUMNS = ("pair", "study", *CONTEST, *FOUND)
Field = dict[str, Side]  # launch medians by the name of the mechanism


def order(runs: Sequence[Held]) -> pd.DataFrame:
    """Return one row for each pair of mechanisms of each contest that the first run and another one hold.

    `quick` and `slow` are named as the first run has them; `ratio` is slow over quick there, `ratio_second` in the
    other; `turned`: their order is another there; `shown`: tests within both runs show both orders. Launches of one run
    are interleaved, so that pairs are compared by round, at the level of all pairs of their contest.
    """
    rows = []
    for pair, first, other in pairs(runs):
        one, two = _contests(first), _contests(other)
        for key in sorted(one.keys() & two.keys()):
            shared = sorted(one[key].keys() & two[key].keys())
            both = combinations(shared, 2)
            rows += [(pair, *key, *_ordered(each, one[key], two[key], len(shared))) for each in both]
    return pd.DataFrame(rows, columns=COLUMNS)


def fastest(runs: Sequence[Held]) -> pd.DataFrame:
    """Return the fastest mechanism by its median of each contest, one column for each run; indexed by the contest."""
    found = {
        name: {key: min(field, key=lambda each: median(field[each].medians)) for key, field in _contests(run).items()}
        for name, run in zip(names(runs), runs, strict=True)
    }
    made = pd.DataFrame(found, columns=names(runs))
    made.index = pd.MultiIndex.from_tuples(list(made.index), names=["study", *CONTEST])
    return made.sort_index()


def _ordered(pair: Sequence[str], one: Field, two: Field, count: int) -> tuple[str, str, float, float, bool, bool]:
    """Return the columns `FOUND` of two of the `count` mechanisms of a contest, in both runs."""
    quick, slow = sorted(pair, key=lambda name: median(one[name].medians))
    here, there = (median(each[slow].medians) / median(each[quick].medians) for each in (one, two))
    turned = there < 1 < here
    wanted = ((one, SLOWER), (two, FASTER)) if turned else ()
    verdicts = [compare(each[quick], each[slow], count).verdict == verdict for each, verdict in wanted]
    return quick, slow, here, there, turned, turned and all(verdicts)


def _contests(run: Held) -> dict[tuple[Any, ...], Field]:
    return {
        (study, *(head[name] for name in CONTEST)): {name: side for (name, _), side in entrants.items()}
        for study, launches in run.launches.items()
        for race in races(study)
        for head, entrants in fields(race, launches)
        if head["among"] == ALL
    }
