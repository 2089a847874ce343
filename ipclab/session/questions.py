"""What is asked of a run while it is measured: its contests, as in its frames, and its limits."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ipclab.bounds.floors import Floors, Key, limit_called
from ipclab.frames.contests import KNOWN, contests
from ipclab.frames.metrics import HEAT, ROUND
from ipclab.frames.points import CROWDED, LaunchMedians, Row, head
from ipclab.session.goals import Judged, OpenPair
from ipclab.session.state import State, besides_limits
from ipclab.stats.compare import NOT_TESTED, UNDECIDED, Comparison
from ipclab.stats.enough import launches_that_decide
from ipclab.store.point import Point
from ipclab.store.questions import ALWAYS
from ipclab.studies.limits import LAUNCHES
from ipclab.studies.questions import question, questions


def judge_pairs(states: Iterable[State], bound: float) -> Judged:
    """Return what `states` answer in a run in which `bound` (a share) counts as the same."""
    rows = defaultdict[str, list[dict[str, Any]]](list)
    for state in states:
        rows[state.point.study] += medians(state.point, state.taken)
    pairs: list[OpenPair] = []
    compared = unanswered = 0
    for study in sorted(rows):
        if rows[study]:
            table = contests(question(study), pd.DataFrame(rows[study]), bound)
            still_open = [*open_pairs(table, bound)]
            pairs += still_open
            if study not in ALWAYS:
                compared += int((table.verdict != "").sum())
                unanswered += len(still_open)
    return Judged(pairs, compared, unanswered)


def open_pairs(compared: pd.DataFrame, bound: float) -> Iterator[OpenPair]:
    """Yield the pairs of a study's contests, as `compared`, that are not told apart."""
    for row in compared[compared.verdict.isin([UNDECIDED, NOT_TESTED])].to_dict("records"):
        known = comparison_of(row)
        need = launches_that_decide(known, bound)
        points = row["point"], row["other_point"]
        yield OpenPair(points, min(known.launches), need, known.verdict != NOT_TESTED)


def doubtful(states: Iterable[State]) -> list[str]:
    """Return the limits that the median of a result stayed below.

    A profile that only shows that all works has too few launches of them to doubt.
    """
    every = [state for state in states if state.taken and not state.lost]
    limits = dict[Key, State]()
    limit_medians = dict[Key, list[float]]()
    for state in every:
        if state.is_limit and state.effort.most_launches >= LAUNCHES:
            for op in state.point.primary:
                name = limit_called(questions(), state.point.backend, op)
                key = name, state.point.size_bytes, state.point.placement
                limits[key], limit_medians[key] = state, _medians(state, op)
    if not limits:
        return []
    floors = Floors(limit_medians, questions())
    in_doubt = dict[Key, None]()
    for state in besides_limits(every):
        for op in state.taken[0].medians:
            floor = floors.under(state.point.study, op, state.point.key())
            if floor and np.median(_medians(state, op)) < floor.ns:
                in_doubt |= dict.fromkeys(floor.limits)
    return [limits[key].point.id for key in in_doubt]


def _medians(state: State, op: str) -> list[float]:
    return [taken.medians[op] for taken in state.taken]


def comparison_of(row: Mapping[Any, Any]) -> Comparison:
    """Return what a row of `contests` (or of `pairs`) knows."""
    known = {name: row[name] for name in KNOWN if pd.notna(row[name])}
    launches = [int(count) for count in str(row["launches"]).split("/")]
    return Comparison(**known | {"launches": (min(launches), max(launches))})


def medians(point: Point, launches: Iterable[LaunchMedians]) -> Iterator[Row]:
    """Yield the rows of a launch frame that contests need."""
    about = head(point) | {"metric": "p50", "unit": "ns"}
    for taken in launches:
        about |= {ROUND: taken.round, HEAT: taken.heat, CROWDED: taken.crowded}
        for op, value in taken.medians.items():
            yield about | {"op": op, "value": value}
