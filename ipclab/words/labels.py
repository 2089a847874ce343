"""What factors, levels, ops and metrics are called (`labels.toml`), and their order."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ipclab.paths import table_beside

if TYPE_CHECKING:  # fork servers read this, too, and each fork takes the longer, the more is loaded
    import pandas as pd

KIB = 1 << 10
SIZED = "size-"  # begins the name of a set of files that are all of one size
WORDS = table_beside(__file__, "labels.toml")
LEVEL_TABLES = table_beside(__file__, "levels.toml")
NAMES = {name: name for name in WORDS["same"]["names"].split()} | WORDS["names"]
LEVELS = (
    {level: level for level in WORDS["same"]["levels"].split()} | WORDS["levels"] | WORDS["plain"]
)
PROFILES = LEVELS | WORDS["profiles"]
# What has a unit is written with it, what is counted without.
UNITS = {name: unit for unit, names in LEVEL_TABLES["units"].items() for name in names}
COUNTED = LEVEL_TABLES["counted"].split()
KNOWN = {  # levels, operations and metrics that some run has
    *NAMES,
    *LEVELS,
    *LEVEL_TABLES["known"]["op"].split(),
    *LEVEL_TABLES["known"]["metric"].split(),
}
# The usual order of levels by factor; other levels are in the order of their frame.
ORDER = LEVEL_TABLES["order"]


def ordered(factor: str, levels: Iterable[Any]) -> list[Any]:
    """Return levels in their usual order: known ones first, the others as they come."""
    usual = list(ORDER.get(factor, ()))
    return sorted(levels, key=lambda level: usual.index(level) if level in usual else len(usual))


def ordered_columns(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return what `pivot` made with columns in their levels' order, one level together."""
    *values, factor = frame.columns.names
    if factor and not values:
        return frame[ordered(str(factor), frame.columns)]
    if factor and values == [None]:
        turned = frame.swaplevel(axis="columns")
        levels = ordered(str(factor), turned.columns.unique(0))
        firsts = turned.columns.get_level_values(0)
        places = sorted(range(len(firsts)), key=lambda place: levels.index(firsts[place]))
        return turned.iloc[:, places]
    return frame


def in_order(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame whose index, and nested columns, have levels in their usual order.

    What is not sorted as the alphabet has it was put into an order of its own, and keeps it.
    """

    def ranks(levels: "pd.Index") -> "pd.Index":
        # pandas maps categories, of no row too
        possible = {*levels, *getattr(levels, "categories", ())}
        return levels.map(ordered(str(levels.name), sorted(possible)).index)

    for axis in (0, 1):
        index = frame.axes[axis]
        named = axis == 0 or None not in index.names
        if named and ORDER.keys() & {*index.names} and index.is_monotonic_increasing:
            frame = frame.sort_index(axis=axis, key=ranks, kind="stable")
    return frame


def size_of_each(factor: str, level: Any) -> int:
    """Return how many bytes each file of a set has that are all of one size, 0 of another."""
    size = str(level).removeprefix(SIZED) if factor == "set" else ""
    return int(size) if size.isdigit() else 0


def spec(factor: str, level: Any) -> str:
    """Return how a level is printed: powers of two in binary units, others exactly."""
    size = int(level) if UNITS.get(factor) == "B" else 0
    if size < KIB or size & (size - 1):
        return ""
    return "MiB,int" if size >= KIB**2 else "KiB,int"
