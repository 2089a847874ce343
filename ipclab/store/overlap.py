"""How often the samples of an op fit into the time of their heat: once, where a loop is serial.

What a study overlaps decides: readers beside each other, reads in flight, ages of what waits in a
queue. A study of another package's plug-in is not known here, and gets a bound that only noise of a
clock exceeds.
"""

from math import inf

from ipclab.store.launch import UNRECORDED
from ipclab.store.point import Point

# `neighbours` is of older runs.
SERIAL = {
    "calibration", "faults", "limits", "neighbours", "objects", "payload", "round_trip", "spin",
    "tasks",
}  # fmt: skip
# Ages of messages, which grow beside each other: from when they were due, sent or written.
AGES = {"intended", "from-send", "staleness"}
# A turn of these is scaled to the operations of all turns alike, and turns differ in how many
# they hold: no clock says how long such a sample lasted.
SCALED = {"stream": 25.0, "multiplexer": 100.0}
FLOWING = {"sent", "received"}  # scaled in the limits of streams, too
OF_OTHERS = 1_000.0


def overlap(point: Point, op: str) -> tuple[float, float]:
    """Return how many times the time of its heat one sample of `op` may take, and all together."""
    op = op.removeprefix(UNRECORDED)
    if op in AGES:
        return 1.0, inf
    if point.study == "shared_dict":
        return 1.0, _level(point, "readers") if op.startswith("read") else 1.0
    if point.study == "file_io":
        in_flight = op in ("file.latency", "file.read")
        return 1.0, _level(point, "threads") * (_level(point, "depth") if in_flight else 1.0)
    if point.study in SERIAL and op not in FLOWING:
        return 1.0, 1.0
    scaled = SCALED.get("stream" if op in FLOWING else point.study, OF_OTHERS)
    return scaled, scaled


def _level(point: Point, factor: str) -> float:
    value = point.levels.get(factor, 1)
    return float(max(1, value)) if isinstance(value, int) else 1.0
