"""Where the order of mechanisms changes from one machine to another."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ipclab.facts.comparisons import RACES, Entry
from ipclab.machines.shared import RunData
from ipclab.stats.compare import FASTER, SLOWER, Side, by_round, compare_all

Field = dict[str, list[float]]  # launch medians by the name of the mechanism
Group = tuple[str, str, str, str, int]  # study, op, question, placement, size in bytes
ALPHA = 0.05  # of one run's tests; a change of order must be shown by both runs


@dataclass(frozen=True)
class Flip:
    """Two mechanisms of one contest whose order is another in the second run: `ratios` are `slower` over `faster`.

    `faster` and `slower` are named as the first run has them. `shown`: both orders are shown by tests within their run.
    """

    group: Group
    faster: str
    slower: str
    ratios: tuple[float, float]
    shown: bool


@dataclass(frozen=True)
class Rankings:
    """The contests that two runs share: how many pairs of mechanisms, the fastest of each, and what changed."""

    pairs: int
    fastest: dict[Group, tuple[str, str]]
    flips: list[Flip]

    def shown(self) -> list[Flip]:
        """Return the changes that both runs show."""
        return [flip for flip in self.flips if flip.shown]


def rankings(first: RunData, second: RunData) -> Rankings:
    """Return how the order of mechanisms changes, over every race of every study that both runs hold.

    Launches of one run are interleaved, so within a run pairs are compared by round. Only pairs whose order differs are
    tested, at the level that Benjamini-Hochberg would give them among all pairs of their contest.
    """
    contests = [_contests(run) for run in (first, second)]
    pairs, fastest, flips = 0, {}, []
    for group in sorted(contests[0].keys() & contests[1].keys()):
        one, two = (each[group] for each in contests)
        names = sorted(one.keys() & two.keys())
        if names:
            best = [min(names, key=lambda name: _middle(each[name])) for each in (one, two)]
            fastest[group] = best[0], best[1]
            pairs += len(names) * (len(names) - 1) // 2
            flips += _flips(group, names, one, two)
    return Rankings(pairs, fastest, flips)


def _flips(group: Group, names: Sequence[str], one: Field, two: Field) -> list[Flip]:
    turned = []
    for pair in combinations(names, 2):
        quick, slow = sorted(pair, key=lambda name: _middle(one[name]))
        ratios = [_middle(each[slow]) / _middle(each[quick]) for each in (one, two)]
        if ratios[1] < 1 < ratios[0]:
            turned.append((quick, slow, (ratios[0], ratios[1])))
    alpha = ALPHA * len(turned) / max(1, len(names) * (len(names) - 1) // 2)
    shown = []
    for field, verdict in ((one, SLOWER), (two, FASTER)):
        sides = [by_round(Side(field[quick]), Side(field[slow])) for quick, slow, _ in turned]
        shown.append([found.verdict == verdict for found in compare_all(sides, alpha=alpha)])
    return [Flip(group, quick, slow, both, a and b) for (quick, slow, both), a, b in zip(turned, *shown, strict=True)]


def _contests(run: RunData) -> dict[Group, Field]:
    found: dict[Group, Field] = {}
    for (_, op), each in run.sides().items():
        for race in RACES:
            if race.op == op and race.takes(each.point):
                entry = Entry(race, each.point, list(each.medians.values))
                found.setdefault(entry.group(), {})[race.name(each.point)] = entry.medians
    return found


def _middle(values: Sequence[float]) -> float:
    return float(np.median(values))
