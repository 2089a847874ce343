"""Whether the heats of a contest are what its judge takes them for: alike, and of one state each.

The judge's interval holds for heats that do not resemble the one before. Where they do, they say
as much as fewer that lie apart: intervals are wider, and what they leave open waits for twice the heats.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import log
from typing import Any, TypeVar

import numpy as np

from ipclab.stats.compare import NOT_TESTED, UNDECIDED, Comparison, Side
from ipclab.stats.family import MANY
from ipclab.stats.paired import FEWEST_HEATS
from ipclab.stats.sessions import several

Name = TypeVar("Name")
Logs = np.ndarray[Any, np.dtype[np.float64]]  # rows of sides, columns of heats
CORRELATED = "correlated-heats"  # why a verdict waits
LEAST_HEATS = 5  # the fewest of which one order is rare
ORDERS, LEVEL = 999, 0.05  # which are drawn, and the share that may look as correlated by chance
APART = 1.25  # two modes of launches are so far apart, as a factor
MOST = 0.9  # the correlation that is reckoned with
STRICTER = 0.25  # of the level, where few contestants have two modes


def lag_one(sides: Mapping[Name, Side]) -> tuple[float, float]:
    """Return the lag-1 correlation of a contest's heat ratios, and how likely it is by chance.

    What is correlated are the logarithms of the medians of all `sides` in the heats that they
    share, without what a heat does to all and without each one's own mean. Heats that do not
    resemble each other can be put into any order: the share of orders that are correlated as much
    is the exact probability (a permutation test: Wald and Wolfowitz, Ann. Math. Statist. 14, 1943,
    378-388), here of `ORDERS` drawn ones. Fewer than `LEAST_HEATS` show nothing, nor do sessions,
    which lie apart: (0, 1).
    """
    logs = _shared(sides)
    count = logs.shape[1]
    if count < LEAST_HEATS:
        return 0.0, 1.0
    left = logs - logs.mean(axis=0)
    left -= left.mean(axis=1, keepdims=True)
    if not (total := float((left**2).sum())):
        return 0.0, 1.0
    products = left.T @ left
    chance = np.random.default_rng(0)
    orders = chance.permuted(np.tile(np.arange(count), (ORDERS, 1)), axis=1)
    drawn = products[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    found = float(np.diagonal(products, 1).sum())
    as_much = int((drawn >= found - 1e-12 * total).sum())
    return found / total, (1 + as_much) / (1 + ORDERS)


def share_apart(sides: Mapping[Name, Side]) -> float:
    """Return the share of a contest's heats that count: 1 where none is shown to be correlated.

    n of lag-1 correlation r say as much as n (1 - r) / (1 + r) that lie apart (Bayley and
    Hammersley, Suppl. J. R. Stat. Soc. 8, 1946, 184-197), r without the bias of so few (Marriott
    and Pope, Biometrika 41, 1954, 390-402).
    """
    found, chance = lag_one(sides)
    if chance > LEVEL:
        return 1.0
    heats = _shared(sides).shape[1]
    correlation = float(min(found + (1 + 3 * found) / heats, MOST))
    return (1 - correlation) / (1 + correlation)


def waiting(over: Mapping[Name, Comparison]) -> dict[Name, Comparison]:
    """Return `over`, the pairs of a contest of correlated heats, saying so of those left open."""
    return {
        name: replace(known, verdict=UNDECIDED, reason=CORRELATED)
        if known.paired and known.verdict in (UNDECIDED, NOT_TESTED)
        else known
        for name, known in over.items()
    }


def strictness(sides: Mapping[Name, Side]) -> float:
    """Return which share of the usual level a contest is judged at.

    Few contestants of two modes may each be in another one by chance for as long as heats are few.
    """
    logs = _shared(sides)
    two = any(map(_has_two_modes, logs.tolist()))
    return STRICTER if two and len(sides) < MANY else 1.0


def _has_two_modes(logs: Sequence[float]) -> bool:
    """Tell whether logarithms part into two groups, each closer together than to the other one."""
    ordered = sorted(logs)
    if len(ordered) < FEWEST_HEATS:
        return False
    steps = [second - first for first, second in pairwise(ordered)]
    widest = max(steps)
    return widest > log(APART) and widest > sum(steps) - widest


def _shared(sides: Mapping[Name, Side]) -> Logs:
    """Return the log medians of all sides (rows) in the heats that they share, in their order."""
    heats = [side.heats for side in sides.values()]
    shared = sorted(set.intersection(*map(set, heats))) if heats else []
    if not shared or several(dict.fromkeys(shared)):
        return np.empty((0, 0))
    medians = [[one[heat] for heat in shared] for one in heats]
    if not all(0 < value < np.inf for row in medians for value in row):
        return np.empty((0, 0))
    return np.log(medians)
