"""What is loaded by entry point and checked: backends, studies and commands."""

from inspect import isclass
from typing import TYPE_CHECKING, TypeVar

from ipclab.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")


def installed(group: str, noun: str, kind: type[T]) -> dict[str, T]:
    """Return what the entry points of `group` give, by sorted name: a `kind`, or its class.

    `noun` is what one of them is called. Raises `UsageError` when an entry point cannot be loaded,
    or gives something else or under another name.
    """
    from importlib.metadata import entry_points  # takes as long as the rest of the command line

    entries = entry_points(group=group)  # once: it reads what every installed package says
    return {name: _loaded(entries[name], noun, kind) for name in sorted(entries.names)}


def one(group: str, noun: str, name: str, kind: type[T]) -> T:
    """Return what the entry point `name` of `group` gives; see `installed`."""
    from importlib.metadata import entry_points

    return _loaded(entry_points(group=group)[name], noun, kind)


def _loaded(entry: "EntryPoint", noun: str, kind: type[T]) -> T:
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
