"""The runner: rounds over the whole run, a heat of each open question, in a seeded order.

Every heat is made as often as a test needs at least, while there is time: first those of what the
texts ran and their claims rest on, then all; those on which nothing rests are made later where that
would take more than a share of it. After that the points of open questions get more, to the next
look, until all are answered or hopeless, the launches are used up or the time has gone: the
profile's, and more of it part by part while too many questions are open. What is left of the
profile's time goes to what claims rest on and no contest compares, and to heats that were disturbed.
In the end the limits are measured again that give reason to doubt. Launches are added to the files
of their points now and then.
"""

import hashlib
import math
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, repeat
from statistics import median_low

from ipclab.errors import LabError
from ipclab.session.goals import Allowance, Judged, left_out, next_goals
from ipclab.session.progress import Progress
from ipclab.session.state import BUDGET, DECIDED, State, besides_limits
from ipclab.store.launch import Launch
from ipclab.studies.interface import CLAIMED
from ipclab.studies.limits import LAUNCHES

CLAIMED_LAUNCHES = 30  # of a point that claims rest on: more make its value hardly any narrower
LIMIT_REPEATS = 3  # what four times as many launches do not settle, the report says
FIRST_SHARE = 0.6  # of the time for the first heats: what nothing rests on is left out above it
WARM_SECONDS = 3.0  # of unrecorded heats at the start of a session, whose first launches run slow
LEFT_OUT = (
    "the first heats of everything take too much of the profile's time here; so these come after"
    " open questions, if there is time, the most important first: "
)
Launched = Mapping[str, Launch | LabError]  # by point: its launch, or why it failed


