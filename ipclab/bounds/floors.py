"""Floors: what bounds an op of a study, by the launches of the limit that matches it.

Which limit that is says the op's `Bound`: a native program that does just what the op cannot avoid,
of as many bytes and in the same placement.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

import numpy as np

from ipclab.store.questions import Bound, Mechanism, Questions, limit_filled

Key = tuple[str, int, str]  # a limit: its name (see `limit_called`), size in bytes, placement
# bytes, in every run
COPIED = (4_000, 16_000, 64_000, 256_000, 1_000_000, 4_000_000, 16_000_000, 64_000_000, 256_000_000)
COPYING, WAKING = "memcpy", "futex-wake"
ONE_PROCESS = "same"  # the placement of a limit that is of one process
SPIN_PREFIX = "spin"  # how ways to wait begin that do not leave the CPU
MECHANISM, SHARED = "{mechanism}", "shm-"
SPUN = "shm-spin"  # the mechanism that such a wait rests on, whatever carries the message
IN_PLACE = "view"  # a message that is read where it lies is copied by nobody
LEAST_BYTES = 100  # of a message that is not copied
WIDE = 1.10  # a best launch that no other one comes near is luck, or the others are disturbed


@dataclass(frozen=True)
class Floor:
    """What an op should not beat, in ns, and the limits that it follows from.

    `ns` is of the limits' medians over their launches, `low` and `high` of their least and most: a
    limit may have two states, of which the better one is no measure of what met the other.
    """

    ns: float
    limits: tuple[Key, ...]
    low: float
    high: float


def bound_of(questions: Questions, study: str, op: str, levels: Mapping[Any, Any]) -> Bound | None:
    """Return what bounds `op` of a point of `study` with `levels`, if anything.

    `backend`, `size_bytes` and `placement` are among the levels.
    """
    backend = questions.mechanisms.get(str(levels["backend"]), Mechanism())
    known = {**levels, "limit": backend.limit, "keeps": backend.keeps}
    for bound in questions.of(study).bounds:
        large = not bound.least_bytes or int(levels["size_bytes"]) >= bound.least_bytes
        fits = all(known.get(name) == level for name, level in bound.when.items())
        if bound.op == op and large and fits:
            return bound
    return None


def limit_named(questions: Questions, bound: Bound, levels: Mapping[Any, Any]) -> str:
    """Return what the limit of `bound` is called, also where it is not here.

    It waits in the same way, or is none: of what spins, natively only shared memory does.
    """
    by_arm = bound.native
    name = by_arm if isinstance(by_arm, str) else by_arm.get(str(levels.get("arm")), "")
    backend = questions.mechanisms.get(str(levels["backend"]), Mechanism())
    spins = str(levels.get("wait", "")).startswith(SPIN_PREFIX)
    mechanism = backend.limit
    if spins and MECHANISM in name:
        if not mechanism.startswith(SHARED):
            return ""
        mechanism = SPUN
    return limit_filled(name, {**levels, "mechanism": mechanism, "flow": backend.flow})


def limit_called(questions: Questions, limit: str, op: str) -> str:
    """Return what `op` of `limit` is called: the limit, and the op where there are several."""
    known = questions.limits.get(limit)
    return f"{limit}.{op}" if known and len(known.ops) > 1 else limit


def native(questions: Questions, study: str, op: str, levels: Mapping[Any, Any]) -> Key | None:
    """Return the limit that does just what `op` of a point of `study` cannot avoid, with its size
    and placement.

    `levels` are those of the point, `backend`, `size_bytes` and `placement` among them. None where
    there is no such native program.
    """
    bound = bound_of(questions, study, op, levels)
    name = limit_named(questions, bound, levels) if bound else ""
    if name not in questions.limits:
        return None
    size = LEAST_BYTES if levels.get("receive") == IN_PLACE else int(levels["size_bytes"])
    placement = str(levels["placement"]) if questions.limits[name].placed else ONE_PROCESS
    return name, size, placement


Statistic = Callable[[Sequence[float]], float]  # of a limit's launches (ns): the one that is taken


class Floors:
    """The limits of a run, by the medians of each one's launches in ns."""

    def __init__(self, launches: Mapping[Key, Sequence[float]], questions: Questions) -> None:
        self.questions = questions
        self.medians = {key: sorted(values) for key, values in launches.items()}

    def wide(self) -> list[Key]:
        """Return the limits whose two best launches lie further apart than `WIDE`."""
        return [key for key, values in self.medians.items() if values[:2][-1] > WIDE * values[0]]

    def under(self, study: str, op: str, levels: Mapping[Any, Any]) -> Floor | None:
        """Return what bounds `op` of a point of `study` with `levels`; None where no limit matches.

        `levels` are those of the point, `backend`, `size_bytes` and `placement` among them.
        """
        bound = bound_of(self.questions, study, op, levels)
        if bound is None or (bound.native and not limit_named(self.questions, bound, levels)):
            return None
        limit = native(self.questions, study, op, levels)
        name = limit_called(self.questions, limit[0], op) if limit else ""
        measured = [key for key in self.medians if key[0] == name]
        if limit and measured:  # where of another placement alone, nothing stands in for it
            _, size, placement = limit
            in_place = levels.get("receive") == IN_PLACE  # then that of the fewest bytes bounds it
            keys = [key for key in measured if key[2] == placement and (in_place or key[1] == size)]
            key = min(keys, default=None)
        elif bound.older == COPYING:
            return self._copies(bound, levels)
        else:
            older = bound.older, int(levels["size_bytes"]), str(levels["placement"])
            key = older if older in self.medians else None
        if key is None:
            return None
        times = self.medians[key]
        return Floor(median(times), (key,), times[0], times[-1])

    def _copies(self, bound: Bound, levels: Mapping[Any, Any]) -> Floor | None:
        """Return passes of memcpy, and a wake-up where one is needed and was measured."""
        copies = sorted(key for key in self.medians if key[0] == COPYING)
        size = int(levels["size_bytes"])
        if not copies or size <= 0 or levels.get("receive") == IN_PLACE:
            return None
        near = min(max(size, copies[0][1]), copies[-1][1])
        below = max(key for key in copies if key[1] <= near)
        above = min(key for key in copies if key[1] >= near)
        around = tuple(dict.fromkeys((below, above)))
        wake = WAKING, 0, str(levels["placement"])
        wakes = (wake,) if bound.wake and wake in self.medians else ()

        def ns(of: Statistic) -> float:
            """Return the passes, each as fast as at the nearest size that was measured.

            Between two sizes it is on a line of logarithms.
            """
            sizes = np.log([key[1] for key in around])
            times = np.log([of(self.medians[key]) for key in around])
            copy = float(np.exp(np.interp(np.log(near), sizes, times))) * size / near
            return bound.copies * copy + sum(of(self.medians[key]) for key in wakes)

        return Floor(ns(median), (*around, *wakes), ns(min), ns(max))
