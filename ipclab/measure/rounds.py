"""The runner: rounds over the whole run, a launch of each point that still needs one, in a seeded order.

Every point gets the launches that a test needs at least, disturbed ones repeated; then the points of open questions get
more, to the next look, until all are answered, the launches are used up or the time has gone.
"""

import hashlib
import random
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from ipclab.errors import LabError
from ipclab.frames.points import ROUND
from ipclab.measure.progress import Progress
from ipclab.spawn.launcher import SessionError
from ipclab.stats.family import LOOKS
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.studies.installed import ALWAYS
from ipclab.studies.profile import Profile

FAILURES_ALLOWED = 2
REPEATED = 0.5  # of a point's least launches, how many are made again at most because they were disturbed
ENOUGH, DECIDED, BUDGET = "enough", "decided", "budget"


@dataclass
class State:
    """A point on its way: what was taken, by round (medians by op), and launches that are not on disk yet."""

    point: Point
    effort: Profile
    least: int = 0
    taken: list[tuple[int, Mapping[str, float]]] = field(default_factory=list)
    clean: int = 0
    spent_ns: int = 0
    pending: list[Launch] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    stop: str = ENOUGH
    stored: str = ""  # the stop that is on disk

    def add(self, launch: Launch) -> None:
        """Take a launch into account, of this session or of one before."""
        number = launch.facts.get(ROUND, len(self.taken))
        medians = {op: float(np.median(launch.times(op))) for op in launch.samples}
        self.taken.append((int(str(number)), medians))
        self.clean += not launch.flags
        self.spent_ns += launch.elapsed_ns

    @property
    def lost(self) -> bool:
        """Tell whether the point is given up."""
        return len(self.failures) > FAILURES_ALLOWED

    def lacks(self) -> int:
        """Return how many launches are missing to the least that it gets, disturbed ones not counted."""
        least = max(self.least, self.effort.least_launches)
        room = least + int(REPEATED * least) - len(self.taken)
        return 0 if self.lost else max(0, min(least - self.clean, room, self.effort.most_launches - len(self.taken)))

    def seconds(self) -> float:
        """Return how long one launch takes."""
        return self.spent_ns / 1e9 / max(1, len(self.taken))


@dataclass(frozen=True)
class Question:
    """Two points that are not told apart after `launches` of each; `need` is how many would do it, as it looks."""

    points: tuple[str, str]
    launches: int
    need: float


@dataclass(frozen=True)
class Asking:
    """What is asked of the points so far: the least launches of each by its contest's size, and the open questions."""

    least: Callable[[Iterable[State]], Mapping[str, int]]
    open: Callable[[Iterable[State]], Sequence[Question]]


@dataclass
class Rounds:
    """The rounds of one session. `launch` makes a launch of a point and raises `LabError` when it failed.

    `begin` is called before each round, `store` with the states after it, `left` says how many seconds are left.
    """

    states: Mapping[str, State]
    seed: int
    launch: Callable[[Point, int], Launch]
    begin: Callable[[], None]
    store: Callable[[bool], None]
    left: Callable[[], float]
    progress: Progress
    number: int = 0

    def measure(self, asking: Asking) -> None:
        """Measure until there is nothing left to do, and say why each point ended.

        More than two failures end a point, never the run. A `SessionError` ends the measuring. What was launched is
        stored whatever happens.
        """
        every = list(self.states.values())
        self.number = max((number for state in every for number, _ in state.taken), default=0)
        try:
            self._stage(lambda state: min(1, state.lacks()) if not state.taken else 0)  # tells what will be compared
            for name, least in asking.least(every).items():
                self.states[name].least = least
            self._stage(State.lacks)
            while goals := self._goals(questions := asking.open(every)):
                for name in goals:
                    self.states[name].stop = DECIDED
                self._stage(lambda state: goals.get(state.point.id, 0) - len(state.taken))
            for name in chain.from_iterable(each.points for each in questions):
                self.states[name].stop = BUDGET
        finally:
            self.store(True)

    def _stage(self, lacks: Callable[[State], int]) -> None:
        """Make rounds until no point lacks a launch."""

        def wanted() -> list[State]:
            return [state for state in self.states.values() if not state.lost and lacks(state) > 0]

        if not (going := wanted()):
            return
        self.progress.start(f"rounds from {self.number + 1}", sum(map(lacks, going)))
        try:
            while going:
                self._round(going)
                going = wanted()
                self.store(False)
        finally:
            self.progress.end()

    def _round(self, going: list[State]) -> None:
        self.number += 1
        self.begin()
        for point in shuffled([state.point for state in going], self.seed, self.number):
            state = self.states[point.id]
            try:
                done = self.launch(point, self.number)
            except SessionError:
                raise
            except LabError as error:
                state.failures.append(str(error))
                self.progress.say(f"{point.study} {point.id}: {error}")
            else:
                state.add(done)
                state.pending.append(done)
                self.progress.step()

    def _goals(self, questions: Sequence[Question]) -> dict[str, int]:
        """Return to how many launches points go on: the next look of the questions that the time is enough for.

        Those that few seconds will answer come first, hopeless ones last, and then the run's own calibration.
        """
        goals, left = dict[str, int](), self.left()
        for question in sorted(questions, key=self._price):
            pair = [self.states[name] for name in question.points]
            place = bisect_right(LOOKS, question.launches)
            most = min(state.effort.most_launches for state in pair)
            more = (LOOKS[place] if place < len(LOOKS) else most) - question.launches
            if any(state.lost or len(state.taken) + more > most for state in pair):
                continue
            asked = {state.point.id: len(state.taken) + more for state in pair}
            cost = sum(
                (goal - max(goals.get(name, 0), len(self.states[name].taken))) * self.states[name].seconds()
                for name, goal in asked.items()
                if goal > goals.get(name, 0)
            )
            if cost <= left:
                left -= cost
                goals |= {name: max(goal, goals.get(name, 0)) for name, goal in asked.items()}
        return goals

    def _price(self, question: Question) -> tuple[bool, bool, float]:
        pair = [self.states[name] for name in question.points]
        own = pair[0].point.study in ALWAYS
        hopeless = question.need > min(state.effort.most_launches for state in pair)
        return own, hopeless, (question.need - question.launches) * sum(state.seconds() for state in pair)


def shuffled(points: list[Point], seed: int | str, number: int) -> list[Point]:
    """Return `points` in an order that follows from the run's seed and the number of the round alone."""
    order = sorted(points, key=lambda point: point.id)
    random.Random(hashlib.sha256(f"{seed} {number}".encode()).digest()).shuffle(order)
    return order
