"""What is asked of a run while it is measured: its contests, as the frames will have them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import groupby

import pandas as pd

from ipclab.frames.contests import contests, fields, races
from ipclab.frames.points import medians
from ipclab.measure.rounds import Asking, Question, State
from ipclab.stats.compare import NOT_TESTED, UNDECIDED, factor
from ipclab.stats.family import launches_needed


def asking(bound: float) -> Asking:
    """Return the questions of a run in which `bound` (a share) counts as the same."""
    return Asking(least, lambda states: [found for each in _frames(states) for found in _open(*each, bound)])


def least(states: Iterable[State]) -> Mapping[str, int]:
    """Return how many launches each point needs so that the largest contest which it is in can be told apart."""
    found: dict[str, int] = {}
    for study, frame in _frames(states):
        for race in races(study):
            for _, sides in fields(race, frame):
                need = launches_needed(len(sides)) if len(sides) > 1 else 0
                found |= {point: max(need, found.get(point, 0)) for _, point in sides}
    return found


def _frames(states: Iterable[State]) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the launch frame of each study, as far as contests need it."""
    for study, members in groupby(sorted(states, key=_study), key=_study):
        rows = [row for state in members for row in medians(state.point, state.taken)]
        if rows:
            yield study, pd.DataFrame(rows)


_study: Callable[[State], str] = lambda state: state.point.study  # noqa: E731


def _open(study: str, frame: pd.DataFrame, bound: float) -> Iterator[Question]:
    found = contests(study, frame, bound)
    for row in found[found.verdict.isin([UNDECIDED, NOT_TESTED])].to_dict("records"):
        launches = min(map(int, row["launches"].split("/")))
        ends = row["low"], row["high"]
        more = 1.0 if any(map(pd.isna, ends)) else factor(*ends, row["ratio"], bound)
        yield Question((row["point"], row["other_point"]), launches, launches * more)