@dataclass
class Rounds:
    """The rounds of one session over `heats`, the names of points that are measured side by side.

    `launch` runs one heat of the named points in a round and returns what became of each. `begin`
    is called before each round, `store` after it; `time` says how many seconds are left.
    """

    states: Mapping[str, State]
    heats: Sequence[Sequence[str]]
    seed: int
    launch: Callable[[Sequence[str], int], Launched]
    begin: Callable[[], None]
    store: Callable[[bool], None]
    time: Allowance
    progress: Progress
    number: int = 0
    left_out: Collection[str] = ()  # points that shall go on later, if at all

    def measure(
        self,
        judge: Callable[[Iterable[State]], Judged],
        doubtful: Callable[[Iterable[State]], Sequence[str]],
    ) -> None:
        """Measure until there is nothing left to do, and say why each point ended.

        Of the points so far, `judge` returns the pairs that are not told apart and `doubtful` the
        names of the limits that are in doubt.
        More than two failures end a point, as one does that proves wrong data, never the run. A
        `SessionError` ends the measuring. What was launched is stored whatever happens.
        """
        every = list(self.states.values())
        self.number = max((taken.round for state in every for taken in state.taken), default=0)
        try:
            self._first()
            judged = judge(every)
            while goals := self._goals(judged):
                for name in goals:
                    self.states[name].stop = DECIDED
                self._stage(
                    partial(self._towards, goals),
                    lambda state: goals.get(state.point.id, 0) - len(state.taken),
                )
                judged = judge(every)
            if self.time.most_left() > 0 and any(state.lacks() for state in every):
                self._least_in_time(self.time.most_left)
                judged = judge(every)
            self._stage(self._told_alone, lambda state: 0)
            self._stage(self._disturbed, partial(State.lacks, undisturbed=True))
            lacking = [state.point.id for state in every if state.lacks()]
            for name in chain(lacking, *(pair.points for pair in judged.open)):
                self.states[name].stop = BUDGET
            for _ in range(LIMIT_REPEATS):
                if not (again := doubtful(every)):
                    break
                self._again(again)
        finally:
            self.store(True)

    def _first(self) -> None:
        """Make each heat as often as a test needs at least, if there is time for all."""
        rest = (1 - FIRST_SHARE) * self.time.left()
        self._warm_up()
        if self.time.left() <= 0:  # a profile without time, or what is left of a killed run
            self._least(lambda: None)
            return
        self._least_in_time(lambda: self.time.left() - rest)
        if lacking := [state for state in self.states.values() if state.lacks()]:
            ordered = sorted(lacking, key=lambda state: state.precedence)
            kinds = dict.fromkeys(state.kind for state in ordered)
            self.progress.say(LEFT_OUT + ", ".join(kinds))

    def _least_in_time(self, later_seconds: Callable[[], float]) -> None:
        """Make heats as often as a test needs, the most important first, while there is any time.

        Those on which nothing rests are made while they fit `later_seconds`.
        """

        def leave_out() -> None:
            most = self.time.most_left()
            self.left_out = left_out(self.states, self.heats, most, later_seconds())

        self._least(leave_out)
        self.left_out = ()

    def _least(self, before_round: Callable[[], None]) -> None:
        for wanted in (self._claimed, self._lacking):
            self._stage(wanted, State.lacks, before_round)

    def _goals(self, judged: Judged) -> dict[str, int]:
        """Return how many launches points go on to: in the profile's time, else in a part more."""
        if goals := next_goals(self.states, judged.open, self.time.left()):
            return goals
        more = next_goals(self.states, judged.open, self.time.part_more(judged))
        if more:
            self.progress.say(self.time.told(judged))
        return more

    def _lacking(self, heat: Sequence[str]) -> Sequence[str]:
        """Return whom to launch of `heat` to reach the least number: all that can go on, or none.

        A heat is made again while one of its contestants lacks a launch, which is still to come,
        failed, or was not stored before a run was killed.
        """
        here = [name for name in heat if name not in self.left_out]
        return self._going(here) if any(state.lacks() for state in self._compared(here)) else ()

    def _claimed(self, heat: Sequence[str]) -> Sequence[str]:
        """Return whom of `heat` lacks launches where a claim rests on one of it, or nobody."""
        rests = any(self.states[name].precedence == CLAIMED for name in heat)
        return self._lacking(heat) if rests else ()

    def _told_alone(self, heat: Sequence[str]) -> Sequence[str]:
        """Return those of `heat` on whose values claims rest and that no contest compares.

        They go on while there is time: the more launches, the narrower their values.
        """
        if self.time.left() <= 0:
            return ()
        states = [self.states[name] for name in heat]
        return [
            state.point.id
            for state in states
            if state.alone and state.precedence == CLAIMED and not state.ended
            if len(state.taken) < CLAIMED_LAUNCHES
        ]

    def _disturbed(self, heat: Sequence[str]) -> Sequence[str]:
        """Return whom to launch of `heat`, if most of it was disturbed and there is time."""
        states = self._compared(heat)
        if not states or self.time.left() <= 0:
            return ()
        lacking = median_low([state.lacks(undisturbed=True) for state in states])
        return self._going(heat) if lacking else ()

    def _compared(self, heat: Sequence[str]) -> list[State]:
        """Return the states of `heat` that are not lost, without limits unless there are only such.

        A limit has launches in the heats of all that it bounds: it says nothing of this one.
        """
        states = [self.states[name] for name in heat if not self.states[name].lost]
        return besides_limits(states) or states

    def _going(self, heat: Sequence[str]) -> Sequence[str]:
        """Return who of `heat` can go on: no limit that has enough, whatever it bounds needs."""
        going = []
        for name in heat:
            state = self.states[name]
            enough = state.is_limit and len(state.taken) >= state.effort.least_launches
            if not (state.ended or enough):
                going.append(name)
        return going

    def _towards(self, goals: Mapping[str, int], heat: Sequence[str]) -> Sequence[str]:
        """Return whom of `heat` to launch for its `goals`, in launches by point."""
        going = [name for name in heat if name in goals and not self.states[name].ended]
        lacks = any(len(self.states[name].taken) < goals[name] for name in going)
        return going if lacks else ()

    def _stage(
        self,
        wanted: Callable[[Sequence[str]], Sequence[str]],
        missing: Callable[[State], int],
        before_round: Callable[[], None] = lambda: None,
    ) -> None:
        """Make rounds until no heat wants anybody; each contestant lacks `missing` launches."""

        def going() -> list[Sequence[str]]:
            before_round()
            return [*filter(None, map(wanted, self.heats))]

        if heats := going():
            launches = 0
            for names in heats:
                rounds = median_low([missing(self.states[name]) for name in names])
                launches += max(1, rounds) * len(names)
            self._rounds(f"rounds from {self.number + 1}", launches, heats, going)

    def _rounds(
        self,
        what: str,
        launches: int,
        heats: Sequence[Sequence[str]],
        following: Callable[[], Sequence[Sequence[str]]],
    ) -> None:
        """Make rounds of `heats` and of those `following`; they take about so many `launches`."""
        self.progress.start(what, launches)
        try:
            while heats:
                self._round(heats)
                self.store(False)
                heats = following()
        finally:
            self.progress.end()

    def _round(self, going: Sequence[Sequence[str]]) -> None:
        self.number += 1
        self.begin()
        for heat in shuffled(going, self.seed, self.number):
            for name, done in self.launch(heat, self.number).items():
                state = self.states[name]
                if isinstance(done, LabError):
                    state.fail(done)
                    self.progress.say(f"{state.point.study} {name}: {done}")
                else:
                    state.add(done)
                    state.pending.append(done)
                    self.progress.step(state.point.study)

    def _warm_up(self) -> None:
        """Run heats that are not recorded until the session is warm, if there is time for more."""
        room = min(WARM_SECONDS, self.time.left() / 20)
        until = self.time.left() - room
        for heat in shuffled([heat for heat in self.heats if self._lacking(heat)], self.seed, 0):
            if self.time.left() <= until or room <= 0:
                return
            self.launch(heat, 0)

    def _again(self, limits: Sequence[str]) -> None:
        """Launch each of `limits` once more as often as at first.

        One that fails costs that launch alone.
        """
        saying = "limits are measured again, since a mechanism beat them"
        self.progress.say(f"{len(limits)} {saying}")
        for name in limits:
            self.states[name].allowed = math.inf
        heats = [[name] for name in limits]
        others = repeat(heats, LAUNCHES - 1)
        self._rounds("limits again", LAUNCHES * len(limits), heats, lambda: next(others, []))


def shuffled(heats: Sequence[Sequence[str]], seed: int, number: int) -> list[Sequence[str]]:
    """Return `heats` in an order that follows from the run's seed and the number of the round."""
    order = sorted(heats, key=list)
    random.Random(hashlib.sha256(f"{seed} {number}".encode()).digest()).shuffle(order)
    return order
