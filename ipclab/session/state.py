"""The points of a run while it is measured: what was taken of each, and what is not on disk yet."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ipclab.errors import LabError
from ipclab.frames.points import LaunchMedians
from ipclab.spawn.proof import AwaitedError, PayloadError
from ipclab.store.launch import Launch, samples_of
from ipclab.store.point import Point
from ipclab.store.record import Record
from ipclab.store.samples import Measured, decode, encode
from ipclab.store.validity import MOST_ROWS
from ipclab.studies.limits import LimitsStudy
from ipclab.studies.profile import Profile

FAILURES_ALLOWED = 2
# Of a point's least launches, how many are made again at most because they were disturbed
REPEATED = 0.5
ENOUGH, DECIDED, BUDGET = "enough", "decided", "budget"
SECONDS = 2.0  # between two times of storing, at least
SHARE = 0.1  # of the time that storing may take
MOST_BYTES = 512 << 20  # that are kept in memory before they are stored


@dataclass
class State:
    """A point on its way: what was taken of its launches, and launches that are not on disk yet."""

    point: Point
    effort: Profile
    taken: list[LaunchMedians] = field(default_factory=list)
    clean: int = 0
    spent_ns: int = 0
    samples: int = 0  # of all sessions
    pending: list[Launch] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    stop: str = ENOUGH
    stored: str = ""  # the stop that is on disk
    earlier: bool = False  # sessions before have launches on disk
    allowed: float = FAILURES_ALLOWED
    precedence: int = 0  # the greater, the later it goes on where time is short
    alone: bool = False  # no contest compares it

    def add(self, launch: Launch) -> None:
        """Take a launch into account, of this session or of one before."""
        self.taken.append(LaunchMedians.of(launch, len(self.taken)))
        self.clean += not launch.flags
        self.spent_ns += launch.elapsed_ns
        self.samples += samples_of(launch)

    def fail(self, error: LabError) -> None:
        """Note a launch that failed; a mechanism whose data arrived wrong gets no other."""
        self.failures.append(str(error))
        if isinstance(error, PayloadError) and not isinstance(error, AwaitedError):
            self.allowed = 0

    @property
    def lost(self) -> bool:
        """Tell whether the point is given up."""
        return len(self.failures) > self.allowed

    @property
    def full(self) -> bool:
        """Tell whether a file with more launches of the point could not be read."""
        return self.samples > MOST_ROWS // 2

    @property
    def ended(self) -> bool:
        """Tell whether the point gets no more launches, whatever is asked."""
        return self.lost or self.full or len(self.taken) >= self.effort.most_launches

    def lacks(self, undisturbed: bool = False) -> int:
        """Return how many launches are missing to its least number.

        Of `undisturbed` ones, what has not come so far was left out for want of time, and gets none.
        """
        if self.lost or self.full:
            return 0
        least = self.effort.least_launches
        lacking = max(0, least - len(self.taken))
        if not undisturbed:
            return lacking
        most = min(least + int(REPEATED * least), self.effort.most_launches)
        return 0 if lacking else max(0, min(least - self.clean, most - len(self.taken)))

    def can_vary(self) -> bool:
        """Tell whether the number of launches follows from what they show: it was not asked for."""
        return self.effort.most_launches > self.effort.least_launches

    @property
    def is_limit(self) -> bool:
        """Tell whether the point is a limit."""
        return self.point.study == LimitsStudy.name

    @property
    def kind(self) -> str:
        """What the point is of, in words: its study and arm."""
        return f"{self.point.study} {self.point.levels.get('arm', '')}".strip()

    def seconds(self) -> float:
        """Return how long one launch takes."""
        return self.spent_ns / 1e9 / max(1, len(self.taken))


def besides_limits(states: Iterable[State]) -> list[State]:
    """Return the states of points that are no limits: what is compared."""
    return [state for state in states if not state.is_limit]


@dataclass
class PointStates:
    """The points of `run` on disk, and those of this session; `efforts` by study."""

    run: Record
    efforts: Mapping[str, Profile]
    first_heat: int = 0  # of this session
    held: dict[str, State] = field(default_factory=dict)
    last: float = field(default_factory=time.monotonic)
    cost: float = 0.0
    order: int = 0
    heat: int = 0

    def states(self, points: Iterable[Point]) -> dict[str, State]:
        """Return the state of each point, with the launches of it that are on disk."""
        for point in points:
            state = self.held[point.id] = State(point, self.efforts[point.study])
            if not self.run.has(point, lambda line: None):
                continue
            before = decode(self.run.path / self.run.file(point))
            for launch in before.launches:
                self.order = max(self.order, launch.order)
                heat = LaunchMedians.of(launch, 0).heat
                if heat < self.first_heat:  # of a session before
                    state.earlier = True
                    state.samples += samples_of(launch)
                    continue
                state.stop, state.stored = before.stop, before.stop
                state.add(launch)
                self.heat = max(self.heat, heat)
        return self.held

    def store(self, now: bool) -> None:
        """Store what is not on disk yet: `now`, or when it is time to."""
        waited = time.monotonic() - self.last
        pending = [launch for state in self.held.values() for launch in state.pending]
        size = sum(values.nbytes for launch in pending for values in launch.samples.values())
        if not (now or waited > max(SECONDS, self.cost / SHARE) or size > MOST_BYTES):
            return
        began = time.monotonic()
        changed = [
            state
            for state in self.held.values()
            if state.taken and not state.lost
            if state.pending or state.stop != state.stored
        ]
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
        launches, failures = list(state.pending), list(state.failures)
        if state.earlier or len(state.taken) > len(launches):
            held = decode(self.run.path / self.run.file(state.point))
            launches = [*held.launches, *launches]
            failures = list(dict.fromkeys([*held.failures, *failures]))
        return Measured(state.point, launches, state.stop, failures)
