"""Named facts of the multiplexer study, for its sentences, figures and claims."""

from collections.abc import Iterator, Sequence
from itertools import product

from ipclab.facts.comparisons import ALL, Contest
from ipclab.facts.fact import Fact
from ipclab.facts.named import chosen, computed, measured, published
from ipclab.facts.rows import Row, Rows
from ipclab.points import Level
from ipclab.report.catalogue import N_
from ipclab.stats.intervals import Estimate, difference, ratio
from ipclab.studies.multiplexer import (
    ADAPTIVE,
    BOTH,
    CHUNKS,
    FACTORIAL_SIZE,
    MEDIA,
    NODES,
    POOLS,
    PUBLISHED_NODES,
    PUBLISHED_SIZES,
    RECEIVE,
    SAME_CODE,
    SIZES,
    STREAM_SIZE,
    STREAMS,
    THRESHOLD,
    THRESHOLD_SIZES,
    THRESHOLDS,
    WRITE,
)

SIZE_NAMES = dict(zip(SIZES, ("small", "medium", "large", "largest"), strict=True))
STREAM_NAMES = dict(zip(STREAMS, ("one", "some", "many"), strict=True))
# What is measured in the main arm: each side's op and medium.
SIDES = {"write": (WRITE, "memory"), "receive": (RECEIVE, "memory"), **{medium: (BOTH, medium) for medium in MEDIA}}
ORIGINAL, OPTIMIZED, HYBRID = PUBLISHED_NODES
EVEN = 1.03  # up to here a node is not called slower than another
# What the published code says, read in it: its constant, and how many of the three methods that send and receive
# messages have another name in HybridNode than in Node.
CODE_THRESHOLD, CODE_RENAMED = 4 << 10, 2
SOURCE = "seed 002, code"
TEXT_GAIN = 26_139 / 43_009  # Hybrid over Original at 1 MiB, as published
# The text's kinds of work: the size that stands for each.
USES = {"sensor": SIZES[0], "web": SIZES[1], "stream": SIZES[2], "file": SIZES[3]}
ENDS = (
    N_("With both ends counted, Hybrid allocates more than Original for the largest message, not less."),
    N_("With both ends counted, Hybrid allocates less than Original for the largest message."),
    N_("With both ends counted, Hybrid and Original allocate alike for the largest message."),
)
POOL = (
    N_("A pool alone costs memory: what the text credits to it comes from larger chunks, which need fewer headers."),
    N_("A pool alone saves memory."),
    N_("A pool alone neither saves nor costs memory."),
)
GAIN = (
    N_("Over a pipe Hybrid gains less on the largest message than the text found for writing into memory."),
    N_("Over a pipe Hybrid gains more on the largest message than the text found for writing into memory."),
    N_("Whether Hybrid gains as much over a pipe as the text found in memory is undecided in this run."),
)
BEST = (
    N_("Adaptive is slower than the best of the three published nodes in some cells."),
    N_("Adaptive is not slower than the best of the three published nodes in any cell."),
    N_("Whether Adaptive is slower than the best of the three published nodes in some cell is undecided in this run."),
)
SAME = (
    N_("Identical code under two names is told apart in this run: what differs is the machine, not the code."),
    N_("Identical code under two names cannot be told apart."),
)


def facts(rows: Rows, contests: Sequence[Contest]) -> Iterator[Fact]:
    """Yield the facts of the multiplexer study; what was not measured has no value."""
    mine = Rows(row for row in rows if row.point.study == "multiplexer")
    for size, name in SIZE_NAMES.items():
        yield computed(f"multiplexer.size.{name}", size, "B")
    for count, name in STREAM_NAMES.items():
        yield computed(f"multiplexer.streams.{name}", count, "count")
    yield computed("multiplexer.even", EVEN, "1")
    yield from _code()
    yield from _published(mine)
    yield from _main(mine)
    yield from _adaptive(mine)
    yield from _streams(mine)
    yield from _thresholds(mine)
    yield from _factorial(mine)
    yield from _advice(contests)
    yield from _says(mine)


def contest(contests: Sequence[Contest], op: str, question: str, placement: str, size: int) -> Contest | None:
    """Return the contest of the multiplexer's `op` by its further levels (as `Race.question` has them), or None."""
    wanted = ("multiplexer", op, question, ALL, placement, size)
    return next(
        (
            each
            for each in contests
            if (each.study, each.op, each.question, each.among, each.placement, each.size_bytes) == wanted
        ),
        None,
    )


def main_row(rows: Rows, side: str, node: str, size: int, metric: str = "p50", placement: str = "") -> Row | None:
    """Return a row of the main arm; without `placement` that of one goroutine, or of two processes on two CPUs."""
    op, medium = SIDES[side]
    where: dict[str, Level] = {"medium": medium, "backend": node, "size_bytes": size}
    place = placement or ("same" if medium == "memory" else "cross")
    return rows.find(op, metric, study="multiplexer", arm="main", placement=place, **where)


