"""How often the samples of an op fit into the time of their heat: once, where a loop is serial.

What a study overlaps decides: readers beside each other, reads in flight, ages of what waits in a
queue. A study of a plug-in is not known here, and gets a bound that only noise of a clock exceeds.
"""

from math import inf

from ipclab.store.launch import Launch
from ipclab.store.point import Point

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


def overlap(point: Point, launch: Launch, op: str) -> float:
    """Return how many times the time of its heat the samples of `op` may take together."""
    name = op.partition(".")[0]
    if op in AGES:
        return inf
    if op in FLOWING:
        return SCALED["stream"]
    if point.study in SERIAL:
        return 1.0
    if point.study == "shared_dict":
        return _level(point, "readers") if name.startswith("read") else 1.0
    if point.study == "file_io":
        threads = _level(point, "threads")
        in_flight = op in ("file.latency", "file.read")
        return threads * (_level(point, "depth") if in_flight else 1.0)
    return SCALED.get(point.study, OF_OTHERS)


def longest(point: Point, op: str) -> float:
    """Return how many times the time of its heat one sample of `op` may take."""
    if op in FLOWING:
        return SCALED["stream"]
    known = point.study in SERIAL or point.study in ("shared_dict", "file_io") or op in AGES
    return 1.0 if known else SCALED.get(point.study, OF_OTHERS)


def _level(point: Point, factor: str) -> float:
    value = point.levels.get(factor, 1)
    return float(max(1, value)) if isinstance(value, int) else 1.0
