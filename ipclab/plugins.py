"""What packages add by entry point, loaded and checked: backends, studies and commands."""

from collections.abc import Collection, Mapping
from functools import cache
from importlib.util import find_spec
from inspect import isclass
from pathlib import Path
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


def code_files(suffixes: Collection[str]) -> dict[Path, list[Path]]:
    """Return the files with one of `suffixes` of all packages with entry points, sorted.

    They are by the folder of each package; of a module it is the one that it lies in.
    """
    files = dict[Path, list[Path]]()
    tops = {entry.module.partition(".")[0] for group in GROUPS for entry in entries(group)}
    for name in sorted(tops):
        spec = find_spec(name)
        places = list((spec and spec.submodule_search_locations) or ())
        for folder in map(Path, places):
            found = (file for file in folder.rglob("*") if file.suffix in suffixes)
            files[folder] = sorted(file for file in found if file.is_file())
        if spec and spec.origin and not places:
            files.setdefault(Path(spec.origin).parent, []).append(Path(spec.origin))
    return files


def chosen(noun: str, name: str, members: Mapping[str, T]) -> T:
    """Return the member of `members` called `name`.

    Raises `UsageError` with the nearest name when there is none.
    """
    if name not in members:
        raise UsageError(f"unknown {noun} {name!r}", "", hint(name, members))
    return members[name]


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
        what = f"{noun} {entry.name!r} cannot be loaded"
        raise UsageError(what, str(error), f"fix {entry.value}") from error
    if not isinstance(thing, kind) or getattr(thing, "name", "") != entry.name:
        what = f"{noun} {entry.name!r} is not a {noun.capitalize()} of that name"
        raise UsageError(what, f"see {entry.value}")
    return thing
