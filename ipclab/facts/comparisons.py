"""Which mechanism is fastest for what: every other one compared with it, launch medians against launch medians."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from ipclab.points import Point
from ipclab.runs.samples import Measured
from ipclab.stats.compare import SLOWER, UNDECIDED, Comparison, Side, by_round, compare_all

COLUMNS = (
    *("study", "among", "placement", "size_bytes", "fastest", "other", "verdict", "reason"),
    *("ratio", "low", "high", "detectable", "launches"),
)
COMPARED = {"round_trip": ("main", "round-trip"), "payload": ("handover", "handover")}  # study: arm, op
ALL, SLEEPING = "all", "sleeping"  # among which mechanisms: every one, or those that do not spin


@dataclass(frozen=True)
class Contest:
    """The mechanisms of one study at one size and placement: the fastest, and what is known of each other one."""

    study: str
    among: str
    placement: str
    size_bytes: int
    fastest: str
    others: dict[str, Comparison]

    def tied(self) -> list[str]:
        """Return the fastest and all that were not shown to be slower by more than the equivalence bound."""
        return [self.fastest, *(name for name, found in self.others.items() if found.verdict != SLOWER)]

    def detectable(self) -> float | None:
        """Return the smallest slow-down (a share) that would have been found for every mechanism left undecided."""
        shares = [found.detectable for found in self.others.values() if found.verdict == UNDECIDED]
        known = [share for share in shares if share is not None]
        return max(known) if known and len(known) == len(shares) else None

    def rows(self) -> Iterator[tuple[str | int | float | None, ...]]:
        """Yield one row for each other mechanism, in the order of `COLUMNS`."""
        head = (self.study, self.among, self.placement, self.size_bytes, self.fastest)
        for other, found in self.others.items():
            numbers = (found.ratio, found.low, found.high, found.detectable)
            launches = "/".join(map(str, found.launches))
            yield (*head, other, found.verdict, found.reason, *(_short(value) for value in numbers), launches)


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


Medians = list[tuple[Point, list[float]]]


def medians(measured: Iterable[Measured]) -> Iterator[tuple[Point, list[float]]]:
    """Yield each compared point with its launches' medians (ns) in the order taken."""
    for each in measured:
        arm, op = COMPARED.get(each.point.study, ("", ""))
        if each.point.levels.get("arm") == arm:
            yield each.point, [float(np.median(launch.samples[op])) for launch in each.launches]


def contests(found: Medians) -> list[Contest]:
    """Return a contest for each study, placement and size, corrected for the mechanisms compared in it."""

    def key(entry: tuple[Point, list[float]]) -> tuple[str, str, int]:
        return entry[0].study, entry[0].placement, entry[0].size_bytes

    made = []
    for name, group in groupby(sorted(found, key=key), key=key):
        every = list(group)
        sleeping = [entry for entry in every if entry[0].levels.get("wait") != "spin"]
        made += [_contest(*name, among, entries) for among, entries in ((ALL, every), (SLEEPING, sleeping)) if entries]
    return made


def _contest(study: str, placement: str, size: int, among: str, found: Medians) -> Contest:
    ordered = sorted(found, key=lambda entry: float(np.median(entry[1])))
    best, *others = ((point.backend, Side(values)) for point, values in ordered)
    compared = compare_all([by_round(best[1], side) for _, side in others])
    known = dict(zip((name for name, _ in others), compared, strict=True))
    return Contest(study, among, placement, size, best[0], known)


def read_contests(rows: Iterable[dict[str, str]]) -> list[Contest]:
    """Return the contests that `Contest.rows` wrote as text, in their order."""
    made: dict[tuple[str, str, str, int], Contest] = {}
    for row in rows:
        name = row["study"], row["among"], row["placement"], int(row["size_bytes"])
        contest = made.setdefault(name, Contest(*name, row["fastest"], {}))
        ratio, low, high, share = (
            float(row[column]) if row[column] else None for column in ("ratio", "low", "high", "detectable")
        )
        first, _, second = row["launches"].partition("/")
        launches = int(first), int(second)
        known = Comparison(row["verdict"], row["reason"], ratio, low, high, share, launches=launches)
        contest.others[row["other"]] = known
    return list(made.values())
