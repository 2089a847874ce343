"""The limits after the studies: those that are wide, or that a mechanism beat, are measured again."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count

import numpy as np

from ipclab.errors import LabError
from ipclab.frames.points import ROUND
from ipclab.measure.progress import Progress
from ipclab.measure.rounds import shuffled
from ipclab.spawn.launcher import SessionError
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured, decode, encode
from ipclab.studies.installed import studies
from ipclab.studies.limits import LAUNCHES, LimitsStudy
from ipclab.studies.limits.floors import Floors, Key

REPEATS = 3  # what four times as many launches do not settle, the report says


def settle(run: RunFolder, launch: Callable[[Point], Launch], seed: int, progress: Progress) -> None:
    """Launch the doubtful limits of `run` again, at most `REPEATS` times; all launches are kept.

    `launch` makes one launch of a point and raises `LabError` when it failed, which costs that launch alone.
    """
    for number in range(REPEATS):
        held = {_key(each.point): each for each in _limits(run)}
        again = [held[key].point for key in doubtful(run, list(held.values()))]
        if not again:
            return
        progress.say(f"{len(again)} limits are measured again: a mechanism beat them, or their best launches differ")
        for point, more in _launched(again, launch, f"{seed} {number}", progress):
            before = held[_key(point)]
            orders, rounds = count(max(each.order for each in before.launches) + 1), count(_last_round(before) + 1)
            made = [replace(each, order=next(orders), facts={**each.facts, ROUND: next(rounds)}) for each in more]
            run.add(point, encode(replace(before, launches=[*before.launches, *made])))


def doubtful(run: RunFolder, limits: list[Measured]) -> list[Key]:
    """Return the limits that have two best launches far apart, or that a point of `run` stayed below."""
    floors = Floors.of({_key(each.point): _medians(each, each.op_names()[0]) for each in limits})
    found = dict.fromkeys(floors.wide())
    for measured in _bounded(run) if limits else ():
        for op in measured.op_names():
            floor = floors.under(measured.point.study, op, measured.point.key())
            if floor and np.median(_medians(measured, op)) < floor.ns:
                found |= dict.fromkeys(floor.limits)
    return list(found)


def _launched(
    points: list[Point], launch: Callable[[Point], Launch], seed: str, progress: Progress
) -> Iterator[tuple[Point, list[Launch]]]:
    made: dict[str, list[Launch]] = {point.id: [] for point in points}
    progress.start("limits again", LAUNCHES * len(points))
    try:
        for point in (point for number in range(LAUNCHES) for point in shuffled(points, seed, number)):
            try:
                made[point.id].append(launch(point))
            except SessionError:
                raise
            except LabError as error:
                progress.say(f"{point.study} {point.id}: {error}")
            progress.step()
    finally:
        progress.end()
    yield from ((point, made[point.id]) for point in points)


def _limits(run: RunFolder) -> Iterator[Measured]:
    return map(decode, run.checked(f"points/{LimitsStudy.name}/").values())


def _bounded(run: RunFolder) -> Iterator[Measured]:
    """Yield the points of the studies that have an op with a limit."""
    for name in [name for name, each in studies().items() if each.limits]:
        yield from map(decode, run.checked(f"points/{name}/").values())


def _last_round(measured: Measured) -> int:
    """Return the last round of a point; in a run of old, its k-th launch is of round k."""
    return max(int(str(each.facts.get(ROUND, number))) for number, each in enumerate(measured.launches))


def _key(point: Point) -> Key:
    return point.backend, point.size_bytes, point.placement


def _medians(measured: Measured, op: str) -> list[float]:
    return [float(np.median(launch.times(op))) for launch in measured.launches]
