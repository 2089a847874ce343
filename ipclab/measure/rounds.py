"""The runner: launches of many points, interleaved in a seeded order, until each point's stopping rule ends it."""

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from ipclab.errors import LabError
from ipclab.measure.progress import Progress
from ipclab.measure.stopping import Precision
from ipclab.spawn.launcher import SessionError
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.store.samples import Measured
from ipclab.studies.profile import Profile

FAILURES_ALLOWED = 2
TARGET = 0.1
MeasureLaunch = Callable[[Point], Launch]
Store = Callable[[Point, Measured | str], None]


@dataclass
class Progressing:
    """A point on its way: its launches so far, its rule, what failed."""

    point: Point
    rule: Precision
    launches: list[Launch] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def result(self) -> Measured | str | None:
        """Return the finished point, the reason why it was given up, or None when it goes on."""
        if len(self.failures) > FAILURES_ALLOWED:
            return self.failures[-1]
        stop = self.rule.finished()
        return Measured(self.point, self.launches, stop, self.failures) if stop else None


def blocks(points: Iterable[Point]) -> Iterator[list[Point]]:
    """Yield the points that are measured interleaved, in the order of the study."""
    for _, members in groupby(points, key=lambda point: (point.study, point.block)):
        yield list(members)


def shuffled(points: list[Point], seed: int | str, round_number: int) -> list[Point]:
    """Return `points` in an order that follows from the run's seed, the block and the round alone."""
    label = f"{seed} {points[0].study} {points[0].block} {round_number}"
    order = sorted(points, key=lambda point: point.id)
    random.Random(hashlib.sha256(label.encode()).digest()).shuffle(order)
    return order


def measure(
    points: list[Point], profile: Profile, seed: int, launch: MeasureLaunch, store: Store, progress: Progress
) -> None:
    """Measure `points` and hand each to `store` when it is finished, or the reason why it was given up.

    `launch` makes one launch of a point and raises `LabError` when it failed; more than two failures end the point,
    never the run. A `SessionError` ends the measuring and leaves the run unfinished.
    """
    if not points:
        return
    progress.start(points[0].study, len(points) * profile.most_launches)
    try:
        for block in blocks(points):
            _measure_block(block, profile, seed, launch, store, progress)
    finally:
        progress.end()


def _measure_block(
    block: list[Point], profile: Profile, seed: int, launch: MeasureLaunch, store: Store, progress: Progress
) -> None:
    limits = profile.least_launches, profile.most_launches, TARGET
    going = {point.id: Progressing(point, Precision(point.primary, *limits)) for point in block}
    round_number = 0
    while going:
        round_number += 1
        for point in shuffled([state.point for state in going.values()], seed, round_number):
            state = going[point.id]
            before = state.rule.launches
            _launch_once(state, launch, progress)
            progress.step(state.rule.launches - before)  # a launch that failed is made again
            result = state.result()
            if result is None:
                continue
            store(point, result)
            progress.step(profile.most_launches - state.rule.launches)
            del going[point.id]


def _launch_once(state: Progressing, launch: MeasureLaunch, progress: Progress) -> None:
    try:
        done = launch(state.point)
    except SessionError:
        raise
    except LabError as error:
        state.failures.append(str(error))
        progress.say(f"{state.point.study} {state.point.id}: {error}")
    else:
        state.launches.append(done)
        state.rule.add(done)
