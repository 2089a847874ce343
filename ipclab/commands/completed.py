"""What a shell offers for words of the command line; see `shell_complete` of click."""

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING

from click import Context, Parameter
from click.shell_completion import CompletionItem

from ipclab.plugins import names

if TYPE_CHECKING:
    from ipclab.studies.interface import Study


def _offered(possible: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Return those of `possible` that begin as the word does."""
    found = dict.fromkeys(possible)
    return [CompletionItem(name) for name in found if name.startswith(incomplete)]


def _asked(ctx: Context) -> "list[Study]":
    """Return the studies that are given before the word, or all."""
    from ipclab.store.questions import ALWAYS
    from ipclab.studies.installed import studies

    given = ctx.params.get("studies") or ctx.params.get("study") or ()
    wanted = (given,) if isinstance(given, str) else given
    every = {name: study for name, study in studies().items() if name not in ALWAYS}
    return [every[name] for name in wanted if name in every] or list(every.values())


def profiles() -> Iterable[str]:
    """Return the names of the profiles."""
    from ipclab.studies.profile import PROFILES

    return PROFILES


def complete_study(_ctx: Context, _param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the studies."""
    return _offered(names("ipclab.studies"), incomplete)


def complete_profile(_ctx: Context, _param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the profiles."""
    return _offered(profiles(), incomplete)


def complete_placement(_ctx: Context, _param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the placements."""
    from ipclab.store.questions import PLACEMENTS

    return _offered(PLACEMENTS, incomplete)


def complete_backend(ctx: Context, _param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the mechanisms of the studies."""
    return _offered(chain.from_iterable(study.backends() for study in _asked(ctx)), incomplete)


def complete_level(ctx: Context, _param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the factors of the studies, and of one the usual levels, after each comma another."""
    name, equals, given = incomplete.partition("=")
    factors = [study.factors for study in _asked(ctx)]
    if not equals:
        return _offered((f"{each}=" for each in chain.from_iterable(factors)), name)
    begun, comma, _ = given.rpartition(",")
    usual = map(str, chain.from_iterable(each.get(name, ()) for each in factors))
    others = (level for level in usual if level not in begun.split(","))
    return _offered((f"{name}={begun}{comma}{level}" for level in others), incomplete)


def complete_run(_ctx: Context, _param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the ids of the runs here, the newest first, and else files: folders and bundles."""
    from ipclab.paths import checkout

    tops = checkout().runs, checkout().imported
    found = [index.parent.name for top in tops for index in top.glob("*/*/run.json")]
    items = _offered(["newest", *sorted(found, reverse=True)], incomplete)
    return items or [CompletionItem(incomplete, type="file")]
