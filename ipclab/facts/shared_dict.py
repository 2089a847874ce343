"""Named facts of the shared-dictionary study, for its sentences, figures and claims (methods: seed 001)."""

from collections.abc import Iterator, Sequence
from itertools import product

from ipclab.facts.comparisons import Contest
from ipclab.facts.fact import Fact
from ipclab.facts.named import computed, measured
from ipclab.facts.rows import Rows
from ipclab.facts.shared_dict_levels import (
    CODECS,
    ENTRY_NAMES,
    FREE,
    KNOWN,
    LARGE,
    LMDB_LEVELS,
    PARTS,
    PUBLISHED,
    READERS,
    READS,
    STATE,
    STUDY,
    Get,
    codec_question,
    contest,
    getter,
    of,
    question,
    scenario_messages,
    share,
    usual_readers,
    where,
)
from ipclab.facts.shared_dict_says import says
from ipclab.report.catalogue import N_
from ipclab.stats.intervals import inverse, ratio, scale


def facts(rows: Rows, contests: Sequence[Contest]) -> Iterator[Fact]:
    """Yield the facts of the shared-dictionary study; what was not measured has no value."""
    mine = Rows(row for row in rows if row.point.study == STUDY)
    get, readers = getter(mine), usual_readers(mine)
    yield from _constants(mine, readers)
    for backend, (entries, name) in product(PUBLISHED, ENTRY_NAMES.items()):
        yield from _published(get, backend, entries, name)
    for entries, name in ENTRY_NAMES.items():
        yield from _multiples(get, entries, name)
    yield from _sweep(get, readers)
    yield from _levels(get, readers)
    yield from _live(get, readers)
    yield from _fastest(contests, mine, readers)
    yield from says(get, readers)


def _constants(rows: Rows, readers: int) -> Iterator[Fact]:
    numbers = {"readers": READERS, "reads": READS, "messages": READERS * READS, "usual_readers": readers}
    for name, value in numbers.items():
        yield computed(f"shared_dict.{name}", value, "count")
    crowded = rows.all("launch", "ranks_per_cpu", arm="read-many", readers=readers, placement=FREE)
    yield measured("shared_dict.ranks_per_cpu", crowded[0].estimate if crowded else None, "1")
    for (entries, name), codec in product(ENTRY_NAMES.items(), CODECS):
        found = rows.all("read", codec=codec, entries=entries)
        size = found[0].point.size_bytes if found else None
        yield computed(f"shared_dict.bytes.{codec}.{name}", size, "B")
        yield computed(f"shared_dict.bytes_per_entry.{codec}.{name}", size / entries if size else None, "B")
    for entries, name in ENTRY_NAMES.items():
        yield computed(f"shared_dict.entries.{name}", entries, "count")