def best_row(rows: Rows, side: str, size: int) -> Row | None:
    """Return the row of the published node that is fastest on `side` at `size`; None unless all three are there."""
    found = [row for node in PUBLISHED_NODES if (row := main_row(rows, side, node, size))]
    return min(found, key=lambda row: row.estimate.value) if len(found) == len(PUBLISHED_NODES) else None


def _code() -> Iterator[Fact]:
    yield computed("multiplexer.threshold.used", THRESHOLD, "B")
    yield published("multiplexer.threshold.code", CODE_THRESHOLD, "B", SOURCE)
    yield published("multiplexer.api.renamed", CODE_RENAMED, "count", SOURCE)


def _three(stem: str, rows: Rows, op: str, **levels: Level) -> Iterator[Fact]:
    """Yield time, bytes and allocations of one cell."""
    yield measured(stem, _estimate(rows.find(op, **levels)), "ns")
    yield measured(f"{stem}.bytes", _estimate(rows.find(op, "bytes_allocated", **levels)), "B")
    yield measured(f"{stem}.allocations", _estimate(rows.find(op, "allocations", **levels)), "count")


def _published(rows: Rows) -> Iterator[Fact]:
    for size, node in product(PUBLISHED_SIZES, NODES):
        where: dict[str, Level] = {"arm": "published", "size_bytes": size}
        stem = f"multiplexer.published.{node}.{SIZE_NAMES[size]}"
        yield from _three(stem, rows, WRITE, backend=node, **where)
        times = [rows.find(WRITE, backend=name, **where) for name in (node, ORIGINAL)]
        yield measured(f"{stem}.over_original", _ratio(*times), "1")
    same = [rows.find(WRITE, arm="published", backend=name) for name in SAME_CODE]
    for name, row in zip(SAME_CODE, same, strict=True):
        yield measured(f"multiplexer.published.{name}.small", _estimate(row), "ns")
    yield measured("multiplexer.published.indirection", _share(same[1], same[0]), "share")


def _main(rows: Rows) -> Iterator[Fact]:
    for side, node, (size, name) in product(SIDES, NODES, SIZE_NAMES.items()):
        stem = f"multiplexer.{side}.{node}.{name}"
        yield measured(stem, _estimate(main_row(rows, side, node, size)), "ns")
        for metric, unit in (("bytes_allocated", "B"), ("allocations", "count"), ("receiver_bytes_allocated", "B")):
            tail = metric.replace("_allocated", "")
            yield measured(f"{stem}.{tail}", _estimate(main_row(rows, side, node, size, metric)), unit)
        original = main_row(rows, side, ORIGINAL, size)
        yield measured(f"{stem}.over_original", _ratio(main_row(rows, side, node, size), original), "1")
        memory = [main_row(rows, side, each, size, "bytes_allocated") for each in (node, ORIGINAL)]
        yield measured(f"{stem}.bytes_over_original", _ratio(*memory), "1")
    for side, node in product(MEDIA, NODES):
        row = main_row(rows, side, node, STREAM_SIZE, placement="same")
        yield measured(f"multiplexer.{side}.same.{node}", _estimate(row), "ns")


def _adaptive(rows: Rows) -> Iterator[Fact]:
    """Yield Adaptive over the best of the three published nodes on each side at each size."""
    for side, (size, name) in product(SIDES, SIZE_NAMES.items()):
        found = _ratio(main_row(rows, side, ADAPTIVE, size), best_row(rows, side, size))
        yield measured(f"multiplexer.adaptive.{side}.{name}", found, "1")
    fast = _ratio(main_row(rows, "write", ADAPTIVE, SIZES[0]), main_row(rows, "write", HYBRID, SIZES[0]))
    yield measured("multiplexer.adaptive.over_hybrid.small", fast, "1")


def _streams(rows: Rows) -> Iterator[Fact]:
    for node, (count, name) in product(NODES, STREAM_NAMES.items()):
        where: dict[str, Level] = {"arm": "streams", "backend": node, "streams": count}
        yield measured(f"multiplexer.streams.{node}.{name}", _estimate(rows.find(BOTH, **where)), "ns")
        fairness = rows.find(BOTH, "fairness", **where)
        yield measured(f"multiplexer.streams.{node}.{name}.fairness", _estimate(fairness), "1")


def _thresholds(rows: Rows) -> Iterator[Fact]:
    """Yield the best of Hybrid's thresholds for each of two sizes, the worst over it, and Adaptive over it."""
    for size, name in zip(THRESHOLD_SIZES, ("short", "long"), strict=True):
        where: dict[str, Level] = {"arm": "threshold", "size_bytes": size}
        found = [rows.find(WRITE, backend=HYBRID, threshold=value, **where) for value in THRESHOLDS]
        there = sorted((row for row in found if row), key=lambda row: row.estimate.value)
        best, worst = (there[0], there[-1]) if len(there) == len(THRESHOLDS) else (None, None)
        adaptive = rows.find(WRITE, backend=ADAPTIVE, **where)
        yield computed(f"multiplexer.threshold.size.{name}", size, "B")
        level = int(best.point.levels["threshold"]) if best else None
        yield Fact(f"multiplexer.threshold.best.{name}", level, "B", source="run")
        yield measured(f"multiplexer.threshold.worst_over_best.{name}", _ratio(worst, best), "1")
        yield measured(f"multiplexer.threshold.adaptive_over_best.{name}", _ratio(adaptive, best), "1")


