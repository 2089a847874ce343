"""The limits that a run measures: those that bound the points of its other studies."""

from collections.abc import Iterable, Sequence

from ipclab.bounds.floors import COPYING, bound_of, native
from ipclab.store.point import Point
from ipclab.studies.interface import Study
from ipclab.studies.limits import PAIRS, LimitsStudy, limit_point, queue_refusal
from ipclab.studies.questions import question, questions

LEAST_COPIED = 4_000  # what is shorter takes no time that could show that a result is impossible


def _bounded_ops(point: Point) -> list[str]:
    """Return the ops of the study of `point` that something bounds."""
    return list(dict.fromkeys(bound.op for bound in question(point.study).bounds))


def limits_of(point: Point) -> list[Point]:
    """Return the limits of the ops of study point `point`, measured or not."""
    levels = point.key()
    natives = [native(questions(), point.study, op, levels) for op in _bounded_ops(point)]
    return [limit_point(*limit) for limit in natives if limit]


def wanted(points: Iterable[Point], copied: Iterable[int]) -> list[Point]:
    """Return the limits that other studies' `points` need: bounds of ops, and copies as checks.

    `copied` are the sizes (bytes) that memcpy copies anyway.
    """
    limits: dict[str, Point] = {}
    passed = set[int]()
    for point in points:
        for limit in limits_of(point):
            if limit.placement in PAIRS and not queue_refusal(limit):
                limits[limit.id] = limit
        bounds = [bound_of(questions(), point.study, op, point.key()) for op in _bounded_ops(point)]
        if any(bound and bound.copies for bound in bounds):
            passed.add(point.size_bytes)
    copies = {*copied, *(point.size_bytes for point in limits.values() if point.backend == COPYING)}
    for size in sorted(passed):
        if size >= LEAST_COPIED and not any(size / 2 <= other <= size for other in copies):
            copies.add(size)
            limit = limit_point(COPYING, size, PAIRS[0])
            limits[limit.id] = limit
    return [*limits.values()]


def with_floors(measured: Iterable[tuple[Study, list[Point]]]) -> list[tuple[Study, list[Point]]]:
    """Return the studies with their points; limits have what bounds the others' points too."""
    every = list(measured)
    others = [
        point for study, points in every if study.name != LimitsStudy.name for point in points
    ]
    for number, (study, points) in enumerate(every):
        if points and study.name == LimitsStudy.name:
            copied = [point.size_bytes for point in points if point.backend == COPYING]
            by_id = {point.id: point for point in [*points, *wanted(others, copied)]}
            every[number] = study, [*by_id.values()]
    return every


def bounding(points: Sequence[Point]) -> tuple[dict[str, list[str]], list[str]]:
    """Return by study point which limit points of `points` bound it, and all of these, by name."""
    names = [point.id for point in points if point.study == LimitsStudy.name]
    by_point = {}
    for point in points:
        if point.study != LimitsStudy.name:
            theirs = {limit.id for limit in limits_of(point)}
            by_point[point.id] = [name for name in names if name in theirs]
    return by_point, names