def _published(get: Get, backend: str, entries: int, name: str) -> Iterator[Fact]:
    """Yield one cell of the published tables: writing in total, per message and per read, reading, and what it is."""
    at = where("published", backend, entries, READERS)
    stem = f"shared_dict.published.{backend}"
    total, warm, messages = get("write-total", **at), get("write", **at), scenario_messages(backend, READERS)
    each = scale(total, 1 / messages) if total else None
    yield measured(f"{stem}.write.{name}", total, "ns")
    yield computed(f"{stem}.messages.{name}", messages, "count")
    yield measured(f"{stem}.per_message.{name}", each, "ns")
    yield measured(f"{stem}.per_read.{name}", scale(total, 1 / (READERS * READS)) if total else None, "ns")
    yield measured(f"{stem}.warm.{name}", warm, "ns")
    yield measured(f"{stem}.first_over_warm.{name}", of(ratio, each, warm), "1")
    yield measured(f"{stem}.read.{name}", get("read", "mean", **at), "ns")
    yield measured(f"{stem}.read_median.{name}", get("read", **at), "ns")
    less = get("read", "mean", **where("published", backend, entries // 10, READERS))
    yield measured(f"{stem}.growth.{name}", of(ratio, get("read", "mean", **at), less), "1")
    made = get("launch", "reads", **at)
    yield measured(f"{stem}.reads.{name}", scale(made, 1 / READERS) if made else None, "count")
    long = get("read-total", **at)
    speed = inverse(long, READS * 1e9) if long else None
    yield measured(f"{stem}.throughput.{name}", speed, "1/s")
    yield measured(f"{stem}.throughput_all.{name}", scale(speed, READERS) if speed else None, "1/s")
    yield measured(f"{stem}.decode.{name}", share(get, at, "read", "decode"), "share")
    alone = get("write-total", **where("published", backend, entries, 1))
    yield measured(f"{stem}.readers_ratio.{name}", of(ratio, total, alone), "1")


def _multiples(get: Get, entries: int, name: str) -> Iterator[Fact]:
    """Yield how many times as long ZeroMQ writes, in total and per message, and how the readings compare."""
    at = {backend: where("published", backend, entries, READERS) for backend in PUBLISHED}
    shm, zmq = (get("write-total", **at[backend]) for backend in PUBLISHED[1:])
    yield measured(f"shared_dict.published.slower.{name}", of(ratio, zmq, shm), "1")
    each = of(ratio, get("write", **at["zmq-push"]), get("write", **at["shared-memory"]))
    yield measured(f"shared_dict.published.message_slower.{name}", each, "1")
    for backend in ("lmdb", "zmq-push"):
        over = of(ratio, get("read", "mean", **at["shared-memory"]), get("read", "mean", **at[backend]))
        yield measured(f"shared_dict.published.read_speed.{backend}.{name}", over, "1")


def _sweep(get: Get, readers: int) -> Iterator[Fact]:
    """Yield every mechanism over entries: stored and read by many, updated and acknowledged, and its shares."""
    for backend, (entries, name) in product(KNOWN, ENTRY_NAMES.items()):
        at = where("read-many", backend, entries, readers)
        for op in ("write", "write-cold", "read"):
            yield measured(f"shared_dict.{op}.{backend}.{name}", get(op, **at), "ns")
        for op, parts in PARTS.items():
            for part in parts:
                found = share(get, at, op, part)
                yield measured(f"shared_dict.share.{op}.{part}.{backend}.{name}", found, "share")
        for label, count in (("one", 1), ("usual", readers)):
            stream = where("stream", backend, entries, count)
            stem = f"shared_dict.update.{backend}.{label}.{name}"
            yield measured(stem, get("update", **stream), "ns")
            yield measured(f"{stem}.rate", get("launch", "messages_per_second", **stream), "1/s")
    for backend, (entries, name) in product(KNOWN, ENTRY_NAMES.items()):
        pair = (get("update", **where("stream", backend, entries, count)) for count in (READERS, 1))
        yield measured(f"shared_dict.update_growth.{backend}.{name}", of(ratio, *pair), "1")
    for backend, placement in product(KNOWN, (FREE, "same", "cross")):
        many, one = (
            get("read", **where("read-many", backend, LARGE, count, placement=placement)) for count in (readers, 1)
        )
        yield measured(f"shared_dict.placed.{backend}.{placement}", many, "ns")
        if placement == FREE:
            yield measured(f"shared_dict.read_growth.{backend}", of(ratio, many, one), "1")


def _levels(get: Get, readers: int) -> Iterator[Fact]:
    """Yield what the codec changes, and LMDB's ways to write, at the number of entries where they are varied."""
    for backend, codec in product(("posix-shm", "lmdb"), CODECS):
        at = where("read-many", backend, LARGE, readers, codec=codec)
        for op in ("write", "write.encode", "read", "read.decode"):
            yield measured(f"shared_dict.codec.{backend}.{codec}.{op}", get(op, **at), "ns")
    for (sync, mapping), op in product(LMDB_LEVELS, ("write", "read")):
        at = where("read-many", "lmdb", LARGE, readers, sync=sync, map=mapping)
        yield measured(f"shared_dict.lmdb.{sync}.{mapping}.{op}", get(op, **at), "ns")
    synced = (get("write", **where("read-many", "lmdb", LARGE, readers, sync=sync)) for sync in ("on", "off"))
    yield measured("shared_dict.lmdb.sync_ratio", of(ratio, *synced), "1")


def _live(get: Get, readers: int) -> Iterator[Fact]:
    for backend, (entries, name) in product(STATE, ((10, "small"), (LARGE, "large"))):
        at = where("live", backend, entries, readers)
        stem = f"shared_dict.live.{backend}.{name}"
        yield measured(f"{stem}.staleness", get("staleness", **at), "ns")
        yield measured(f"{stem}.staleness_p99", get("staleness", "p99", **at), "ns")
        for fact in ("reads", "torn", "versions_behind_mean", "versions_behind_max"):
            yield measured(f"{stem}.{fact}", get("launch", fact, **at), "count")


def _fastest(contests: Sequence[Contest], rows: Rows, readers: int) -> Iterator[Fact]:
    """Yield the fastest of each contest that sentences name, with all not shown to be slower unless these are all."""
    asked = {
        **{f"{op}.{name}": (op, question("read-many", readers, entries))
           for op, (entries, name) in product(("write", "read"), ENTRY_NAMES.items())},
        **{f"update.{name}": ("update", question("stream", readers, entries)) for entries, name in ENTRY_NAMES.items()},
        **{f"update_one.{name}": ("update", question("stream", 1, entries)) for entries, name in ENTRY_NAMES.items()},
        **{f"codec.{op}": (op, codec_question("posix-shm", readers)) for op in ("write", "read")},
    }  # fmt: skip
    for label, (op, about) in asked.items():
        found = contest(contests, op, about)
        tied = found.tied() if found else []
        every = found is not None and len(tied) > max(1, len(found.others))
        alone = found is None or not found.others
        names = None if alone else N_("undecided") if every else ", ".join(tied)
        yield Fact(f"shared_dict.fastest.{label}", names, "text", source="run")
    failed = {row.point.id for row in rows if any(flag.startswith("failed") for flag in row.flags)}
    yield Fact("shared_dict.points_with_failures", len(failed) if rows else None, "count", source="run")
