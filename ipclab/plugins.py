"""What the packages around this one add by entry point."""

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

from ipclab.errors import UsageError, hint

T = TypeVar("T")
GROUPS = "ipclab.backends", "ipclab.commands", "ipclab.studies"


@cache
def entries(group: str) -> Any:
    """Return the entry points of `group`, none of which is loaded."""
    from importlib.metadata import entry_points  # takes as long as the rest of the command line

    return entry_points(group=group)  # it reads what every installed package says


def names(group: str) -> list[str]:
    """Return the names of the entry points of `group`, sorted; none of them is loaded."""
    return sorted(entries(group).names)


def packages() -> list[str]:
    """Return the packages whose entry points are of `GROUPS`, sorted, this one among them."""
    return sorted({entry.module.partition(".")[0] for group in GROUPS for entry in entries(group)})


def chosen(noun: str, name: str, members: Mapping[str, T]) -> T:
    """Return the member of `members` called `name`.

    Raises `UsageError` with the nearest name when there is none.
    """
    if name not in members:
        raise UsageError(f"unknown {noun} {name!r}", "", hint(name, members))
    return members[name]
