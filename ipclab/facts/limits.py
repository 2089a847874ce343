"""Named facts of the hardware's limits, and the physical bound that no copying mechanism can beat."""

from collections.abc import Iterable, Iterator

from ipclab.facts.fact import Fact
from ipclab.facts.named import measured
from ipclab.facts.rows import Row, Rows

# How often an op of a study passes over its data: an echo copies in and out, both ways; a handover once each; a write
# serialises and copies; a read copies.
PASSES = {
    **{("round_trip", "round-trip"): 4, ("payload", "handover"): 2},
    **{("payload", "write"): 2, ("payload", "read"): 1},
}
TOLERANCE = 0.9  # memcpy's own run-to-run spread
IN_PLACE = "view"
PAIRED = {"cache-line": "round-trip", "cache-line-cas": "round-trip", "futex-wake": "wake"}


def facts(rows: Rows) -> Iterator[Fact]:
    """Yield the limits that sentences name; what was not measured has no value."""
    mine = Rows(row for row in rows if row.point.study == "limits")
    for name, op in (("clock", "read"), ("syscall", "call")):
        row = mine.find(op, backend=name)
        yield measured(f"limit.{name}", row.estimate if row else None, "ns")
    for (name, op), placement in ((pair, place) for pair in PAIRED.items() for place in ("same", "cross")):
        row = mine.find(op, backend=name, placement=placement)
        yield measured(f"limit.{name}.{placement}", row.estimate if row else None, "ns")
    bandwidths = {row.point.size_bytes: row.estimate for row in mine.all("copy", "bandwidth", backend="memcpy")}
    for label, size in (("cache", 256_000), ("memory", 256_000_000)):
        yield measured(f"limit.memcpy.{label}", bandwidths.get(size), "B/s")


def impossible(rows: Rows) -> Iterable[str]:
    """Yield one line for each result that is faster than its copies can be, unless it is labelled as in place.

    The bound is `passes` x bytes at the best memcpy of the same size (its fastest sample), less a tolerance.
    """
    best = {row.point.size_bytes: row.estimate.value for row in rows.all("copy", "min", study="limits")}
    for row in rows:
        passes = PASSES.get((row.point.study, row.op))
        limit = best.get(row.point.size_bytes)
        if row.metric != "p50" or passes is None or limit is None or _in_place(row):
            continue
        bound = passes * limit * TOLERANCE
        if row.estimate.value < bound:
            yield (
                f"{row.point.study} {row.point.id}: {row.estimate.value:.0f} ns is less than {passes} passes of memcpy "
                f"over {row.point.size_bytes} bytes can take ({bound:.0f} ns)"
            )


def _in_place(row: Row) -> bool:
    return row.point.study == "limits" or row.point.levels.get("receive") == IN_PLACE
