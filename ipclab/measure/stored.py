"""What a session keeps of a run on disk: launches are added to the files of their points now and then."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ipclab.measure.rounds import State
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured, decode, encode
from ipclab.studies.profile import Profile

SECONDS = 2.0  # between two times of storing, at least
SHARE = 0.1  # of the time that storing may take
MOST_BYTES = 512 << 20  # that are kept in memory before they are stored


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
        self.run.add_all((state.point, encode(self._measured(state))) for state in changed)
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
