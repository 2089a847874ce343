"""What factors, levels, operations and metrics are called in reports (`labels.toml`), and how they
are ordered.
"""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from ipclab.studies.multiplexer import CALLS, NODES

KIB = 1 << 10
SAID, LEVELLED = (
    tomllib.loads(Path(__file__).with_name(name).read_text("utf-8"))
    for name in ("labels.toml", "levels.toml")
)
NAMES, LEVELS = SAID["names"], SAID["levels"] | SAID["plain"]
# What has a unit is written with it, what is counted without.
UNITS = {name: unit for unit, names in LEVELLED["units"].items() for name in names}
COUNTED = LEVELLED["counted"]
KNOWN = {  # words that mean something
    *NAMES,
    *LEVELS,
    *LEVELLED["known"]["op"],
    *LEVELLED["known"]["metric"],
}
# others are in the order of the frame
ORDER = LEVELLED["order"] | {"node": NODES, "backend": (*NODES, *CALLS)}


def ordered(factor: str, levels: Iterable[Any]) -> list[Any]:
    """Return levels in their usual order: known ones first, the others as they come."""
    known, found = ORDER.get(factor, ()), list(levels)
    return [level for level in known if level in found] + [
        level for level in found if level not in known
    ]


def ordered_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Return what `pivot` made with its columns in their levels' order; several values of one level
    stand together.
    """
    if frame.columns.nlevels == 1 and frame.columns.name:
        return frame[ordered(str(frame.columns.name), frame.columns)]
    if (
        frame.columns.nlevels == 2  # noqa: PLR2004
        and frame.columns.names[0] is None
        and frame.columns.names[1]
    ):
        values, levels = (
            list(dict.fromkeys(frame.columns.get_level_values(place))) for place in (0, 1)
        )
        wanted = [
            (level, value)
            for level in ordered(str(frame.columns.names[1]), levels)
            for value in values
        ]
        turned = frame.swaplevel(axis="columns")
        return turned[[column for column in wanted if column in turned]]
    return frame


def in_order(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose index, and columns of several levels, have known levels in their usual
    order.

    What is not sorted as the alphabet has it was put into an order of its own, and keeps it.
    """

    def ranks(levels: pd.Index) -> pd.Index:
        # pandas maps categories, of no row too
        known = {*levels, *getattr(levels, "categories", ())}
        return levels.map(ordered(str(levels.name), sorted(known)).index)

    for axis in (0, 1):
        found = frame.axes[axis]
        known = not axis or None not in found.names
        if known and any(name in ORDER for name in found.names) and found.is_monotonic_increasing:
            frame = frame.sort_index(axis=axis, key=ranks)
    return frame


def spec(factor: str, level: Any) -> str:
    """Return how a level is printed: bytes that are a power of two in binary units, others exactly."""
    if UNITS.get(factor) != "B" or int(level) < KIB or int(level) & (int(level) - 1):
        return ""
    return "MiB,int" if int(level) >= KIB**2 else "KiB,int"
