"""Which points share a heat: those of a contest, and neighbours in a study's block.

A heat has one placement. What does not fit one heat is parted, and one contestant is in each part.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, groupby
from operator import attrgetter

import pandas as pd

from ipclab.frames.contests import groups
from ipclab.frames.points import head
from ipclab.store.point import Point
from ipclab.studies.questions import question

MOST = 32  # contestants of a heat


def heats(points: Iterable[Point]) -> list[list[str]]:
    """Return the names of the points of each heat; all are in one, a shared one in several."""
    made: list[list[str]] = []
    for study, mine in _by_study(points).items():
        compared = groups_compared(study, mine)
        for group in compared:
            made += packed(group)
        made += _beside(mine, _named(compared))
    return made


def names_compared(points: Iterable[Point]) -> set[str]:
    """Return the names of the points that some contest compares with others."""
    names = set[str]()
    for study, mine in _by_study(points).items():
        names |= _named(groups_compared(study, mine))
    return names


def _by_study(points: Iterable[Point]) -> dict[str, list[Point]]:
    by_study: dict[str, list[Point]] = {}
    for point in points:
        by_study.setdefault(point.study, []).append(point)
    return by_study


def _named(groups: Iterable[Iterable[Iterable[str]]]) -> set[str]:
    """Return the names of the points in groups of contests."""
    return set(chain.from_iterable(chain.from_iterable(groups)))


def groups_compared(study: str, points: Sequence[Point]) -> list[list[list[str]]]:
    """Return the groups of points that are compared, directly or through others.

    A group is a list of its contests, each without the names that stand in one before.
    """
    group_of: dict[str, list[list[str]]] = {}
    for race in question(study).races:
        op = race.op if isinstance(race.op, str) else race.op[0]
        rows = pd.DataFrame([{"op": op} | head(point) for point in points])
        for _, entrants in groups(race, rows):
            contest = [*dict.fromkeys(entrants.sort_values(["entrant", "point"]).point)]
            met = {id(group_of[name]): group_of[name] for name in contest if name in group_of}
            new = [name for name in contest if name not in group_of]
            merged = [*chain.from_iterable(met.values()), *([new] if new else [])]
            group_of |= dict.fromkeys(chain.from_iterable(merged), merged)
    found = {id(group): group for group in group_of.values()}
    return [group for group in found.values() if sum(map(len, group)) > 1]


def packed(group: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the contests of a group in heats of at most `MOST`, whole where they fit.

    Where there are several heats, the first contestant of all is in each.
    """
    first = group[0][0]
    heats: list[list[str]] = [[]]
    for contest in group:
        if heats[-1] and len(heats[-1]) + len(contest) > MOST - 1:
            heats.append([])
        heats[-1] += contest
    every = ([first, *(name for name in heat if name != first)] for heat in heats)
    return [*chain.from_iterable(map(parted, every))]


def _beside(points: Sequence[Point], taken: Collection[str]) -> list[list[str]]:
    """Return heats of the points that are not `taken` by a contest, by block and placement.

    Where the block has contests as well, the first of their contestants is in each such heat.
    """
    made = []
    where = attrgetter("block", "placement")
    for _, block in groupby(sorted(points, key=where), key=where):
        everyone = list(block)
        rest = [point.id for point in everyone if point.id not in taken]
        shared = [point.id for point in everyone if point.id in taken][:1]
        if rest:
            made += parted([*shared, *rest])
    return made


def parted(names: Sequence[str]) -> list[list[str]]:
    """Return `names` in heats of at most `MOST`; the first one is in each of them."""
    first, *others = names
    room = MOST - 1
    count = max(1, -(-len(others) // room))
    size = -(-len(others) // count)
    return [[first, *others[k * size : (k + 1) * size]] for k in range(count)]


def groups_with_limits(
    groups: Sequence[Sequence[str]], bounding: Mapping[str, Sequence[str]], limits: Sequence[str]
) -> list[list[str]]:
    """Return `groups` with the limits that bound their points (`bounding`, by point).

    Limits that bound nothing stand by themselves.

    All are names of points. A limit is in the first heat of those that it bounds: it is no other
    one elsewhere.
    """
    joined, taken = [], set[str]()
    for group in groups:
        theirs = dict.fromkeys(chain.from_iterable(bounding.get(name, ()) for name in group))
        joined.append([*group, *(limit for limit in theirs if limit not in taken)])
        taken.update(theirs)
    used = {*chain.from_iterable(joined)}
    return [*joined, *([limit] for limit in limits if limit not in used)]
