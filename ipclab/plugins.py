"""What is added by entry point: backends, studies and commands, ours and other packages'."""

from collections.abc import Mapping
from inspect import isclass
from typing import TYPE_CHECKING, Any, TypeVar

from ipclab.errors import UsageError, hint
from ipclab.paths import typed

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

T = TypeVar("T")
PARTS = "ipclab.parts"  # the group of what `ipclab` calls of the packages around it
LACKING = {  # what cannot be done without one, and the package
    "sweep": ("nothing can be measured", "ipclab_measure"),
    "facts": ("the machine cannot be asked", "ipclab_measure"),
    "execute": ("no notebook can be executed", "ipclab_report"),
}


def installed(group: str, noun: str, kind: type[T]) -> dict[str, T]:
    """Return what the entry points of `group` give, by sorted name: a `kind`, or its class.

    `noun` is what one of them is called. Raises `UsageError` when an entry point cannot be loaded,
    or gives something else or under another name.
    """
    from importlib.metadata import entry_points  # takes as long as the rest of the command line

    entries = entry_points(group=group)  # once: it reads what every installed package says
    return {name: _loaded(entries[name], noun, kind) for name in sorted(entries.names)}


def names(group: str) -> list[str]:
    """Return the names of the entry points of `group`, sorted; none of them is loaded."""
    from importlib.metadata import entry_points

    return sorted(entry_points(group=group).names)


def one(group: str, noun: str, name: str, kind: type[T]) -> T:
    """Return what the entry point `name` of `group` gives; see `installed`."""
    from importlib.metadata import entry_points

    return _loaded(entry_points(group=group)[name], noun, kind)


def part(name: str) -> Any:
    """Return the function that another package offers under `name` in the group `PARTS`.

    Raises `UsageError` where none is installed that does.
    """
    from importlib.metadata import entry_points

    for entry in entry_points(group=PARTS, name=name):
        return entry.load()
    what, package = LACKING[name]
    raise UsageError(f"{what} here", f"{package} is not installed", typed("setup"))


def offered(name: str, usual: T) -> T:
    """Return what another package offers under `name` in the group `PARTS`, else the `usual`."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=PARTS, name=name):
        found: T = entry.load()
        return found
    return usual


def added(group: str, name: str) -> Any:
    """Return what a package adds as `name` to `group`; raises `AttributeError` where none does."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=group, name=name):
        return entry.load()
    fix = "pip install ipclab-report, if it is a name of reports"
    raise AttributeError(f"module 'ipclab' has no attribute {name!r}: {fix}")


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


def chosen(noun: str, name: str, members: Mapping[str, T]) -> T:
    """Return the member of `members` called `name`.

    Raises `UsageError` with the nearest name when there is none.
    """
    if name not in members:
        raise UsageError(f"unknown {noun} {name!r}", "", hint(name, members))
    return members[name]
