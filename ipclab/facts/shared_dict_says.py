"""Sentences of the shared-dictionary study whose direction the data choose; what no interval supports is undecided."""

from collections.abc import Iterator

from ipclab.facts.fact import Fact
from ipclab.facts.named import chosen
from ipclab.facts.shared_dict_levels import (
    CODECS,
    LARGE,
    LARGEST,
    PUBLISHED,
    READERS,
    Get,
    of,
    share,
    where,
)
from ipclab.report.catalogue import N_
from ipclab.stats.intervals import ratio

TOTAL = (
    N_("Writing the whole scenario takes longer through ZeroMQ than into shared memory."),
    N_("Writing the whole scenario takes less time through ZeroMQ than into shared memory."),
    N_("Whether the whole scenario is written faster through ZeroMQ or into shared memory is undecided in this run."),
)
EACH = (
    N_("One message through ZeroMQ takes longer than one store into shared memory."),
    N_("One message through ZeroMQ takes less time than one store into shared memory."),
    N_("Whether one message or one store takes longer is undecided in this run."),
)
FIRST = (
    N_("The first write into shared memory, which is the published one, takes longer than a later one."),
    N_("The first write into shared memory, which is the published one, takes less time than a later one."),
    N_("Whether the first write into shared memory takes longer than a later one is undecided in this run."),
)
ORDERS = (
    N_("Which of LMDB and SharedMemory is read faster changes with the number of entries."),
    N_("Which of LMDB and SharedMemory is read faster does not change with the number of entries."),
    N_("Whether LMDB or SharedMemory is read faster is undecided in this run at one number of entries at least."),
)
DECODE = (
    N_("Decoding takes more than half of a read of the largest pickled dictionary, whatever carries it."),
    N_("Decoding takes less than half of a read of the largest pickled dictionary, whatever carries it."),
    N_("Whether decoding takes more than half of a read is undecided, or depends on what carries the dictionary."),
)
GROWTH = (
    N_("Reading grows faster than the number of entries."),
    N_("Reading grows more slowly than the number of entries."),
    N_("That reading grows in proportion to the number of entries is not refuted in this run."),
)
CROWD = (
    N_("A read takes longer when more processes read at the same time."),
    N_("A read takes less time when more processes read at the same time."),
    N_("Whether more readers make a read take longer is undecided in this run."),
)
CODEC = (
    N_("MessagePack is read faster than pickle."),
    N_("MessagePack is read more slowly than pickle."),
    N_("Whether MessagePack or pickle is read faster is undecided in this run."),
)
SYNC = (
    N_("Writing to disk at each commit makes LMDB's store take longer."),
    N_("Writing to disk at each commit makes LMDB's store take less time."),
    N_("Whether writing to disk at each commit makes LMDB's store take longer is undecided in this run."),
)
STREAM = (
    N_("An update that every reader acknowledges takes longer through ZeroMQ than through shared memory."),
    N_("An update that every reader acknowledges takes less time through ZeroMQ than through shared memory."),
    N_("Whether an acknowledged update is faster through ZeroMQ or through shared memory is undecided in this run."),
)


def says(get: Get, readers: int) -> Iterator[Fact]:
    """Yield the sentences that the data choose: what an interval does not support is said to be undecided."""
    shm, zmq = (where("published", backend, LARGEST, READERS) for backend in PUBLISHED[1:])
    yield chosen("shared_dict.says.total", of(ratio, get("write-total", **zmq), get("write-total", **shm)), 1, TOTAL)
    yield chosen("shared_dict.says.each", of(ratio, get("write", **zmq), get("write", **shm)), 1, EACH)
    yield chosen("shared_dict.says.first", of(ratio, get("write-total", **shm), get("write", **shm)), 1, FIRST)
    yield Fact("shared_dict.says.orders", _orders(get), "text", source="run")
    yield Fact("shared_dict.says.decode", _decoding(get), "text", source="run")
    steps = (get("read", "mean", **where("published", "shared-memory", n, READERS)) for n in (LARGEST, LARGE))
    yield chosen("shared_dict.says.growth", of(ratio, *steps), LARGEST / LARGE, GROWTH)
    crowd = (get("read", **where("read-many", "posix-shm", LARGE, count)) for count in (readers, 1))
    yield chosen("shared_dict.says.crowd", of(ratio, *crowd) if readers > 1 else None, 1, CROWD)
    codecs = (get("read", **where("read-many", "posix-shm", LARGE, readers, codec=name)) for name in CODECS[:2])
    yield chosen("shared_dict.says.codec", of(ratio, *codecs), 1, CODEC)
    synced = (get("write", **where("read-many", "lmdb", LARGE, readers, sync=sync)) for sync in ("on", "off"))
    yield chosen("shared_dict.says.sync", of(ratio, *synced), 1, SYNC)
    streams = (get("update", **where("stream", name, LARGEST, readers)) for name in ("zmq-push", "posix-shm"))
    yield chosen("shared_dict.says.stream", of(ratio, *streams), 1, STREAM)


def _orders(get: Get) -> str | None:
    """Return the sentence on the order of two mechanisms at the two numbers of entries that the text contrasts."""
    found = []
    for entries in (LARGE, LARGEST):
        pair = (get("read", **where("published", name, entries, READERS)) for name in PUBLISHED[:2])
        over = of(ratio, *pair)
        if over is None:
            return None
        found.append(1 if over.low > 1 else -1 if over.high < 1 else 0)
    return ORDERS[2] if 0 in found else ORDERS[found[0] == found[1]]


def _decoding(get: Get) -> str | None:
    """Return the sentence on decoding's share of a read of the largest dictionary by the published mechanisms."""
    found = []
    for backend in PUBLISHED:
        decoding = share(get, where("published", backend, LARGEST, READERS), "read", "decode")
        if decoding is None:
            return None
        found.append(decoding)
    over, under = all(each.low > 0.5 for each in found), all(each.high < 0.5 for each in found)  # noqa: PLR2004
    return DECODE[0] if over else DECODE[1] if under else DECODE[2]
