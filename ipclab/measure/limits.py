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
    results = _bounded(run)
    for number in range(REPEATS):
        held = {_key(each.point): each for each in _limits(run)}
        again = [held[key].point for key in doubtful(list(held.values()), results)]
        if not again:
            return
        progress.say(f"{len(again)} limits are measured again: a mechanism beat them, or their best launches differ")
        for point, more in _launched(again, launch, f"{seed} {number}", progress):
            before = held[_key(point)]
            orders, rounds = count(max(each.order for each in before.launches) + 1), count(_last_round(before) + 1)
            made = [replace(each, order=next(orders), facts={**each.facts, ROUND: next(rounds)}) for each in more]
            run.add(point, encode(replace(before, launches=[*before.launches, *made])))


def doubtful(limits: list[Measured], results: list[tuple[Point, str, float]]) -> list[Key]:
    """Return the limits that have two best launches far apart, or that a result (point, op, median) stayed below."""
    floors = Floors({_key(each.point): _medians(each, each.op_names()[0]) for each in limits})
    found = dict.fromkeys(floors.wide())
    for point, op, median in results if limits else ():
        floor = floors.under(point.study, op, point.key())
        if floor and median < floor.ns:
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


def _bounded(run: RunFolder) -> list[tuple[Point, str, float]]:
    """Return the median of each op of the points in `run` whose studies have an op with a limit."""
    bounded = [name for name, each in studies().items() if each.limits]
    measured = [decode(each) for name in bounded for each in run.checked(f"points/{name}/").values()]
    return [(each.point, op, float(np.median(_medians(each, op)))) for each in measured for op in each.op_names()]


def _last_round(measured: Measured) -> int:
    """Return the last round of a point; in a run of old, its k-th launch is of round k."""
    return max(int(str(each.facts.get(ROUND, number))) for number, each in enumerate(measured.launches))


def _key(point: Point) -> Key:
    return point.backend, point.size_bytes, point.placement


def _medians(measured: Measured, op: str) -> list[float]:
    return [float(np.median(launch.times(op))) for launch in measured.launches]
