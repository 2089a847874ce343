"""What is loaded by entry point and checked: backends, studies and commands."""

from inspect import isclass
from typing import TypeVar

from ipclab.errors import UsageError
from ipclab.plugins import entries, names

T = TypeVar("T")


def installed(group: str, noun: str, kind: type[T]) -> dict[str, T]:
    """Return what the entry points of `group` give, by sorted name: a `kind`, or its class.

    `noun` is what one of them is called. Raises `UsageError` when an entry point cannot be loaded,
    or gives something else or under another name.
    """
    return {name: one(group, noun, name, kind) for name in names(group)}


def one(group: str, noun: str, name: str, kind: type[T]) -> T:
    """Return what the entry point `name` of `group` gives; see `installed`."""
    entry = entries(group)[name]
    try:
        thing = entry.load()
        if isclass(thing) and issubclass(thing, kind):
            thing = thing()
    except Exception as error:
        raise UsageError(
            f"{noun} {entry.name!r} cannot be loaded", str(error), f"fix {entry.value}"
        ) from error
    if not isinstance(thing, kind) or getattr(thing, "name", "") != entry.name:
        raise UsageError(
            f"{noun} {entry.name!r} is not a {noun.capitalize()} of that name",
            f"see {entry.value}",
        )
    return thing
