"""What goes on, and how far, in the time that is left: the most important, the soonest told apart.

The order is fixed: what a run calibrates itself by; then what the texts ran and what their claims rest
on (`[text]`, `[claimed]` in a study's `arms.toml`); then points on which findings or advice rest, study by
study as a run measures them; then the others (`[later]`).
"""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from ipclab.session.state import State
from ipclab.stats.family import HEAT_LOOKS
from ipclab.studies.installed import ALWAYS
from ipclab.studies.interface import CLAIMED, LATER

HOPELESS_FROM = HEAT_LOOKS[1]  # heats, by which the scatter is known well enough to give up


@dataclass(frozen=True)
class OpenPair:
    """Two points not told apart after `launches` of each; `need` is how many would likely do.

    What is not `tested` has an interval that says nothing.
    """

    points: tuple[str, str]
    launches: int
    need: float
    tested: bool = True


class Judged(NamedTuple):
    """What a session's launches answer so far: the pairs that are not told apart (`open`).

    Of `compared` comparisons so many are `unanswered`, without those by which a run calibrates
    itself.
    """

    open: Sequence[OpenPair] = ()
    compared: int = 0
    unanswered: int = 0

    @property
    def share(self) -> float:
        """Return the share of the comparisons that is open."""
        return self.unanswered / max(1, self.compared)


def left_out(
    states: Mapping[str, State],
    heats: Iterable[Sequence[str]],
    seconds: float,
    later_seconds: float,
) -> frozenset[str]:
    """Return the points that go on later, since `seconds` are too few for all that lack launches.

    Of equal precedence what takes least goes on first, so that most of it gets enough. Those on
    which nothing rests have `later_seconds`. A part of a heat that has one precedence goes
    on whole. What was asked for by its number of launches goes on, as does what was never launched,
    but for that on which nothing rests.
    """
    places = dict[str, tuple[int, int]]()
    for place, heat in enumerate(heats):
        for name in heat:
            if states[name].lacks():
                places.setdefault(name, (states[name].precedence, place))
    usual = _seconds_of_one(states.values())
    parts = []
    for (precedence, place), part in groupby(
        sorted(places, key=places.__getitem__), places.__getitem__
    ):
        names = list(part)
        cost = sum(states[name].lacks() * (states[name].seconds() or usual) for name in names)
        parts.append((precedence, cost, place, names))
    spent, out = 0.0, list[str]()
    for precedence, cost, _, names in sorted(parts):
        spent += cost
        if spent > (later_seconds if precedence == LATER else seconds):
            out += names
    return frozenset(
        name
        for name in out
        if states[name].can_vary() and (states[name].taken or states[name].precedence == LATER)
    )


def _seconds_of_one(states: Collection[State]) -> float:
    """Return how long a launch takes that was never made.

    That is as long as those that were made, or nobody knows how long where others are to come first.
    """
    if taken := [state.seconds() for state in states if state.taken]:
        return sum(taken) / len(taken)
    others = [state for state in states if state.lacks() and state.precedence != LATER]
    return math.inf if others else 0.0


def kinds(states: Iterable[State]) -> list[str]:
    """Return what the points of `states` are, by study and arm, the most important first."""
    ordered = sorted(states, key=lambda state: state.precedence)
    return [*dict.fromkeys(state.kind for state in ordered)]


def next_goals(
    states: Mapping[str, State], pairs: Iterable[OpenPair], seconds: float
) -> dict[str, int]:
    """Return how many launches points go on to: the next looks that there are `seconds` for."""
    goals = dict[str, int]()
    for pair in sorted(pairs, key=lambda pair: _rank(pair, [states[name] for name in pair.points])):
        cost, wanted = 0.0, dict[str, int]()
        for name, launches in _next_look(pair, [states[name] for name in pair.points]).items():
            state = states[name]
            planned = max(goals.get(name, 0), len(state.taken))
            wanted[name] = max(planned, launches)
            cost += (wanted[name] - planned) * state.seconds()
        if cost <= seconds:
            seconds -= cost
            goals |= wanted
    return goals


def _next_look(pair: OpenPair, states: Sequence[State]) -> dict[str, int]:
    """Return how many launches each point has at its next look, if there may be one.

    A pair that would not be told apart by the last of all looks gets none.
    """
    if math.isinf(pair.need) and pair.launches >= HOPELESS_FROM:
        return {}
    most = min(state.effort.most_launches for state in states)
    more = next((look for look in HEAT_LOOKS if look > pair.launches), most) - pair.launches
    if more <= 0 or any(state.lost or len(state.taken) + more > most for state in states):
        return {}
    return {state.point.id: len(state.taken) + more for state in states}


def _rank(pair: OpenPair, states: Sequence[State]) -> tuple[bool, bool, bool, bool, bool, float]:
    """Return a key that sorts pairs by the seconds that will tell them apart.

    Those of which nothing is known come first, unless nothing rests on them, then those on which
    claims rest; hopeless ones last, and then the run's own calibration.
    """
    own = states[0].point.study in ALWAYS
    later = not pair.tested and all(state.precedence == LATER for state in states)
    seconds = (pair.need - pair.launches) * sum(state.seconds() for state in states)
    other = all(state.precedence > CLAIMED for state in states)
    return own, _is_hopeless(pair, states), later, pair.tested, other, seconds


def _is_hopeless(pair: OpenPair, states: Sequence[State]) -> bool:
    """Tell whether as many launches as there may be will likely not tell `pair` apart."""
    return pair.need > min(state.effort.most_launches for state in states)
