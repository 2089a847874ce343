"""Is a machine faster, or is it better used? Each point over its own machine's limit, and the ratio of the two."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ipclab.facts.limits import PASSES
from ipclab.facts.rows import Row
from ipclab.compare.verdicts import LIMITS, Judged, Pairing
from ipclab.store.point import Point
from ipclab.stats.compare import EQUIVALENCE, UNDECIDED
from ipclab.tables.limits import FLOORS, SPINNING

BETTER, WORSE, ALIKE = "better used", "worse used", "used alike"
ECHOED = "round_trip"  # the study whose limits are echoes
USES = (BETTER, WORSE, ALIKE, UNDECIDED)
Key = tuple[str, str, int, str]  # a limit's mechanism and op, size in bytes, placement
Times = Mapping[tuple[str, str], float]  # median ns by point and op


@dataclass(frozen=True)
class Ratio:
    """A positive ratio with its 95 % interval."""

    value: float
    low: float
    high: float

    def over(self, other: "Ratio") -> "Ratio":
        """Return this over `other`, which is independent: the half widths of the logs add as squares."""
        value = self.value / other.value
        below = math.hypot(math.log(self.value / self.low), math.log(other.high / other.value))
        above = math.hypot(math.log(self.high / self.value), math.log(other.value / other.low))
        return Ratio(value, value * math.exp(-below), value * math.exp(above))


@dataclass(frozen=True)
class Normalised:
    """One point: the second run's time over the first's, the same of their limits, and what is left: the use.

    `overs` are the times of the two runs over their own limits.
    """

    point: Point
    op: str
    time: Ratio
    limit: Ratio
    overs: tuple[float, float]

    @property
    def use(self) -> Ratio:
        """Return the ratio of the times over their limits; below 1 the second machine is better used."""
        return self.time.over(self.limit)

    @property
    def verdict(self) -> str:
        """Return one of `USES`: shown beyond the equivalence bound, inside it, or neither."""
        use, bound = self.use, 1 + EQUIVALENCE
        if use.high < 1 / bound:
            return BETTER
        if use.low > bound:
            return WORSE
        return ALIKE if 1 / bound <= use.low and use.high <= bound else UNDECIDED


def limits_of(point: Point, op: str) -> dict[Key, int]:
    """Return what bounds `op` of `point`: limits, each with how often it is paid; nothing when no limit is known.

    A round trip's limit is the native echo that does the same system work; that of a copy its passes of memcpy, after a
    futex wake where a handover waits asleep.
    """
    size, placement = point.size_bytes, point.placement
    if point.study != ECHOED:
        passes = PASSES.get((point.study, op))
        if passes is None:
            return {}
        copies = {("memcpy", "copy", size, "same"): passes}
        return copies | ({("futex-wake", "wake", 0, placement): 1} if op == "handover" else {})
    floor = SPINNING if str(point.levels.get("wait", "")).startswith("spin") else FLOORS.get(point.backend)
    return {(floor, "round-trip", size, placement): 1} if floor else {}


def normalised(pairing: Pairing) -> list[Normalised]:
    """Return every shared point whose time and whose limits were measured in both runs."""
    times = [_times(run.rows) for run in (pairing.first, pairing.second)]
    limits = {_key(each): each for each in pairing.judged if each.point.study == LIMITS}
    made = []
    for each in pairing.judged:
        paid, own = limits_of(each.point, each.op), _ratio(each)
        found = {key: limits[key] for key in paid if key in limits}
        if not paid or own is None or len(found) < len(paid):
            continue
        ratios = {key: _ratio(judged) for key, judged in found.items()}
        parts = [sum(paid[key] * known[j.point.id, j.op] for key, j in found.items()) for known in times]
        shares = {key: paid[key] * times[0][j.point.id, j.op] / parts[0] for key, j in found.items()}
        limit = _mixed([(shares[key], ratio) for key, ratio in ratios.items() if ratio])
        if limit and all(ratios.values()):
            overs = times[0][each.point.id, each.op] / parts[0], times[1][each.point.id, each.op] / parts[1]
            made.append(Normalised(each.point, each.op, own, limit, overs))
    return made


def _times(rows: Sequence[Row]) -> Times:
    return {(row.point.id, row.op): row.estimate.value for row in rows if row.metric == "p50"}


def _key(each: Judged) -> Key:
    return each.point.backend, each.op, each.point.size_bytes, each.point.placement


def _ratio(each: Judged) -> Ratio | None:
    found = each.found
    if found.ratio is not None and found.reason == "no-variance":  # all launches agree to the tick of the clock
        return Ratio(found.ratio, found.ratio, found.ratio)
    if found.ratio is None or found.low is None or found.high is None:
        return None
    return Ratio(found.ratio, found.low, found.high)


def _mixed(parts: Sequence[tuple[float, Ratio]]) -> Ratio | None:
    """Return the ratio of sums from the ratios of their parts and the shares of the first sum; ends are the widest."""
    if not parts:
        return None
    value = sum(share * ratio.value for share, ratio in parts)
    return Ratio(value, sum(share * ratio.low for share, ratio in parts), sum(s * ratio.high for s, ratio in parts))


def geometric_mean(values: Sequence[float]) -> float | None:
    """Return the geometric mean of positive values, or None without any."""
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if values else None
