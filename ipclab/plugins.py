"""What is added by entry point: backends and studies, ours and other packages'."""

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any, TypeVar

from ipclab.errors import UsageError, nearest

T = TypeVar("T")


def installed(group: str, noun: str, made: Callable[[Any], T | None]) -> dict[str, T]:
    """Return what the entry points of `group` give, by name, sorted; `noun` is what one of them is called.

    `made` returns the thing that belongs to what was loaded, or None when that is none. Raises `UsageError` when an
    entry point cannot be loaded, or gives something else or under another name.
    """
    found: dict[str, T] = {}
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        try:
            thing = made(entry.load())
        except Exception as error:
            raise UsageError(f"{noun} {entry.name!r} cannot be loaded", str(error), f"fix {entry.value}") from error
        if thing is None or getattr(thing, "name", "") != entry.name:
            raise UsageError(f"{noun} {entry.name!r} is not a {noun.capitalize()} of that name", f"see {entry.value}")
        found[entry.name] = thing
    return found


def chosen(noun: str, name: str, known: Mapping[str, T]) -> T:
    """Return the member of `known` called `name`; raises `UsageError` with the nearest name when there is none."""
    if name not in known:
        fix = f"did you mean {nearest(name, known)!r}? there are {', '.join(known)}"
        raise UsageError(f"unknown {noun} {name!r}", "", fix)
    return known[name]
