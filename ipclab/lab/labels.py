"""What factors, levels, operations and metrics are called in reports: msgids by name; others show as they are."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from ipclab.lab.catalogue import N_
from ipclab.studies.multiplexer import NODES, SAME_CODE

KIB = 1 << 10
# Units of factors; what stands here is written with its unit, what is counted without.
UNITS = {
    **dict.fromkeys(("size_bytes", "file_bytes", "message", "chunk", "threshold"), "B"),
    **dict.fromkeys(("gap_ns", "compute_ns", "limit", "ns"), "ns"),
}
COUNTED = ("entries", "readers", "streams", "threads", "flight", "depth", "files", "nodes", "launches", "samples")
NAMES = {
    "entries": N_("Entries"),
    "readers": N_("Readers"),
    "nodes": N_("Nodes"),
    "codec": N_("Codec"),
    # factors and columns
    "backend": N_("Mechanism"),
    "size_bytes": N_("Payload"),
    "placement": N_("Placement"),
    "study": N_("Study"),
    "op": N_("Op"),
    "over_limit": N_("× limit"),
    "flags": N_("Flags"),
    "gap_ns": N_("Gap"),
    "receive": N_("Received as"),
    "touch": N_("Reads"),
    "wait": N_("Waits by"),
    "launches": N_("Launches"),
    "samples": N_("Samples"),
    "p50": N_("median"),
    "bandwidth": N_("bandwidth at the median"),
    "p99": N_("p99"),
    "cpu_ns": N_("CPU time"),
    "total_ns": N_("Total"),
    "round_trips_per_second": N_("Round trips a second"),
    # columns of what a run says of itself
    "item": N_("Item"),
    "value": N_("Value"),
    "fact": N_("Fact"),
    "what": N_("Limit"),
    "comparisons": N_("comparisons of identical code"),
    "false_alarms": N_("of these called different"),
    "upper": N_("upper bound of that share"),
    "smallest": N_("smallest planted slow-down found"),
    # columns of contests
    "fastest": N_("Fastest"),
    "tied": N_("Fastest"),
    "detectable": N_("Detectable slow-down"),
    "file_bytes": N_("File"),
    "cache": N_("Cache"),
    "roles": N_("Roles"),
    "threads": N_("Threads"),
    "depth": N_("In flight"),
    "compute_ns": N_("Mean work"),
    "execution_share": N_("executing"),
    "io_wait_share": N_("waiting for the disk"),
    "work_wait_share": N_("waiting for work"),
    "preempted_share": N_("waiting for a CPU"),
    # operations
    "write": N_("write"),
    "read": N_("read"),
    "handover": N_("handover"),
    "round-trip": N_("round trip"),
    "write.encode": N_("encoding"),
    "write.transport": N_("transport of the write"),
    "read.transport": N_("transport of the read"),
    "read.decode": N_("decoding"),
    "end-to-end": N_("both ends"),
    # the multiplexer: nodes and their messages, memory, streams
    "node": N_("Node"),
    "message": N_("Message"),
    "chunk": N_("Chunk"),
    "pool": N_("Pool"),
    "threshold": N_("Threshold"),
    "streams": N_("Streams"),
    "fairness": N_("Slowest over mean"),
    "receiver": N_("receiver"),
    "sender": N_("sender"),
    "bytes_allocated": N_("bytes allocated"),
    "allocations": N_("allocations"),
    "time": N_("time"),
    "over_original": N_("time over Original"),
    "bytes_over_original": N_("bytes over Original"),
    "elapsed": N_("elapsed"),
    "elapsed.read-end": N_("read calls end"),
    "file.open": N_("open"),
    "file.submit": N_("read call"),
    "file.read": N_("read"),
    "file.latency": N_("latency of a file"),
    "file.fault": N_("page faults"),
}
LEVELS = {
    # codecs; LMDB's ways to write
    "msgpack": "MessagePack",
    "json": "JSON",
    "fixed": N_("fixed layout"),
    "lmdb default": N_("lmdb, pages written"),
    "lmdb writemap": N_("lmdb, writable map"),
    "same": N_("same CPU"),
    "cross": N_("two CPUs"),
    "free": N_("scheduler's choice"),
    "block": N_("block"),
    "spin": N_("spin"),
    "spin-then-block": N_("spin, then block"),
    "untouched": N_("untouched"),
    "header": N_("header"),
    "full": N_("every byte"),
    "bytes": N_("new object"),
    "into": N_("caller's buffer"),
    "view": N_("in place"),
    "yes": N_("yes"),
    "no": N_("no"),
    "here": N_("here"),
    # what is measured of a multiplexer
    "write-memory": N_("writing, in memory"),
    "receive-memory": N_("receiving, in memory"),
    "end-to-end-pipe": N_("both ends, pipe"),
    "end-to-end-unix": N_("both ends, Unix socket"),
    # why a point ended
    "precise": N_("precise"),
    "settled": N_("settled"),
    "budget": N_("budget"),
    # ways to read files, states of the page cache, buffers
    "sync": N_("read, serial"),
    "overlapped": N_("read, overlapped"),
    "mmap": N_("map"),
    "cold": N_("cold"),
    "warm": N_("warm"),
    "fresh": N_("fresh buffer"),
    "prefaulted": N_("pages touched before"),
    "registered": N_("registered buffer"),
}
ORDER = {  # of levels that have one
    "placement": ("same", "cross", "free"),
    "wait": ("block", "spin-then-block", "spin"),
    "op": ("write", "read", "handover"),
    "backend": (*NODES, *SAME_CODE),  # the others are in the order of the frame
    "node": NODES,
    "side": ("write-memory", "receive-memory", "end-to-end-pipe", "end-to-end-unix"),
    "source": ("published", "here"),
    "touch": ("untouched", "header", "full"),
}


def ordered(factor: str, levels: Iterable[Any]) -> list[Any]:
    """Return levels in their usual order: known ones first, the others as they come."""
    known, found = ORDER.get(factor, ()), list(levels)
    return [level for level in known if level in found] + [level for level in found if level not in known]


def ordered_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what `pivot` made with its columns in their levels' order; several values of one level stand together."""
    if frame.columns.nlevels == 1 and frame.columns.name:
        return frame[ordered(str(frame.columns.name), frame.columns)]
    if frame.columns.nlevels == 2 and frame.columns.names[0] is None and frame.columns.names[1]:  # noqa: PLR2004
        values, levels = (list(dict.fromkeys(frame.columns.get_level_values(place))) for place in (0, 1))
        wanted = [(level, value) for level in ordered(str(frame.columns.names[1]), levels) for value in values]
        turned = frame.swaplevel(axis="columns")
        return turned[[column for column in wanted if column in turned]]
    return frame


def in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose index, and columns of several levels, have known levels in their usual order.

    What is not sorted as the alphabet has it was put into an order of its own, and keeps it.
    """
    for axis in (0, 1):
        found = frame.axes[axis]
        known = not axis or None not in found.names
        if known and any(name in ORDER for name in found.names) and found.is_monotonic_increasing:
            frame = frame.sort_index(axis=axis, key=_ranks)
    return frame


def _ranks(levels: pd.Index) -> pd.Index:
    usual = ordered(str(levels.name), sorted(set(levels)))
    return pd.Index([usual.index(level) for level in levels], name=levels.name)


def spec(factor: str, level: Any) -> str:
    """Return how a level is printed: bytes that are a power of two in binary units, others exactly."""
    if UNITS.get(factor) != "B" or int(level) < KIB or int(level) & (int(level) - 1):
        return ""
    return "MiB,int" if int(level) >= KIB**2 else "KiB,int"
