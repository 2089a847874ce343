"""Named facts of the round-trip study, for its sentences, figures and claims."""

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from ipclab.facts.comparisons import ALL, Contest
from ipclab.facts.fact import Fact
from ipclab.facts.named import computed, measured
from ipclab.facts.rows import Row, Rows
from ipclab.points import Level
from ipclab.report.catalogue import N_
from ipclab.stats.intervals import ratio
from ipclab.studies.round_trip import GAPS_NS, INTENDED, OP, PUBLISHED, SIZES

SIZE_NAMES = dict(zip(SIZES, ("small", "medium", "large", "largest"), strict=True))
PLACEMENTS = ("same", "cross")
KNOWN = (
    *("iceoryx2", "mp-pipe", "mp-queue", "pipe", "posix-shm", "shm-futex"),
    *("shm-spin", "tcp", "unix", "zmq-ipc", "zmq-tcp"),
)
FLIPS = (
    N_("Placement changes which of two mechanisms is faster."),
    N_("Placement changes no ranking."),
    N_("Whether placement changes a ranking is undecided in this run."),
)
CHEAP_GROWTH = 1.25  # the text calls a growth of its round trip from 100 B to 10 kB small


def facts(rows: Rows, contests: Sequence[Contest]) -> Iterator[Fact]:
    """Yield the facts of the round-trip study; what was not measured has no value."""
    mine = Rows(row for row in rows if row.point.study == "round_trip")
    for size, name in SIZE_NAMES.items():
        yield computed(f"round_trip.size.{name}", size, "B")
    yield from _main(mine)
    yield from _fastest(contests)
    yield from _published(mine)
    yield from _gaps(mine)
    yield from _waits(mine)
    yield from _rankings(mine)


def _main(rows: Rows) -> Iterator[Fact]:
    for backend, placement, (size, name) in product(KNOWN, PLACEMENTS, SIZE_NAMES.items()):
        row = rows.find(OP, arm="main", backend=backend, placement=placement, size_bytes=size)
        yield _fact(f"round_trip.{backend}.{placement}.{name}", row)


def _fastest(contests: Sequence[Contest]) -> Iterator[Fact]:
    """Yield the fastest mechanism of each placement and size, with those that were not shown to be slower."""
    for placement, (size, name) in product(PLACEMENTS, SIZE_NAMES.items()):
        found = contest(contests, ALL, placement, size)
        yield Fact(f"round_trip.fastest.{placement}.{name}", ", ".join(found.tied()) if found else None, "text")


def contest(contests: Sequence[Contest], among: str, placement: str, size: int) -> Contest | None:
    """Return the round-trip contest of `placement` and `size` (bytes), or None when it was not measured."""
    wanted = ("round_trip", among, placement, size)
    found = (each for each in contests if (each.study, each.among, each.placement, each.size_bytes) == wanted)
    return next(found, None)


def _published(rows: Rows) -> Iterator[Fact]:
    shm, zmq = PUBLISHED
    for placement, (size, name) in product(PLACEMENTS, SIZE_NAMES.items()):
        where: dict[str, Level] = {"arm": "published", "placement": placement, "size_bytes": size}
        ours, theirs = (rows.find(OP, backend=backend, **where) for backend in PUBLISHED)
        for backend, row in ((shm, ours), (zmq, theirs)):
            stem = f"round_trip.published.{backend}.{placement}.{name}"
            yield _fact(stem, row)
            for metric, unit in (("total_ns", "ns"), ("iterations", "count"), ("round_trips_per_second", "1/s")):
                found = rows.find("launch", metric, backend=backend, **where)
                yield measured(f"{stem}.{metric}", found.estimate if found else None, unit)
        over = ratio(theirs.estimate, ours.estimate) if ours and theirs else None
        yield measured(f"round_trip.published.ratio.{placement}.{name}", over, "1")


def _gaps(rows: Rows) -> Iterator[Fact]:
    """Yield what an idle gap does to the next round trip of the smallest message."""
    longest = GAPS_NS[-1]
    yield computed("round_trip.gap.longest", longest, "ns")
    for backend, placement in product(("unix", "posix-shm", "zmq-ipc"), PLACEMENTS):
        where: dict[str, Level] = {"backend": backend, "placement": placement, "size_bytes": SIZES[0]}
        busy = rows.find(OP, arm="main", **where)
        idle = rows.find(OP, arm="gap", gap_ns=longest, **where)
        stem = f"round_trip.gap.{backend}.{placement}"
        yield _fact(f"{stem}.longest", idle)
        yield _fact(f"{stem}.intended", rows.find(INTENDED, arm="gap", gap_ns=longest, **where))
        yield measured(f"{stem}.growth", ratio(idle.estimate, busy.estimate) if busy and idle else None, "1")


def _waits(rows: Rows) -> Iterator[Fact]:
    """Yield time and CPU time of one mechanism that can wait in every way, on two CPUs."""
    for wait in ("block", "spin-then-block", "spin"):
        where: dict[str, Level] = {"backend": "posix-shm", "placement": "cross", "size_bytes": SIZES[0], "wait": wait}
        arm = "main" if wait == "block" else "wait"
        yield _fact(f"round_trip.wait.{wait}", rows.find(OP, arm=arm, **where))
        cpu = rows.find(OP, "cpu_ns", arm=arm, **where)
        yield measured(f"round_trip.wait.{wait}.cpu", cpu.estimate if cpu else None, "ns")


def _rankings(rows: Rows) -> Iterator[Fact]:
    """Yield how many pairs of mechanisms placement turns round, by intervals that support both orders."""
    small = {place: rows.all(OP, arm="main", placement=place, size_bytes=SIZES[0]) for place in PLACEMENTS}
    pairs = list(combinations(sorted({row.point.backend for row in small["same"]}), 2))
    flipped = sum(_flips(small, *pair) for pair in pairs)
    yield Fact("round_trip.flips", flipped if pairs else None, "count", source="run")
    yield Fact("round_trip.pairs", len(pairs) if pairs else None, "count", source="run")
    told = all(0 not in _orders(small, *pair) for pair in pairs)
    says = FLIPS[0] if flipped else FLIPS[1] if told else FLIPS[2]
    yield Fact("round_trip.says.flips", says if pairs else None, "text", source="run")


def _orders(small: dict[str, Rows], first: str, second: str) -> list[int]:
    return [_order(small[place].find(OP, backend=first), small[place].find(OP, backend=second)) for place in small]


def _flips(small: dict[str, Rows], first: str, second: str) -> bool:
    return sorted(_orders(small, first, second)) == [-1, 1]


def _order(first: Row | None, second: Row | None) -> int:
    """Return -1 or 1 when the intervals tell which is faster, else 0."""
    if first is None or second is None:
        return 0
    return -1 if first.estimate.high < second.estimate.low else int(second.estimate.high < first.estimate.low)


def _fact(name: str, row: Row | None) -> Fact:
    return measured(name, row.estimate if row else None, "ns")
