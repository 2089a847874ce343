"""What a shell offers for words of the command line; see `shell_complete` of click."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from click import Context, Parameter
from click.shell_completion import CompletionItem

from ipclab.plugins import names

if TYPE_CHECKING:
    from ipclab.studies.interface import Study

Completed = Callable[[Context, Parameter, str], list[CompletionItem]]


def _among(possible: Callable[[Context], Iterable[str]]) -> Completed:
    """Return what offers those of `possible` that begin as the word does."""

    def complete(ctx: Context, _param: Parameter, incomplete: str) -> list[CompletionItem]:
        found = dict.fromkeys(possible(ctx))
        return [CompletionItem(name) for name in found if name.startswith(incomplete)]

    return complete


def _asked(ctx: Context) -> "list[Study]":
    """Return the studies that are given before the word, or all."""
    from ipclab.studies.installed import ALWAYS, studies

    given = ctx.params.get("studies") or ctx.params.get("study") or ()
    wanted = (given,) if isinstance(given, str) else given
    every = {name: study for name, study in studies().items() if name not in ALWAYS}
    return [every[name] for name in wanted if name in every] or list(every.values())


def _profiles(_ctx: Context) -> Iterable[str]:
    from ipclab.studies.profile import PROFILES

    return PROFILES


def _placements(_ctx: Context) -> Iterable[str]:
    from ipclab.store.questions import PLACEMENTS

    return PLACEMENTS


def _backends(ctx: Context) -> Iterator[str]:
    for study in _asked(ctx):
        yield from study.backends()


def complete_level(ctx: Context, _param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the factors of the studies, and of one the usual levels, after each comma another."""
    name, equals, given = incomplete.partition("=")
    begun, comma, word = given.rpartition(",")
    found = dict[str, None]()
    for study in _asked(ctx):
        for factor, usual in study.factors.items():
            if not equals:
                found[f"{factor}="] = None
            elif factor == name:
                found.update({f"{name}={begun}{comma}{level}": None for level in usual})
    taken = {f"{name}={begun}{comma}{level}" for level in begun.split(",")}
    start = f"{name}={begun}{comma}{word}" if equals else name
    return [CompletionItem(each) for each in found if each.startswith(start) and each not in taken]


def complete_run(_ctx: Context, _param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the ids of the runs here, the newest first, and else files: folders and bundles."""
    from ipclab.paths import checkout

    paths = checkout()
    found = [
        run.parent.name for top in (paths.runs, paths.imported) for run in top.glob("*/*/run.json")
    ]
    ids = ["newest", *sorted(found, reverse=True)]
    items = [CompletionItem(name) for name in ids if name.startswith(incomplete)]
    return items or [CompletionItem(incomplete, type="file")]


complete_study = _among(lambda _ctx: names("ipclab.studies"))
complete_backend = _among(_backends)
complete_profile = _among(_profiles)
complete_placement = _among(_placements)
