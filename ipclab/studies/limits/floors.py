"""Floors: what bounds an op of a study, by the best launches of the limit that matches it.

Which limit that is says the op's `Bound`: a native program that does just what the op cannot avoid,
of as many bytes and in the same placement.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipclab.backends.installed import backends
from ipclab.store.point import Point
from ipclab.studies.installed import study as study_of
from ipclab.studies.interface import Bound, Study
from ipclab.studies.limits import PAIRS, PROGRAMS, LimitsStudy, limit_point, one_process, refused

Key = tuple[str, int, str]  # a limit: its name (see `called`), size in bytes, placement
SPINNING, COPYING, WAKING = "shm-spin", "memcpy", "futex-wake"
IN_PLACE = "view"  # a message that is read where it lies is copied by nobody
LEAST_BYTES = 100  # of a message that is not copied
LEAST_COPIED = 4_000  # what is shorter takes no time that could show that a result is impossible
FREAK = 1.5  # a best launch so far below the next one did something else, such as meet a receiver that was awake
LEAST_LAUNCHES = 3  # that show a freak
WIDE = 1.10  # a best launch that no other one comes near is luck, or the others are disturbed


@dataclass(frozen=True)
class Floor:
    """What an op cannot beat, in ns, and the limits that it follows from."""

    ns: float
    limits: tuple[Key, ...]


def called(limit: str, op: str) -> str:
    """Return what `op` of `limit` is called: the limit, and the op where there are several."""
    return f"{limit}.{op}" if len(PROGRAMS.get(limit, ())) > 1 else limit


def native(study: str, op: str, levels: Mapping[Any, Any]) -> Point | None:
    """Return the limit that does just what `op` of a point of `study` cannot avoid.

    `levels` are those of the point, `backend`, `size_bytes` and `placement` among them. None where
    there is no such native program.
    """
    bound = study_of(study).bound(op, levels)
    name = _named(bound, levels) if bound else ""
    if name not in PROGRAMS:
        return None
    size = LEAST_BYTES if levels.get("receive") == IN_PLACE else int(levels["size_bytes"])
    placement = PAIRS[0] if one_process(name) else str(levels["placement"])
    return limit_point(name, size, placement)


def _named(bound: Bound, levels: Mapping[Any, Any]) -> str:
    template = bound.native
    if not isinstance(template, str):
        template = template.get(str(levels.get("arm")), "")
    names = defaultdict(str, levels)
    if backend := backends().get(str(levels["backend"])):
        names |= {"mechanism": backend.floor, "flow": backend.flow}
    if str(levels.get("wait", "")).startswith("spin"):
        names["mechanism"] = SPINNING
    return template.format_map(names)


def limits_of(point: Point) -> list[Point]:
    """Return the limits of the ops of study point `point`, measured or not."""
    levels = point.key()
    natives = [native(point.study, op, levels) for op in study_of(point.study).limits]
    return [limit for limit in natives if limit]


def wanted(points: Iterable[Point], copied: Iterable[int]) -> list[Point]:
    """Return the limits that other studies' `points` need: bounds of ops, and copies as checks.

    `copied` are the sizes (bytes) that memcpy copies anyway.
    """
    limits: dict[str, Point] = {}
    passed = set[int]()
    for point in points:
        for limit in limits_of(point):
            if limit.placement in PAIRS and not refused(limit):
                limits[limit.id] = limit
        study, levels = study_of(point.study), point.key()
        bounds = [study.bound(op, levels) for op in study.limits]
        if any(bound and bound.copies for bound in bounds):
            passed.add(point.size_bytes)
    copies = {*copied, *(point.size_bytes for point in limits.values() if point.backend == COPYING)}
    for size in sorted(passed):
        if size >= LEAST_COPIED and not any(size / 2 <= other <= size for other in copies):
            copies.add(size)
            limit = limit_point(COPYING, size, PAIRS[0])
            limits[limit.id] = limit
    return [*limits.values()]


def bounded(measured: Iterable[tuple[Study, list[Point]]]) -> list[tuple[Study, list[Point]]]:
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
    """Return by study point the limit points of `points` that bound it, and all of them.

    Points are given by name.
    """
    names = [point.id for point in points if point.study == LimitsStudy.name]
    by_point = {}
    for point in points:
        if point.study != LimitsStudy.name:
            theirs = {limit.id for limit in limits_of(point)}
            by_point[point.id] = [name for name in names if name in theirs]
    return by_point, names


def _without_freak(medians: Sequence[float]) -> list[float]:
    """Return the medians, best first, without a best one that stands alone below two or more."""
    best_first = sorted(medians)
    alone = len(best_first) >= LEAST_LAUNCHES and best_first[0] * FREAK < best_first[1]
    return best_first[1:] if alone else best_first


class Floors:
    """The limits of a run, by the medians of each one's launches in ns."""

    def __init__(self, launches: Mapping[Key, Sequence[float]]) -> None:
        self.medians = {key: _without_freak(values) for key, values in launches.items()}

    def wide(self) -> list[Key]:
        """Return the limits whose two best launches lie further apart than `WIDE`."""
        return [
            key for key, values in self.medians.items() if self._best(key, 1) > WIDE * values[0]
        ]

    def under(self, study: str, op: str, levels: Mapping[Any, Any], place: int = 0) -> Floor | None:
        """Return what bounds `op` of a point of `study` with `levels`; None where no limit matches.

        `levels` are those of the point, `backend`, `size_bytes` and `placement` among them. `place`
        0 takes each limit by its best launch, 1 by the second best.
        """
        bound = study_of(study).bound(op, levels)
        if bound is None:
            return None
        limit = native(study, op, levels)
        name = called(limit.backend, op) if limit else ""
        measured = [key for key in self.medians if key[0] == name]
        if limit and measured:  # where of another placement alone, nothing stands in for it
            in_place = levels.get("receive") == IN_PLACE  # then that of the fewest bytes bounds it
            keys = [
                key
                for key in measured
                if key[2] == limit.placement and (in_place or key[1] == limit.size_bytes)
            ]
            key = min(keys, default=None)
        elif bound.older == COPYING:
            return self._copies(bound, levels, place)
        else:
            older = bound.older, int(levels["size_bytes"]), str(levels["placement"])
            key = older if older in self.medians else None
        return Floor(self._best(key, place), (key,)) if key else None

    def _best(self, key: Key, place: int) -> float:
        values = self.medians[key]
        return values[min(place, len(values) - 1)]

    def _copies(self, bound: Bound, levels: Mapping[Any, Any], place: int) -> Floor | None:
        """Return passes of memcpy, and a wake-up where one is needed and was measured."""
        copies = sorted(key for key in self.medians if key[0] == COPYING)
        size = levels["size_bytes"]
        if not copies or size <= 0 or levels.get("receive") == IN_PLACE:
            return None
        copy = self._copy(int(size), copies, place)
        ns = bound.copies * copy.ns
        wake = WAKING, 0, str(levels["placement"])
        if bound.wake and wake in self.medians:
            return Floor(ns + self._best(wake, place), (*copy.limits, wake))
        return Floor(ns, copy.limits)

    def _copy(self, size: int, copies: Sequence[Key], place: int) -> Floor:
        """Return one copy of `size` bytes: between measured sizes on a line of logarithms.

        Beyond them it has the speed of the nearest.
        """
        near = min(max(size, copies[0][1]), copies[-1][1])
        below = max(key for key in copies if key[1] <= near)
        above = min(key for key in copies if key[1] >= near)
        keys = tuple(dict.fromkeys((below, above)))
        sizes = np.log([key[1] for key in keys])
        times = np.log([self._best(key, place) for key in keys])
        ns = float(np.exp(np.interp(np.log(near), sizes, times)))
        return Floor(ns * size / near, keys)
