"""What goes on, and how far, in the time that is left: the most important, the soonest told apart.

The order is fixed: what a run calibrates itself by; then what the texts ran and what their claims rest
on (`[text]`, `[claimed]` in a study's `arms.toml`); then points on which findings or advice rest, study by
study as a run measures them; then the others (`[later]`).
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ipclab.session.state import State
from ipclab.stats.family import HEAT_LOOKS
from ipclab.store.questions import ALWAYS
from ipclab.studies.interface import CLAIMED, LATER

PARTS = 8  # of what there is beyond the profile's time: after each, what is open is judged anew
LEAST_GAIN = 0.01  # of the comparisons, which a part must tell apart for another one to follow
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


@dataclass
class Allowance:
    """The time of a session: seconds `left` of its profile, `more` while too many pairs are open."""

    left: Callable[[], float]
    more: float = 0.0
    open: float = 1.0  # the share of all comparisons that may stay so
    share_before: float = math.inf  # what was open before the last part

    def most_left(self) -> float:
        """Return how many seconds are left of all that a session may take."""
        return self.left() + self.more

    def part_more(self, judged: Judged) -> float:
        """Return how many seconds beyond the profile's may go to what is open now.

        There are none where enough is told apart, or the part before has hardly told any.
        """
        gain = self.share_before - judged.share
        self.share_before = judged.share
        if judged.share <= self.open or gain < LEAST_GAIN:
            return 0.0
        return min(self.most_left(), self.more / PARTS)

    def told(self, judged: Judged) -> str:
        """Return why a session goes on, in words."""
        return (
            f"{judged.unanswered} of {judged.compared} comparisons are open: they go on until"
            f" {self.open:.0%} are, for {self.most_left():.0f} s more at most"
        )


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
    parts: dict[tuple[int, int], list[str]] = {}
    placed = set[str]()
    for place, heat in enumerate(heats):
        for name in heat:
            if name not in placed and states[name].lacks():
                placed.add(name)
                parts.setdefault((states[name].precedence, place), []).append(name)
    usual = _seconds_of_one(states.values())
    costs = []
    for (precedence, place), names in parts.items():
        cost = sum(states[name].lacks() * (states[name].seconds() or usual) for name in names)
        costs.append((precedence, cost, place, names))
    spent, out = 0.0, set[str]()
    for precedence, cost, _, names in sorted(costs):
        spent += cost
        if spent > (later_seconds if precedence == LATER else seconds):
            out.update(
                name
                for name in names
                if states[name].can_vary() and (states[name].taken or precedence == LATER)
            )
    return frozenset(out)


def _seconds_of_one(states: Collection[State]) -> float:
    """Return how long a launch takes that was never made.

    That is as long as those that were made, or nobody knows how long where others are to come first.
    """
    if taken := [state.seconds() for state in states if state.taken]:
        return sum(taken) / len(taken)
    others = [state for state in states if state.lacks() and state.precedence != LATER]
    return math.inf if others else 0.0


def next_goals(
    states: Mapping[str, State], pairs: Iterable[OpenPair], seconds: float
) -> dict[str, int]:
    """Return how many launches points go on to: the next looks that there are `seconds` for."""
    goals = dict[str, int]()
    for pair in sorted(pairs, key=lambda pair: _rank(pair, [states[name] for name in pair.points])):
        of_pair = [states[name] for name in pair.points]
        more = _more_launches(pair, of_pair)
        cost, wanted = 0.0, dict[str, int]()
        for state in of_pair if more else ():
            name, taken = state.point.id, len(state.taken)
            planned = max(goals.get(name, 0), taken)
            wanted[name] = max(planned, taken + more)
            cost += (wanted[name] - planned) * state.seconds()
        if cost <= seconds:
            seconds -= cost
            goals |= wanted
    return goals


def _more_launches(pair: OpenPair, states: Sequence[State]) -> int:
    """Return how many launches it is to the next look of a pair, or 0 if there may be none.

    A pair that would not be told apart by the last of all looks gets none.
    """
    if math.isinf(pair.need) and pair.launches >= HOPELESS_FROM:
        return 0
    most = min(state.effort.most_launches for state in states)
    more = next((look for look in HEAT_LOOKS if look > pair.launches), most) - pair.launches
    if any(state.lost or len(state.taken) + more > most for state in states):
        return 0
    return max(0, more)


def _rank(pair: OpenPair, states: Sequence[State]) -> tuple[bool, bool, bool, bool, bool, float]:
    """Return a key that sorts pairs by the seconds that will tell them apart.

    Those of which nothing is known come first, unless nothing rests on them, then those on which
    claims rest; hopeless ones last, and then the run's own calibration.
    """
    own = states[0].point.study in ALWAYS
    hopeless = pair.need > min(state.effort.most_launches for state in states)
    later = not pair.tested and all(state.precedence == LATER for state in states)
    seconds = (pair.need - pair.launches) * sum(state.seconds() for state in states)
    other = all(state.precedence > CLAIMED for state in states)
    return own, hopeless, later, pair.tested, other, seconds
