"""A heat: contestants are launched together and take turns, so that all meet the same conditions.

Turns of a few milliseconds in a shuffled order make the ratio of two contestants vary 11 to 33
times less than launches of their own at other times do (duet benchmarking: Bulej and others, ICPE
2020; docs/evidence.md#why-turns has the figures).
"""

import itertools
import random
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from ipclab.errors import LabError
from ipclab.spawn.failures import LaunchError, LostError, SessionError
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role, Started, outcomes_of, send_to
from ipclab.spawn.worker import Outcome, Roles, Turn
from ipclab.store.point import Point

LEAST_TURNS = 4  # recorded of each contestant, or half of the planned ones, however long they last
# Stand in for a round's number where `Schedule.order` shuffles the beginnings and the ends.
BEGINNING, ENDING = -1, -2


@dataclass(frozen=True)
class Contestant:
    """One launch of `point` in a heat, by the workers of `roles`."""

    point: Point
    roles: Sequence[Role]

    @property
    def scheduler_places(self) -> bool:
        """Tell whether the scheduler chooses the CPUs of its two or more processes."""
        return len(self.roles) > 1 and any(len(role.cpus) > 1 for role in self.roles)


@dataclass(frozen=True)
class Schedule:
    """How the contestants of a heat take turns, in an order that follows from `seed`.

    `turns` of each are recorded, or fewer, but at least `least`, where these last longer than
    `most_ns` (0: however long it takes). Before these, `warm_turns` of each are not, and further
    ones until `warm_ns` have passed. `seconds` is the deadline of a contestant's beginning, of each
    of its turns, and of its end.
    """

    turns: int = 1
    warm_turns: int = 0
    warm_ns: int = 0
    seed: int | str = 0
    seconds: float = 30.0
    most_ns: int = 0

    @property
    def least(self) -> int:
        """Return how many turns of each are recorded however long they last: two at least.

        Where a turn is long, another heat tells more than another turn.
        """
        return min(LEAST_TURNS, max(2, self.turns // 2))

    def enough(self, number: int, elapsed_ns: int) -> bool:
        """Tell whether `number` recorded turns of each, which took `elapsed_ns`, will do."""
        long = bool(self.most_ns) and number >= self.least and elapsed_ns > self.most_ns
        return number >= self.turns or long

    def order(self, names: Iterable[str], number: int) -> list[str]:
        """Return `names` in the order of cycle `number` of turns."""
        shuffled = sorted(names)
        random.Random(f"{self.seed} {number}").shuffle(shuffled)
        return shuffled

    def cycles(
        self, parked: Collection[str], agreed: Callable[[bool], bool] = bool
    ) -> Iterator[tuple[str, bool]]:
        """Yield whose turn it is and whether it is recorded: first the turns that warm up.

        In a cycle each contestant that is `parked` when it begins has a turn.

        What a clock decides is `agreed` on, where several processes follow one schedule.
        """
        numbers = itertools.count()

        def turns(recorded: bool) -> list[tuple[str, bool]]:
            return [(name, recorded) for name in self.order(parked, next(numbers))]

        steady = time.monotonic_ns() + self.warm_ns
        for _ in range(self.warm_turns):
            yield from turns(recorded=False)
        while agreed(time.monotonic_ns() < steady and bool(parked)):
            yield from turns(recorded=False)
        began = time.monotonic_ns()
        for done in itertools.count():
            enough = self.enough(done, time.monotonic_ns() - began)
            if self.most_ns and done >= self.least:
                enough = agreed(enough)
            if enough:
                return
            yield from turns(recorded=True)


# by the contestant's name: the outcome of each role, or why the contestant failed
HeatOutcomes = dict[str, dict[str, Outcome] | LabError]
Bench = Callable[[Mapping[str, Contestant], Schedule], HeatOutcomes]  # how a study runs a heat


def launch_alone(
    bench: Bench, point: Point, roles: Sequence[Role], seconds: float
) -> dict[str, Outcome]:
    """Run one launch of `point` by itself, with one turn; raises `LabError` when it fails."""
    outcome = bench({point.id: Contestant(point, roles)}, Schedule(seconds=seconds))[point.id]
    if isinstance(outcome, LabError):
        raise outcome
    return outcome


def together_or_alone(
    bench: Bench, heat: Mapping[str, Contestant], schedule: Schedule
) -> HeatOutcomes:
    """Run a heat whose contestants share processes; where it fails as a whole, run them one by one.

    So the failure is that of the contestant which makes it. Raises `SessionError` as `Heat.run`
    does.
    """
    try:
        return bench(heat, schedule)
    except SessionError:
        raise
    except LabError as error:
        if len(heat) == 1:
            return dict.fromkeys(heat, error)
    outcomes: HeatOutcomes = {}
    for name, contestant in heat.items():
        outcomes |= together_or_alone(bench, {name: contestant}, schedule)
    return outcomes


@dataclass
class Heat:
    """One heat: each contestant is brought to its first turn, all take turns, each is ended.

    While one of them begins, has its turn or ends, all others are asleep.
    """

    launcher: Launcher
    schedule: Schedule
    workers: dict[str, dict[str, Started]] = field(default_factory=dict)
    parked: dict[str, Roles] = field(default_factory=dict)
    outcomes: HeatOutcomes = field(default_factory=dict)
    stacks: dict[str, ExitStack] = field(default_factory=dict)

    def run(self, contestants: Mapping[str, Contestant]) -> HeatOutcomes:
        """Run the heat and return how each contestant ended; nothing of it is left.

        A contestant that fails costs no other its launch. Raises `SessionError` when one fork
        server after the other is lost.
        """
        try:
            for name in self.schedule.order(contestants, BEGINNING):
                self._begin(name, contestants[name].roles)
            for name, recorded in self.schedule.cycles(self.parked):
                self._go_on(name, Turn(self.parked[name], recorded))
            for name in self.schedule.order(self.parked, ENDING):
                self._go_on(name, Turn(None))
        except LostError as error:  # with the fork server all that still run are gone
            self.outcomes |= {name: error for name in contestants if name not in self.outcomes}
        finally:
            for stack in self.stacks.values():
                stack.close()
        return self.outcomes

    def _begin(self, name: str, roles: Sequence[Role]) -> None:
        """Start a contestant, which goes on to its first turn, or to its end if it takes none."""
        stack = self.stacks[name] = ExitStack()
        with self._charging(name):
            prefix = stack.enter_context(self.launcher.naming())
            self.workers[name] = stack.enter_context(self.launcher.running(roles, prefix))
            self._attend(name)

    def _go_on(self, name: str, turn: Turn) -> None:
        """Let a parked contestant go on, to its next turn or its end."""
        with self._charging(name):
            send_to(self.workers[name], turn, self.parked.pop(name))
            self._attend(name)

    def _attend(self, name: str) -> None:
        parked = self.launcher.attend(self.workers[name], self.schedule.seconds)
        if parked:
            self.parked[name] = parked
            return
        self.outcomes[name] = outcomes_of(self.workers[name])
        self.stacks[name].close()
        self.launcher.survived()

    @contextmanager
    def _charging(self, name: str) -> Iterator[None]:
        """Note what goes wrong inside as the contestant's own failure, and end it."""
        try:
            yield
        except LostError:
            raise
        except LaunchError as error:
            self.outcomes[name] = error
            self.parked.pop(name, None)
            self.stacks[name].close()
