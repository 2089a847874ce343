"""A made-up run of the shared-dictionary study: every point of its schema, with times that follow from formulas."""

from collections.abc import Iterator
from itertools import product

import numpy as np

from ipclab.store.point import Level, Point
from ipclab.store.samples import Measured
from ipclab.store.launch import Launch

ENTRIES = (10, 100, 1_000, 10_000)
BYTES = {
    "pickle": (521, 5_105, 55_039, 577_129),
    "msgpack": (561, 5_955, 64_859, 676_859),
    "json": (757, 8_127, 86_518, 919_355),
    "fixed": (640, 6_400, 64_000, 640_000),
}
STATE = ("lmdb", "shared-memory", "posix-shm", "mpi-window")
KNOWN = (*STATE, "zmq-push", "zmq-pub", "mpi-bcast")
SPEED = dict(zip(KNOWN, (1.1, 1.0, 0.9, 0.95, 1.2, 1.5, 1.4), strict=True))
CODING = {"pickle": 1.0, "msgpack": 0.8, "json": 1.3, "fixed": 0.3}
LAUNCHES = 8
PLAIN: dict[str, Level] = {"sync": "none", "map": "none"}
LMDB: dict[str, Level] = {"sync": "off", "map": "writemap"}


def point(arm: str, backend: str, entries: int, readers: int, **levels: Level) -> Point:
    """Return a point with all levels of the study."""
    usual = LMDB if backend == "lmdb" else PLAIN
    given: dict[str, Level] = {"codec": "pickle", **usual, **levels}
    placement = str(given.pop("placement", "free"))
    size = BYTES[str(given["codec"])][ENTRIES.index(entries)]
    every: dict[str, Level] = {"arm": arm, "entries": entries, "readers": readers, "nodes": 1, **given}
    return Point("shared_dict", backend, size, placement, every, f"shared-dict-{entries}", ("read",))


def points() -> Iterator[Point]:
    """Yield the points of the quick profile."""
    for backend, entries, readers in product(("lmdb", "shared-memory", "zmq-push"), ENTRIES, (1, 3)):
        yield point("published", backend, entries, readers)
    for backend, entries, readers in product(KNOWN, ENTRIES, (1, 3)):
        if backend in STATE or (backend != "zmq-push" and readers == 3):  # a message stays with all whom it reached
            yield point("read-many", backend, entries, readers)
        if entries != ENTRIES[0]:
            yield point("stream", backend, entries, readers)
    for backend, placement in product(STATE, ("same", "cross")):
        yield point("read-many", backend, 1_000, 3, placement=placement)
    for backend, codec in product(("posix-shm", "lmdb"), ("msgpack", "json", "fixed")):
        yield point("read-many", backend, 1_000, 3, codec=codec)
    for sync, mapping in (("on", "default"), ("on", "writemap"), ("off", "default")):
        yield point("read-many", "lmdb", 1_000, 3, sync=sync, map=mapping)
    for backend, entries in product(STATE, (10, 1_000)):
        yield point("live", backend, entries, 3)


def measured(made: Point) -> Measured:
    """Return the launches of one point: a cost for each entry and each byte, and a scatter between launches."""
    random = np.random.Generator(np.random.PCG64(int(made.id[-8:], 16)))
    return Measured(made, [_launch(made, float(x)) for x in random.normal(1, 0.02, LAUNCHES)], "settled")


def _launch(made: Point, luck: float) -> Launch:
    levels = made.levels
    arm, entries, readers = levels["arm"], int(levels["entries"]), int(levels["readers"])
    coding = 150 * entries * CODING[str(levels["codec"])] * (1 + readers / 20) * luck
    carry = (2_000 + made.size_bytes / 20) * SPEED[made.backend] * luck + (90_000 if levels["sync"] == "on" else 0)
    state = made.backend in STATE
    messages, reads = 30 if state else 100 * readers, 100 * readers

    def times(ns: float, count: int = 30) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
        return (ns * np.linspace(0.9, 1.3, count)).astype(np.int64)

    numbers: dict[str, object] = {"reads": reads, "reads_wanted": reads, "messages": messages, "lost": 0}
    numbers |= {"torn": 0, "readers": readers, "ranks_per_cpu": 2.0, "reads_per_reader": [100] * readers}
    samples = {
        "write": times(coding + carry),
        "write.encode": times(coding),
        "write.transport": times(carry),
        "read": times(coding + carry),
        "read.transport": times(carry),
        "read.decode": times(coding),
    }
    if arm in ("published", "read-many"):
        samples["write-cold"] = times(3 * (coding + carry), 1)
    if arm == "published":
        samples["write-total"] = times((coding + carry) * (3 if state else messages), 1)
        samples["read-total"] = times((coding + carry) * 100, readers)
    if arm == "stream":
        samples["update"] = times((coding + carry) * (1 + readers))
        numbers["messages_per_second"] = readers / (coding + carry) * 1e9
    if arm == "live":
        samples["staleness"] = times(coding * 3)
        numbers |= {"versions_behind_mean": 0.7 * luck, "versions_behind_max": 3}
    return Launch(samples, {}, facts=numbers)
