"""The runner: rounds over the whole run, a launch of each point that still needs one, in a seeded order.

Every point gets the launches that a test needs at least, disturbed ones repeated; then the points of open questions get
more, to the next look, until all are answered, the launches are used up or the time has gone. In the end the limits are
measured again that give reason to doubt. Launches are added to the files of their points now and then.
"""

import hashlib
import math
import random
import time
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
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured, decode, encode
from ipclab.studies.installed import ALWAYS
from ipclab.studies.limits import LAUNCHES
from ipclab.studies.profile import Profile

FAILURES_ALLOWED = 2
LIMIT_REPEATS = 3  # what four times as many launches do not settle, the report says
REPEATED = 0.5  # of a point's least launches, how many are made again at most because they were disturbed
ENOUGH, DECIDED, BUDGET = "enough", "decided", "budget"
SECONDS = 2.0  # between two times of storing, at least
SHARE = 0.1  # of the time that storing may take
MOST_BYTES = 512 << 20  # that are kept in memory before they are stored


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
    allowed: float = FAILURES_ALLOWED

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
        return len(self.failures) > self.allowed

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
    """What is asked of the points so far.

    The least launches of each by its contest's size, the open questions, and the limits that are in doubt.
    """

    least: Callable[[Iterable[State]], Mapping[str, int]]
    open: Callable[[Iterable[State]], Sequence[Question]]
    doubtful: Callable[[Iterable[State]], Sequence[str]]


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
            for _ in range(LIMIT_REPEATS):
                if not (again := [self.states[name] for name in asking.doubtful(every)]):
                    break
                self._again(again)
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

    def _again(self, limits: list[State]) -> None:
        """Launch each of `limits` once more as often as at first; one that fails costs that launch alone."""
        told = "limits are measured again: a mechanism beat them, or their best launches differ"
        self.progress.say(f"{len(limits)} {told}")
        self.progress.start("limits again", LAUNCHES * len(limits))
        try:
            for state in limits:
                state.allowed = math.inf
            for _ in range(LAUNCHES):
                self._round(limits)
                self.store(False)
        finally:
            self.progress.end()

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
            cost, asked = 0.0, dict[str, int]()
            for state in pair:
                sure = max(goals.get(state.point.id, 0), len(state.taken))
                asked[state.point.id] = max(sure, len(state.taken) + more)
                cost += (asked[state.point.id] - sure) * state.seconds()
            if cost <= left:
                left -= cost
                goals |= asked
        return goals

    def _price(self, question: Question) -> tuple[bool, bool, float]:
        pair = [self.states[name] for name in question.points]
        own = pair[0].point.study in ALWAYS
        hopeless = question.need > min(state.effort.most_launches for state in pair)
        return own, hopeless, (question.need - question.launches) * sum(state.seconds() for state in pair)


def shuffled(points: list[Point], seed: int, number: int) -> list[Point]:
    """Return `points` in an order that follows from the run's seed and the number of the round alone."""
    order = sorted(points, key=lambda point: point.id)
    random.Random(hashlib.sha256(f"{seed} {number}".encode()).digest()).shuffle(order)
    return order


@dataclass
class Kept:
    """The points of `run` on disk, and those of this session; `efforts` by study."""

    run: RunFolder
    efforts: Mapping[str, Profile]
    held: dict[str, State] = field(default_factory=dict)
    last: float = field(default_factory=time.monotonic)
    cost: float = 0.0
    order: int = 0

    def states(self, points: Iterable[Point]) -> dict[str, State]:
        """Return the state of each point, with the launches of it that are on disk."""
        for point in points:
            state = self.held[point.id] = State(point, self.efforts[point.study])
            if self.run.has(point, lambda line: None):
                before = decode(self.run.path / self.run.file(point))
                state.stop, state.stored = before.stop, before.stop
                for launch in before.launches:
                    state.add(launch)
                    self.order = max(self.order, launch.order)
        return self.held

    def store(self, now: bool) -> None:
        """Store what is not on disk yet: `now`, or when it is time to."""
        waited = time.monotonic() - self.last
        pending = [each for state in self.held.values() for each in state.pending]
        size = sum(values.nbytes for each in pending for values in each.samples.values())
        if not (now or waited > max(SECONDS, self.cost / SHARE) or size > MOST_BYTES):
            return
        began = time.monotonic()
        going = [state for state in self.held.values() if state.taken and not state.lost]
        changed = [state for state in going if state.pending or state.stop != state.stored]
        self.run.place((state.point, encode(self._measured(state))) for state in changed)
        for state in changed:
            state.pending.clear()
            state.stored = state.stop
        for state in self.held.values():
            if state.lost and state.point.id not in self.run.about["failures"]:
                self.run.fail(state.point, state.failures[-1])
        self.last = time.monotonic()
        self.cost = self.last - began

    def _measured(self, state: State) -> Measured:
        point, before, failures = state.point, list[Launch](), list(state.failures)
        if len(state.taken) > len(state.pending):
            held = decode(self.run.path / self.run.file(point))
            before, failures = held.launches, list(dict.fromkeys([*held.failures, *failures]))
        return Measured(point, [*before, *state.pending], state.stop, failures)
