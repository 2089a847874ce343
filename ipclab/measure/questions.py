"""What is asked of a run while it is measured: its contests, as the frames will have them, and its limits."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ipclab.frames.contests import contests, fields, races
from ipclab.frames.points import medians
from ipclab.measure.rounds import Asking, Question, State
from ipclab.stats.compare import NOT_TESTED, UNDECIDED, factor
from ipclab.stats.family import launches_needed
from ipclab.studies.limits import LAUNCHES, LimitsStudy
from ipclab.studies.limits.floors import Floors, Key


def asking(bound: float) -> Asking:
    """Return the questions of a run in which `bound` (a share) counts as the same."""
    return Asking(least, lambda states: [found for each in _frames(states) for found in _open(*each, bound)], doubtful)


def least(states: Iterable[State]) -> Mapping[str, int]:
    """Return how many launches each point needs so that the largest contest which it is in can be told apart."""
    found: dict[str, int] = {}
    for study, frame in _frames(states):
        for race in races(study):
            for _, sides in fields(race, frame):
                need = launches_needed(len(sides)) if len(sides) > 1 else 0
                found |= {point: max(need, found.get(point, 0)) for _, point in sides}
    return found


def doubtful(states: Iterable[State]) -> list[str]:
    """Return the limits that have two best launches far apart, or that the median of a result stayed below.

    A profile that only shows that all works has too few launches of them to doubt.
    """
    limits, others = dict[Key, State](), list[State]()
    for state in states:
        if state.point.study != LimitsStudy.name:
            others.append(state)
        elif state.taken and not state.lost and state.effort.most_launches >= LAUNCHES:
            limits[state.point.backend, state.point.size_bytes, state.point.placement] = state
    floors = Floors({key: _medians(state, state.point.primary[0]) for key, state in limits.items()})
    found = dict.fromkeys(floors.wide())
    for state in others if limits else ():
        for op in state.taken[0][1] if state.taken and not state.lost else ():
            floor = floors.under(state.point.study, op, state.point.key())
            if floor and np.median(_medians(state, op)) < floor.ns:
                found |= dict.fromkeys(floor.limits)
    return [limits[key].point.id for key in found]


def _medians(state: State, op: str) -> list[float]:
    return [medians[op] for _, medians in state.taken]


def _frames(states: Iterable[State]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the launch frame of each study, as far as contests need it."""
    rows = defaultdict[str, list[dict[str, Any]]](list)
    for state in states:
        rows[state.point.study] += medians(state.point, state.taken)
    yield from ((study, pd.DataFrame(rows[study])) for study in sorted(rows) if rows[study])


def _open(study: str, frame: pd.DataFrame, bound: float) -> Iterator[Question]:
    found = contests(study, frame, bound)
    for row in found[found.verdict.isin([UNDECIDED, NOT_TESTED])].to_dict("records"):
        launches = min(map(int, row["launches"].split("/")))
        ends = row["low"], row["high"]
        more = 1.0 if any(map(pd.isna, ends)) else factor(*ends, row["ratio"], bound)
        yield Question((row["point"], row["other_point"]), launches, launches * more)