def factorial_row(rows: Rows, op: str, pool: str, chunk: int, metric: str = "p50") -> Row | None:
    """Return a row of the factorial arm."""
    where: dict[str, Level] = {"pool": pool, "chunk": chunk, "size_bytes": FACTORIAL_SIZE}
    return rows.find(op, metric, study="multiplexer", arm="factorial", **where)


def _factorial(rows: Rows) -> Iterator[Fact]:
    """Yield the bytes of each pool with each chunk, and what either saves alone (a share; below zero it costs)."""
    for op, pool, chunk in product((WRITE, BOTH), POOLS, CHUNKS):
        stem = f"multiplexer.factorial.{op}.{pool}.{chunk}"
        yield measured(stem, _estimate(factorial_row(rows, op, pool, chunk)), "ns")
        yield measured(f"{stem}.bytes", _estimate(factorial_row(rows, op, pool, chunk, "bytes_allocated")), "B")
    for chunk, name in ((CHUNKS[0], "short"), (CHUNKS[2], "long")):
        yield computed(f"multiplexer.chunk.{name}", chunk, "B")
    plain, pooled = (_factorial_bytes(rows, pool, CHUNKS[0]) for pool in POOLS)
    long = _factorial_bytes(rows, POOLS[0], CHUNKS[2])
    yield measured("multiplexer.saves.chunk", _share(plain, long, of_first=True), "share")
    yield measured("multiplexer.costs.pool", _share(pooled, plain), "share")


def _factorial_bytes(rows: Rows, pool: str, chunk: int) -> Row | None:
    return factorial_row(rows, WRITE, pool, chunk, "bytes_allocated")


def _advice(contests: Sequence[Contest]) -> Iterator[Fact]:
    """Yield the fastest node between two processes for each kind of work, with those not shown to be slower."""
    for (use, size), medium in product(USES.items(), MEDIA):
        found = contest(contests, BOTH, f"medium={medium}", "cross", size)
        value = ", ".join(found.tied()) if found else None
        yield Fact(f"multiplexer.advice.{use}.{medium}", value, "text", source="run")


def _says(rows: Rows) -> Iterator[Fact]:
    """Yield the sentences that the data choose."""
    largest = SIZES[-1]
    memory = [main_row(rows, "pipe", node, largest, "bytes_allocated") for node in (HYBRID, ORIGINAL)]
    yield chosen("multiplexer.says.ends", _ratio(*memory), 1.0, ENDS)
    plain, pooled = (_factorial_bytes(rows, pool, CHUNKS[0]) for pool in POOLS)
    yield chosen("multiplexer.says.pool", _ratio(pooled, plain), 1.0, POOL)
    times = [main_row(rows, "pipe", node, largest) for node in (HYBRID, ORIGINAL)]
    yield chosen("multiplexer.says.gain", _ratio(*times), TEXT_GAIN, GAIN)
    cells = product(SIDES, SIZES)
    ratios = [_ratio(main_row(rows, side, ADAPTIVE, size), best_row(rows, side, size)) for side, size in cells]
    yield Fact("multiplexer.says.best", _best(ratios), "text", source="run")
    again, direct = (rows.find(WRITE, arm="published", backend=name) for name in reversed(SAME_CODE))
    found = _share(again, direct)
    told = None if found is None else SAME[not (found.low > 0 or found.high < 0)]
    yield Fact("multiplexer.says.same", told, "text", source="run")


def _best(ratios: Sequence[Estimate | None]) -> str | None:
    """Return whether Adaptive is even with the best of the others in every cell, by intervals."""
    there = [found for found in ratios if found]
    if len(there) < len(ratios):
        return None
    slower, even = any(found.low > EVEN for found in there), all(found.high <= EVEN for found in there)
    return BEST[0] if slower else BEST[1] if even else BEST[2]


def _estimate(row: Row | None) -> Estimate | None:
    return row.estimate if row else None


def _ratio(over: Row | None, under: Row | None) -> Estimate | None:
    if over is None or under is None or not under.estimate.value or not under.estimate.draws.all():
        return None
    return ratio(over.estimate, under.estimate)


def _share(more: Row | None, less: Row | None, *, of_first: bool = False) -> Estimate | None:
    """Return the difference of two as a share of the second, or of the first."""
    base = more if of_first else less
    if more is None or less is None or base is None or not base.estimate.value:
        return None
    return ratio(difference(more.estimate, less.estimate), base.estimate)
