"""Named facts of the payload study, for its sentences, figures and claims."""

from collections.abc import Callable, Iterator
from itertools import product

from ipclab.facts.fact import Fact
from ipclab.facts.named import chosen, computed, measured
from ipclab.facts.rows import Rows
from ipclab.points import Level
from ipclab.report.catalogue import N_
from ipclab.stats.intervals import Estimate, difference, ratio, scale, total
from ipclab.studies.payload import FLOAT, MOVED, SIZES
from ipclab.studies.payload.mapping import KEPT_READ_PHASES, KEPT_WRITE_PHASES, MAPPINGS, READ_PHASES, WRITE_PHASES
from ipclab.studies.payload.published import ITERATIONS
from ipclab.studies.payload.tcp import RECEIVES

SIZE_NAMES = dict(zip(SIZES, ("small", "medium", "large"), strict=True))
LARGE = SIZES[-1]
OPS = ("write", "read")
CYCLES = 20  # iterations of the filter for which the published report adds its transfers up
# The real readers: the Python side looks every 0.5 s and then sleeps 0.1 s, the C++ side looks every 1 s.
POLLING = {"python": (0.5, 0.1), "cpp": (1.0, 0.0)}
VARIANTS: dict[str, dict[str, Level]] = {
    "v09": {"receive": "recv-4096", "codec": "raw", "connection": "new"},
    "chunked": {"receive": "recv-1mib", "codec": "raw", "connection": "new"},
    "into": {"receive": "recv-into", "codec": "raw", "connection": "new"},
    "kept": {"receive": "recv-into", "codec": "raw", "connection": "kept"},
    "pickle5": {"receive": "recv-1mib", "codec": "pickle-5", "connection": "new"},
    "pickle0": {"receive": "recv-1mib", "codec": "pickle-0", "connection": "new"},
}
Get = Callable[..., Estimate | None]


def facts(rows: Rows) -> Iterator[Fact]:
    """Yield the facts of the payload study; what was not measured has no value."""

    def get(op: str, metric: str = "p50", **levels: Level) -> Estimate | None:
        row = rows.find(op, metric, study="payload", **levels)
        return row.estimate if row else None

    yield from _sizes()
    yield from _published(get)
    yield from _mapping(get)
    yield from _shares(get)
    yield from _handover(get, sorted({row.point.backend for row in rows.all("handover", arm="handover")}))
    yield from _past(get)
    yield from _then_and_now(get)
    yield from _says(get)


