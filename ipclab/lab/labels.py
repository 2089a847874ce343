"""What factors, levels, operations and metrics are called in reports (`labels.toml`); others show as they are."""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from ipclab.studies.multiplexer import CALLS, NODES

KIB = 1 << 10
# Units of factors; what stands here is written with its unit, what is counted without.
UNITS = {
    **dict.fromkeys(("size_bytes", "file_bytes", "message", "chunk", "threshold"), "B"),
    **dict.fromkeys(("gap_ns", "compute_ns", "work_ns", "limit", "ns"), "ns"),
}
COUNTED = (
    *("entries", "readers", "streams", "sinks", "threads", "flight", "depth", "files", "nodes", "launches", "samples"),
    *("consumers", "window", "batch", "rate", "load"),
)
SAID: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_name("labels.toml").read_text("utf-8"))
NAMES, LEVELS = SAID["names"], SAID["levels"] | SAID["plain"]
ORDER = {  # of levels that have one
    "placement": ("same", "cross", "free"),
    "wait": ("block", "spin-then-block", "spin"),
    "op": ("write", "read", "handover"),
    "backend": (*NODES, *CALLS),  # the others are in the order of the frame
    "node": NODES,
    "side": ("write-cached", "write-memory", "receive-memory", "end-to-end-pipe", "end-to-end-unix"),
    "source": ("published", "here"),
    "fault": (
        *("killed-idle", "killed-writing", "killed-reading", "killed-locked"),
        *("stopped-writing", "stopped-reading", "slow-reading"),
    ),
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
