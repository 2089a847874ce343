"""What the points and contests of the shared-dictionary study are called: its levels (methods: seed 001)."""

from collections.abc import Callable, Sequence
from itertools import product

from ipclab.facts.comparisons import Contest
from ipclab.facts.rows import Rows
from ipclab.points import Level
from ipclab.stats.intervals import Estimate, ratio, total

STUDY = "shared_dict"
ENTRY_NAMES = {10: "small", 100: "medium", 1_000: "large", 10_000: "largest", 100_000: "huge"}
LARGE, LARGEST = 1_000, 10_000
PUBLISHED = ("lmdb", "shared-memory", "zmq-push")
STATE = ("lmdb", "shared-memory", "posix-shm", "mpi-window")  # a store is read as often as readers like
MESSAGES = ("zmq-push", "zmq-pub", "mpi-bcast")  # each message is taken once
KNOWN = (*STATE, *MESSAGES)
CODECS = ("pickle", "msgpack", "json", "fixed")
LMDB_LEVELS = tuple(product(("on", "off"), ("default", "writemap")))
USUAL: dict[str, dict[str, Level]] = {"lmdb": {"sync": "off", "map": "writemap"}}  # as published
READERS, READS = 3, 100  # as published: readers, and reads by each
PARTS = {"write": ("encode", "transport"), "read": ("decode", "transport")}
FREE = "free"
Get = Callable[..., Estimate | None]


def where(arm: str, backend: str, entries: int, readers: int, **levels: Level) -> dict[str, Level]:
    """Return the levels of one point: pickled, placed by the scheduler and on one node, unless `levels` say else."""
    named: dict[str, Level] = {"study": STUDY, "arm": arm, "backend": backend, "entries": entries, "readers": readers}
    return {**named, "codec": "pickle", "placement": FREE, "nodes": 1, **USUAL.get(backend, {}), **levels}


def scenario_messages(backend: str, readers: int) -> int:
    """Return what the published scenario writes: one store, or a message for each reader and read."""
    return 1 if backend in STATE else readers * READS


def reader_counts(rows: Rows, arm: str = "read-many") -> list[int]:
    """Return the numbers of readers that were measured in an arm, rising."""
    ops = {"published": "read", "stream": "update", "live": "staleness"}
    found = rows.all(ops.get(arm, "read"), study=STUDY, arm=arm)
    return sorted({int(row.point.levels["readers"]) for row in found})


def usual_readers(rows: Rows) -> int:
    """Return the number of readers that tables and facts are for: the most that were measured."""
    counts = [reader_counts(rows, arm) for arm in ("read-many", "stream", "published")]
    return max((max(each) for each in counts if each), default=READERS)


def contest(
    contests: Sequence[Contest], op: str, question: str, placement: str = FREE, size: int | None = None
) -> Contest | None:
    """Return the contest of `op` and `question`, of any size when `size` is None; None when it was not measured."""
    wanted = (STUDY, op, question, placement)
    found = (each for each in contests if (each.study, each.op, each.question, each.placement) == wanted)
    return next((each for each in found if size in (None, each.size_bytes)), None)


def question(arm: str, readers: int, entries: int) -> str:
    """Return the question of the contest of all mechanisms of `arm`."""
    return f"arm={arm} readers={readers} entries={entries}"


def codec_question(backend: str, readers: int) -> str:
    """Return the question of the contest of all codecs in `backend`."""
    return f"backend={backend} readers={readers} entries={LARGE}"


def lmdb_question(sync: str, readers: int) -> str:
    """Return the question of the contest of LMDB's two ways to map, with or without synchronous writing."""
    return f"arm=read-many backend=lmdb sync={sync} readers={readers} entries={LARGE}"


def getter(rows: Rows) -> Get:
    """Return what finds the estimate of an op and metric (`p50` where none is given) by levels, or None."""

    def get(op: str, metric: str = "p50", /, **levels: Level) -> Estimate | None:
        row = rows.find(op, metric, **levels)
        return row.estimate if row else None

    return get


def of(make: Callable[..., Estimate], *parts: Estimate | None) -> Estimate | None:
    """Return `make` of the parts, or None when one of them was not measured."""
    there = [part for part in parts if part is not None]
    return make(*there) if len(there) == len(parts) else None


def share(get: Get, at: dict[str, Level], op: str, part: str) -> Estimate | None:
    """Return a part (encode, decode or transport) of `op` over the sum of its two parts, which is at most 1."""
    parts = {name: get(f"{op}.{name}", **at) for name in PARTS[op]}
    found = parts.pop(part)
    return of(lambda mine, other: ratio(mine, total([mine, other])), found, *parts.values())
