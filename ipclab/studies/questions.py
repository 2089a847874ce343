"""What the installed studies and backends ask: what a run is told of them when it is measured."""

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from itertools import chain
from typing import Any

import msgspec
from msgspec import json, structs

from ipclab.backends.installed import backends, keeps
from ipclab.bounds.floors import SPIN_PREFIX
from ipclab.store.questions import Limit, Mechanism, Question, Questions, Race
from ipclab.studies.installed import studies
from ipclab.studies.installed import study as study_of
from ipclab.studies.interface import Study, Sweep
from ipclab.studies.profile import PROFILES, Profile

FILE = "contests.toml"


@cache
def question(name: str) -> Question:
    """Return what the study called `name` asks, without its levels; `UsageError` when unknown.

    Its races, and what it measures again (levels of several arms that have the same conditions),
    are in a `contests.toml` beside its module, if it has one. In a race with `state` only shared
    state takes part: who reads the message that it holds already moves nothing.
    """
    study = study_of(name)
    told = study.table(FILE)
    shared = [backend for backend in backends() if keeps(backend)]
    rows = []
    for row in told.get("race", []):
        race = {key: value for key, value in row.items() if key != "state"}
        if row.get("state"):
            race["levels"] = {**row.get("levels", {}), "backend": shared}
        rows.append(race)
    races = msgspec.convert(rows, tuple[Race, ...])
    again = tuple(tuple(arms["levels"]) for arms in told.get("again", []))
    return Question(name, races=races, bounds=tuple(study.bounds), again=again)


@cache
def questions() -> Questions:
    """Return what all installed studies and backends ask, without what depends on a profile."""
    mechanisms = {}
    for name, backend in backends().items():
        kept = "yes" if keeps(name) else "no"
        shown = kept if backend.store else ""
        spins = backend.waits[0].startswith(SPIN_PREFIX)
        mechanisms[name] = Mechanism(
            limit=backend.floor,
            flow=backend.flow,
            keeps=shown,
            look=backend.look,
            spins=spins,
            yields=backend.yields,
        )
    limits: dict[str, Limit] = {}
    for study in studies().values():
        limits |= study.natives
    return Questions(0.0, {}, tuple(map(question, studies())), mechanisms, limits)


def questions_of(profile: Profile) -> Questions:
    """Return what a run under `profile` asks, for its `run.json`."""
    least = {name: study.effort(profile).least_launches for name, study in studies().items()}
    with_levels = [
        structs.replace(question(name), levels=_words(study)) for name, study in studies().items()
    ]
    return structs.replace(
        questions(), same=profile.same, least_launches=least, studies=tuple(with_levels)
    )


def renewed(before: Questions, profile: Profile) -> Questions:
    """Return what a continued run asks: as of today, and `before` of backends that are gone.

    A run of which a study is gone is not continued: its studies are among its parameters.
    """
    now = questions_of(profile)
    return structs.replace(now, mechanisms=before.mechanisms | now.mechanisms)


def usual_levels(name: str) -> Mapping[str, tuple[str, ...]]:
    """Return the usual levels of each factor of the study called `name`, if it is installed."""
    return _words(studies()[name]) if name in studies() else {}


@cache
def _words(study: Study) -> dict[str, tuple[str, ...]]:
    """Return the words that are usual levels of each factor of a point of `study`, under any profile."""
    levels: dict[str, set[str]] = defaultdict(set)
    every = chain.from_iterable(study.points(profile, Sweep()) for profile in PROFILES.values())
    for point in every:
        for name, level in point.key().items():
            levels[name].update([level] if isinstance(level, str) else [])
    for name, usual in study.factors.items():
        levels[name].update(level for level in usual if isinstance(level, str))
    return {name: tuple(sorted(words)) for name, words in sorted(levels.items())}


def questions_plain(questions: Questions) -> dict[str, Any]:
    """Return `questions` as a `run.json` has them."""
    content: dict[str, Any] = json.decode(json.encode(questions))
    return content
