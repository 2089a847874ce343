"""Which mechanism is fastest for what: every other one compared with it, launch medians against launch medians."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from ipclab.points import Level, Point
from ipclab.runs.samples import Measured
from ipclab.stats.compare import SLOWER, UNDECIDED, Comparison, Side, by_round, compare_all

COLUMNS = (
    *("study", "op", "question", "among", "placement", "size_bytes", "fastest", "other", "verdict", "reason"),
    *("ratio", "low", "high", "detectable", "launches"),
)
ALL, SLEEPING = "all", "sleeping"  # among which mechanisms: every one, or those that do not spin


@dataclass(frozen=True)
class Race:
    """Which points of a study are compared by which op: those with all `levels`, apart by the values of `per`.

    A tuple of levels means any of them. `names` is what tells two points of one contest from each other; `sleeping`
    adds a contest without those that spin. Without `sized` the size is a result of what is compared, not a condition of
    it: all sizes are one contest, whose size is 0.
    """

    study: str
    op: str
    levels: dict[str, Level | tuple[Level, ...]]
    per: tuple[str, ...] = ()
    names: tuple[str, ...] = ("backend",)
    sleeping: bool = False
    sized: bool = True

    def takes(self, point: Point) -> bool:
        """Tell whether `point` takes part."""
        key = point.key()
        wanted = {name: level if isinstance(level, tuple) else (level,) for name, level in self.levels.items()}
        return point.study == self.study and all(key.get(name) in levels for name, levels in wanted.items())

    def question(self, point: Point) -> str:
        """Return the levels of `point` by which contests are kept apart, as `name=value` words."""
        return " ".join(f"{name}={point.key()[name]}" for name in self.per)

    def name(self, point: Point) -> str:
        """Return how `point` is called in its contest."""
        return " ".join(str(point.key()[name]) for name in self.names)


# The shared dictionary on one node; LMDB as published.
_DICT: dict[str, Level | tuple[Level, ...]] = {"nodes": 1, "sync": ("none", "off"), "map": ("none", "writemap")}
_MANY: dict[str, Level | tuple[Level, ...]] = {"arm": "read-many", "nodes": 1}
_EACH = ("arm", "readers", "entries")
_SET = ("arm", "set", "cache")
RACES = (
    Race("round_trip", "round-trip", {"arm": "main"}, sleeping=True),
    Race("payload", "handover", {"arm": "handover"}, sleeping=True),
    *(
        Race("shared_dict", op, {**_DICT, "arm": arm, "codec": "pickle"}, _EACH)
        for arm, op in (
            *(("published", "write-total"), ("read-many", "write"), ("read-many", "read")),
            *(("stream", "update"), ("live", "staleness")),
        )
    ),
    *(
        Race("shared_dict", op, {**_DICT, **_MANY}, ("backend", *_EACH[1:]), ("codec",), sized=False)
        for op in ("write", "read")
    ),
    Race(
        "shared_dict",
        "write",
        {**_MANY, "backend": "lmdb", "codec": "pickle"},
        ("arm", "backend", "sync", "readers", "entries"),
        ("backend", "map"),
    ),
    # Reading files: ways and roles of threads for one set of files in one state of the cache.
    *(Race("file_io", "elapsed", {"arm": arm}, _SET, ("roles",)) for arm in ("soon", "roles")),
    *(Race("file_io", "elapsed", {"arm": arm}, _SET, ("backend", "roles")) for arm in ("massive", "general")),
    *(
        Race("file_io", "elapsed", {"arm": "map", "advice": "none", **levels}, _SET, ("backend", "roles"))
        for levels in (
            *({"cache": "cold", "backend": "mmap"}, {"cache": "cold", "direct": "yes"}),
            {"cache": "warm"},
        )
    ),
    *(Race("multiplexer", op, {"arm": "main"}, ("medium",)) for op in ("write", "receive", "end-to-end")),
    Race("multiplexer", "end-to-end", {"arm": "streams"}, ("streams",)),
    Race("multiplexer", "write", {"arm": "threshold"}, ("arm",), ("backend", "threshold")),
    *(Race("multiplexer", op, {"arm": "factorial"}, ("arm",), ("pool", "chunk")) for op in ("write", "end-to-end")),
    Race("file_io", "elapsed", {"arm": "serial"}, (*_SET, "compute_ns", "threads"), ("backend", "roles")),
)


@dataclass(frozen=True)
class Contest:
    """The mechanisms of one study and op at one size and placement: the fastest, and what is known of each other one.

    `question` holds the further levels that they share, as `Race.question` writes them.
    """

    study: str
    op: str
    question: str
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
        head = (self.study, self.op, self.question, self.among, self.placement, self.size_bytes, self.fastest)
        for other, found in self.others.items():
            numbers = (found.ratio, found.low, found.high, found.detectable)
            launches = "/".join(map(str, found.launches))
            yield (*head, other, found.verdict, found.reason, *(_short(value) for value in numbers), launches)


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


@dataclass(frozen=True)
class Entry:
    """One point's part in a race: its launches' medians (ns) in the order taken."""

    race: Race
    point: Point
    medians: list[float]

    def group(self) -> tuple[str, str, str, str, int]:
        """Return what the entries of one contest share."""
        return (
            *(self.point.study, self.race.op, self.race.question(self.point)),
            *(self.point.placement, self.point.size_bytes if self.race.sized else 0),
        )


def entries(measured: Measured) -> Iterator[Entry]:
    """Yield a point's part in each race that it takes part in."""
    for race in RACES:
        if race.takes(measured.point) and race.op in measured.op_names():
            found = [float(np.median(launch.times(race.op))) for launch in measured.launches]
            yield Entry(race, measured.point, found)


def contests(found: Iterable[Entry]) -> list[Contest]:
    """Return a contest for each race, placement and size, corrected for the mechanisms compared in it."""
    made = []
    for (study, op, question, placement, size), group in groupby(sorted(found, key=Entry.group), key=Entry.group):
        every = list(group)
        fields = [(ALL, every)]
        if every[0].race.sleeping:
            fields.append((SLEEPING, [entry for entry in every if entry.point.levels.get("wait") != "spin"]))
        for among, field in fields:
            if field:
                fastest, others = _compared(field)
                made.append(Contest(study, op, question, among, placement, size, fastest, others))
    return made


def _compared(field: list[Entry]) -> tuple[str, dict[str, Comparison]]:
    ordered = sorted(field, key=lambda entry: float(np.median(entry.medians)))
    best, *others = ((entry.race.name(entry.point), Side(entry.medians)) for entry in ordered)
    compared = compare_all([by_round(best[1], side) for _, side in others])
    return best[0], dict(zip((name for name, _ in others), compared, strict=True))


def read_contests(rows: Iterable[dict[str, str]]) -> list[Contest]:
    """Return the contests that `Contest.rows` wrote as text, in their order."""
    made: dict[tuple[str, str, str, str, str, int], Contest] = {}
    for row in rows:
        head = row["study"], row["op"], row["question"], row["among"]
        name = *head, row["placement"], int(row["size_bytes"])
        contest = made.setdefault(name, Contest(*name, row["fastest"], {}))
        ratio, low, high, share = (
            float(row[column]) if row[column] else None for column in ("ratio", "low", "high", "detectable")
        )
        first, _, second = row["launches"].partition("/")
        launches = int(first), int(second)
        known = Comparison(row["verdict"], row["reason"], ratio, low, high, share, launches=launches)
        contest.others[row["other"]] = known
    return list(made.values())