def _sizes() -> Iterator[Fact]:
    for size, name in SIZE_NAMES.items():
        yield computed(f"payload.size.{name}", size, "B")
        yield computed(f"payload.moved.{name}", MOVED[size], "B")
        yield computed(f"payload.floats.{name}", MOVED[size] // FLOAT, "count")
    yield computed("payload.cycles", CYCLES, "count")
    yield computed("payload.iterations", ITERATIONS, "count")
    yield computed("tcp.chunk", RECEIVES["recv-4096"], "B")
    yield computed("tcp.large_chunk", RECEIVES["recv-1mib"], "B")


def _published(get: Get) -> Iterator[Fact]:
    for (size, name), op in product(SIZE_NAMES.items(), OPS):
        stem = f"payload.published.{op}.{name}"
        where: dict[str, Level] = {"arm": "published", "size_bytes": MOVED[size]}
        yield measured(stem, get(op, **where), "ns")
        for metric, unit in (("mean", "ns"), ("sd", "ns"), ("min", "ns"), ("max", "ns"), ("bandwidth", "B/s")):
            yield measured(f"{stem}.{metric}", get(op, metric, **where), unit)
        yield measured(f"{stem}.faults", get(op, "minor_faults", **where), "count")
        alone = get(op, arm="one-thread", size_bytes=MOVED[size])
        yield measured(f"payload.one_thread.{op}.{name}", alone, "ns")
        yield measured(f"payload.threads.{op}.{name}", _of(ratio, get(op, **where), alone), "1")
        yield measured(f"{stem}.cv", _of(ratio, get(op, "sd", **where), get(op, "mean", **where)), "share")
    for size, name in SIZE_NAMES.items():
        write, read = (get(op, arm="published", size_bytes=MOVED[size]) for op in OPS)
        yield measured(f"payload.published.write_over_read.{name}", _of(ratio, write, read), "1")
        yield measured(f"payload.published.transfer.{name}", _of(_sum, write, read), "ns")
        if size == LARGE:
            yield measured("payload.published.cycles", _of(lambda w, r: scale(_sum(w, r), CYCLES), write, read), "ns")


def _mapping(get: Get) -> Iterator[Fact]:
    for mapping, (size, name), op in product(MAPPINGS, SIZE_NAMES.items(), OPS):
        where: dict[str, Level] = {"arm": "mapping", "mapping": mapping, "size_bytes": size}
        stem = f"payload.mapping.{mapping}.{op}.{name}"
        yield measured(stem, get(op, **where), "ns")
        yield measured(f"{stem}.bandwidth", get(op, "bandwidth", **where), "B/s")
        yield measured(f"{stem}.faults", get(op, "minor_faults", **where), "count")
        phases = _phases(mapping, op) if size == LARGE else ()
        for phase in phases:
            yield measured(f"{stem}.{phase}", get(f"{op}.{phase}", **where), "ns")
    for (size, name), op in product(SIZE_NAMES.items(), OPS):
        yield measured(f"payload.file.{op}.{name}", get(op, arm="file", size_bytes=size), "ns")


def _phases(mapping: str, op: str) -> tuple[str, ...]:
    if mapping == "kept":
        return KEPT_WRITE_PHASES if op == "write" else KEPT_READ_PHASES
    return WRITE_PHASES if op == "write" else READ_PHASES


def _shares(get: Get) -> Iterator[Fact]:
    """Yield where a write's time goes: the copy into a kept mapping is the copy, what it takes longer is faults."""

    def part(mapping: str, op: str) -> Estimate | None:
        return get(op, arm="mapping", mapping=mapping, size_bytes=LARGE)

    for op in OPS:
        whole, kept = part("reopened", op), part("kept", op)
        faults = _of(difference, part("reopened", f"{op}.copy"), part("kept", f"{op}.copy"))
        yield measured(f"payload.share.{op}.faults", _of(ratio, faults, whole), "share")
        yield measured(f"payload.share.{op}.copy", _of(ratio, part("kept", f"{op}.copy"), whole), "share")
        yield measured(f"payload.kept_speedup.{op}", _of(ratio, whole, kept), "1")
    for phase in ("serialise", "flush", "unmap", "open"):
        share = _of(ratio, part("reopened", f"write.{phase}"), part("reopened", "write"))
        yield measured(f"payload.share.write.{phase}", share, "share")
    truncated = _of(ratio, part("truncated", "write"), part("reopened", "write"))
    yield measured("payload.truncated_over_reopened", truncated, "1")
    longest = _of(ratio, part("truncated", "write"), part("kept", "write"))
    yield measured("payload.truncated_over_kept", longest, "1")


def _handover(get: Get, backends: list[str]) -> Iterator[Fact]:
    known = sorted({*backends, "mp-shm", "posix-shm", "shm-mmap"})
    for backend, placement, (size, name) in product(known, ("same", "cross", "free"), SIZE_NAMES.items()):
        where: dict[str, Level] = {"arm": "handover", "backend": backend, "placement": placement, "size_bytes": size}
        stem = f"payload.handover.{backend}.{placement}.{name}"
        yield measured(stem, get("handover", **where), "ns")
        yield measured(f"{stem}.bandwidth", get("handover", "bandwidth", **where), "B/s")


def _past(get: Get) -> Iterator[Fact]:
    for (variant, levels), nodelay, placement, (size, name) in product(
        VARIANTS.items(), ("off", "on"), ("same", "cross"), SIZE_NAMES.items()
    ):
        where = {**levels, "arm": "tcp", "nodelay": nodelay, "placement": placement, "size_bytes": size}
        stem = f"payload.tcp.{variant}.{nodelay}.{placement}.{name}"
        yield measured(stem, get("handover", **where), "ns")
        yield measured(f"{stem}.bandwidth", get("handover", "bandwidth", **where), "B/s")


def _then_and_now(get: Get) -> Iterator[Fact]:
    for placement in ("same", "cross"):
        where: dict[str, Level] = {"placement": placement, "size_bytes": LARGE}
        now = get("handover", arm="handover", backend="shm-mmap", **where)
        past = get("handover", arm="tcp", nodelay="off", **VARIANTS["v09"], **where)
        sound = get("handover", arm="tcp", nodelay="on", **VARIANTS["kept"], **where)
        yield measured(f"payload.past_over_now.{placement}", _of(ratio, past, now), "1")
        yield measured(f"payload.sound_over_now.{placement}", _of(ratio, sound, now), "1")
        yield measured(f"payload.past_over_sound.{placement}", _of(ratio, past, sound), "1")
        write, read = (get(op, arm="published", size_bytes=MOVED[LARGE]) for op in OPS)
        yield measured(f"payload.past_over_published.{placement}", _of(ratio, past, _of(_sum, write, read)), "1")
        small = {**VARIANTS["kept"], "arm": "tcp", "placement": placement, "size_bytes": SIZES[0]}
        nagle = _of(ratio, get("handover", nodelay="off", **small), get("handover", nodelay="on", **small))
        yield measured(f"payload.nagle.{placement}", nagle, "1")
    transfer = _of(_sum, *(get(op, arm="published", size_bytes=MOVED[LARGE]) for op in OPS))
    for reader, (interval, sleep) in POLLING.items():
        waiting = (interval / 2 + sleep) * 1e9  # an arrival is uniform between two looks
        yield computed(f"payload.polling.{reader}.interval", int(interval * 1e9), "ns")
        yield computed(f"payload.polling.{reader}.waiting", int(waiting), "ns")
        over = waiting / transfer.value if transfer else None
        yield computed(f"payload.polling.{reader}.over_transfer", over, "1")


def _sum(*parts: Estimate) -> Estimate:
    return total(parts)


def _of(make: Callable[..., Estimate], *parts: Estimate | None) -> Estimate | None:
    """Return `make` of the parts, or None when one of them was not measured."""
    there = [part for part in parts if part is not None]
    return make(*there) if len(there) == len(parts) else None


READS = (
    N_("Reads of the largest payload take less time than writes."),
    N_("Reads of the largest payload take longer than writes."),
    N_("Whether reads or writes of the largest payload take longer is undecided in this run."),
)
FAULTS = (
    N_("Page faults are more than half of a write."),
    N_("Page faults are less than half of a write."),
    N_("Whether page faults are more than half of a write is undecided in this run."),
)
FLUSH = (
    N_("The flush is a small part of a write and does not decide how long it takes."),
    N_("The flush takes a notable part of a write."),
    N_("Whether the flush takes a notable part of a write is undecided in this run."),
)
PAST = (
    N_("Most of the improvement over v0.9 comes from how its receiver read, not from leaving TCP."),
    N_("Most of the improvement over v0.9 comes from leaving TCP, not from how its receiver read."),
    N_("Whether the improvement over v0.9 comes from its receiver or from leaving TCP is undecided in this run."),
)
PLACEMENT = (
    N_("Where the two processes run changes a small transfer more than which way of sharing memory they use."),
    N_("Which way of sharing memory two processes use changes a small transfer more than where they run."),
    N_("Whether placement or the way of sharing memory matters more for a small transfer is undecided in this run."),
)
NOTABLE_SHARE = 0.1


def _says(get: Get) -> Iterator[Fact]:
    """Yield the sentences that the data choose: what an interval does not support is said to be undecided."""
    write, read = (get(op, arm="published", size_bytes=MOVED[LARGE]) for op in OPS)
    yield chosen("payload.says.reads", _of(ratio, write, read), 1.0, READS)
    whole = get("write", arm="mapping", mapping="reopened", size_bytes=LARGE)
    copies = (get("write.copy", arm="mapping", mapping=name, size_bytes=LARGE) for name in ("reopened", "kept"))
    yield chosen("payload.says.faults", _of(ratio, _of(difference, *copies), whole), 0.5, FAULTS)
    flush = _of(ratio, whole, get("write.flush", arm="mapping", mapping="reopened", size_bytes=LARGE))
    yield chosen("payload.says.flush", flush, 1 / NOTABLE_SHARE, FLUSH)
    where: dict[str, Level] = {"placement": "cross", "size_bytes": LARGE}
    now = get("handover", arm="handover", backend="shm-mmap", **where)
    past = get("handover", arm="tcp", nodelay="off", **VARIANTS["v09"], **where)
    sound = get("handover", arm="tcp", nodelay="on", **VARIANTS["kept"], **where)
    steps = _of(ratio, past, sound), _of(ratio, sound, now)
    yield chosen("payload.says.past", _of(ratio, *steps), 1.0, PAST)
    yield chosen("payload.says.placement", _placement_effect(get), 1.0, PLACEMENT)


def _placement_effect(get: Get) -> Estimate | None:
    """Return by how much placement moves the small handover, over how much the mechanisms differ on two CPUs."""
    small: dict[str, Level] = {"arm": "handover", "size_bytes": SIZES[0]}
    cross = [get("handover", backend=name, placement="cross", **small) for name in ("mp-shm", "posix-shm", "shm-mmap")]
    there = sorted((found for found in cross if found), key=lambda found: found.value)
    same = get("handover", backend="shm-mmap", placement="same", **small)
    if len(there) < len(cross) or same is None or cross[-1] is None:
        return None
    return ratio(ratio(cross[-1], same), ratio(there[-1], there[0]))
