"""Floors: what bounds an op of a study, by the best launches of the limits that match it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ipclab.backends.installed import backends
from ipclab.studies.installed import study as study_of

Key = tuple[str, int, str]  # a limit: its name, size in bytes, placement
SPINNING, COPYING, WAKING, RING = "echo-shm-spin", "memcpy", "futex-wake", "hand-over"
IN_PLACE = "view"  # a message that is read where it lies is copied by nobody
WIDE = 1.10  # a best launch that no other one comes near is luck, or the others are disturbed


@dataclass(frozen=True)
class Floor:
    """What an op cannot beat, in ns, and the limits that it follows from."""

    ns: float
    limits: tuple[Key, ...]


class Floors:
    """The limits of a run, by the medians of each one's launches in ns."""

    def __init__(self, launches: Mapping[Key, Sequence[float]]) -> None:
        self.medians = {key: sorted(values) for key, values in launches.items()}  # the best first

    def wide(self) -> list[Key]:
        """Return the limits whose two best launches lie further apart than `WIDE`."""
        return [key for key, values in self.medians.items() if self._best(key, 1) > WIDE * values[0]]

    def under(self, study: str, op: str, levels: Mapping[Any, Any], place: int = 0) -> Floor | None:
        """Return what bounds `op` of a point of `study` with `levels`; None where no limit matches.

        `levels` are those of the point, `backend`, `size_bytes` and `placement` among them. `place` 0 takes each limit
        by its best launch, 1 by the second best.
        """
        bound = study_of(study).bound(op, levels)
        if bound is None:
            return None
        if bound.ring:
            ring = (RING, int(levels["size_bytes"]), str(levels["placement"]))
            return Floor(self._best(ring, place), (ring,)) if ring in self.medians else None
        if bound.echo:
            keys = self._echo(levels)
            return Floor(self._best(keys[0], place), keys) if keys else None
        copies = sorted(key for key in self.medians if key[0] == COPYING)
        if not copies or levels["size_bytes"] <= 0 or levels.get("receive") == IN_PLACE:
            return None
        wake = (WAKING, 0, str(levels["placement"]))
        woken = (wake,) if bound.wake and wake in self.medians else ()
        copy = self._copy(int(levels["size_bytes"]), copies, place)
        return Floor(bound.copies * copy.ns + sum(self._best(key, place) for key in woken), (*copy.limits, *woken))

    def _best(self, key: Key, place: int) -> float:
        values = self.medians[key]
        return values[min(place, len(values) - 1)]

    def _echo(self, levels: Mapping[Any, Any]) -> tuple[Key, ...]:
        """Return the echo that does the same system work: of as many bytes, or of the fewest for those in place."""
        known = backends().get(str(levels["backend"]))
        name = SPINNING if str(levels.get("wait", "")).startswith("spin") else known.limit if known else ""
        there = sorted(key for key in self.medians if key[0] == name and key[2] == levels["placement"])
        if levels.get("receive") == IN_PLACE:
            return tuple(there[:1])
        return tuple(key for key in there if key[1] == levels["size_bytes"])

    def _copy(self, size: int, copies: Sequence[Key], place: int) -> Floor:
        """Return one copy of `size` bytes: on a line of logarithms between measured sizes, beyond at their speed."""
        near = min(max(size, copies[0][1]), copies[-1][1])
        below, above = (key for key in copies if key[1] <= near), (key for key in copies if key[1] >= near)
        keys = tuple(dict.fromkeys((max(below), min(above))))
        sizes, times = np.log([key[1] for key in keys]), np.log([self._best(key, place) for key in keys])
        return Floor(float(np.exp(np.interp(np.log(near), sizes, times))) * size / near, keys)
