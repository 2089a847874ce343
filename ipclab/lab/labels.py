"""What factors, levels, operations and metrics are called in reports: msgids by name; others show as they are."""

from collections.abc import Iterable
from typing import Any

from ipclab.lab.catalogue import N_

# Units of factors; what stands here is written with its unit, what is counted without.
UNITS = {"size_bytes": "B", "gap_ns": "ns", "compute_ns": "ns", "chunk": "B", "threshold": "B", "limit": "ns"}
COUNTED = ("entries", "readers", "streams", "threads", "flight", "files", "nodes", "launches", "samples")
NAMES = {
    # factors and columns
    "backend": N_("Mechanism"),
    "size_bytes": N_("Payload"),
    "placement": N_("Placement"),
    "op": N_("Op"),
    "over_limit": N_("× limit"),
    "flags": N_("Flags"),
    "wait": N_("Waits by"),
    "launches": N_("Launches"),
    "samples": N_("Samples"),
    "p50": N_("median"),
    "bandwidth": N_("bandwidth at the median"),
    "cpu_ns": N_("CPU time"),
    # operations
    "write": N_("write"),
    "read": N_("read"),
    "handover": N_("handover"),
    "round-trip": N_("round trip"),
}
LEVELS = {
    "same": N_("same CPU"),
    "cross": N_("two CPUs"),
    "free": N_("scheduler's choice"),
    "block": N_("block"),
    "spin": N_("spin"),
    "spin-then-block": N_("spin, then block"),
}
ORDER = {  # of levels that have one
    "placement": ("same", "cross", "free"),
    "wait": ("block", "spin-then-block", "spin"),
    "op": ("write", "read", "handover"),
}


def ordered(factor: str, levels: Iterable[Any]) -> list[Any]:
    """Return levels in their usual order: known ones first, the others as they come."""
    known, found = ORDER.get(factor, ()), list(levels)
    return [level for level in known if level in found] + [level for level in found if level not in known]
