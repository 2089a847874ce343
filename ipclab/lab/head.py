"""What stands above every page: on what was measured, under which profile, when, and how firm."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ipclab.machine.origin import processor
from ipclab.stats import sessions
from ipclab.store.questions import PROFILE_NAMES
from ipclab.store.run import RunFolder
from ipclab.studies.installed import studies
from ipclab.studies.profile import profile as profile_called
from ipclab.words.catalogue import N_
from ipclab.words.labels import PROFILES
from ipclab.words.numbers import Formatter

BETWEEN_LAUNCHES, BETWEEN_SESSIONS = "brackets", "between"  # words about a document's intervals
FIRST = 2  # machines that a line has room for
LEAST = "standard"  # the profile from which on values are not preliminary
PROFILE = N_("profile: {profile}")
PRELIMINARY = N_("PRELIMINARY (profile: {profile}): neither to sign nor to cite")


def about(*runs: RunFolder, study: str = "") -> dict[str, str]:
    """Return what the pages of a document on `runs` say of them, in no language.

    `deep` names the `study` that the document is on where all of them measured it deep enough;
    `date` is the newest run's, `profile` the briefest, `machine` the first ones, once each, and
    `intervals` what these lie between: sessions only where each run has enough of them.
    """
    machines = {run.machine: f"{processor(run)} ({run.machine})" for run in runs}
    fewest = min(run.last_session for run in runs)
    known = [run.profile for run in runs if run.profile in PROFILE_NAMES]
    deep = study and not any(study_is_preliminary(run, study) for run in runs)
    return {
        **({"deep": study} if deep else {}),
        "date": max(run.about["begun"] for run in runs),
        "run": " ".join(run.id for run in runs),
        "machine": " / ".join([*machines.values()][:FIRST] + ["…"] * (len(machines) > FIRST)),
        "profile": min(known, key=PROFILE_NAMES.index, default=runs[0].profile),
        "intervals": BETWEEN_SESSIONS if fewest >= sessions.LEAST_SESSIONS else BETWEEN_LAUNCHES,
    }


def profile_is_preliminary(profile: str) -> bool:
    """Tell whether values measured under `profile` are preliminary: below `standard`."""
    return profile in PROFILE_NAMES and PROFILE_NAMES.index(profile) < PROFILE_NAMES.index(LEAST)


def study_is_preliminary(run: RunFolder, study: str) -> bool:
    """Tell whether values of `study` are preliminary: of fewer launches than `standard` makes at least."""
    if not profile_is_preliminary(run.profile):
        return False
    known = studies().get(study)
    if known is None:
        return True
    least = known.effort(profile_called(LEAST)).least_launches
    return run.questions.least_launches.get(study, 0) < least


@dataclass(frozen=True)
class Head:
    """The line above every page, in its parts, and the mark of a preliminary document, or ""."""

    parts: tuple[str, ...] = ()
    mark: str = ""

    @classmethod
    def of(cls, facts: Mapping[str, str], lang: str, translate: Callable[[str], str]) -> "Head":
        """Return what `about` told, in a language; what it does not tell is left out."""
        profile = facts.get("profile") or ""
        called = translate(PROFILES.get(profile, profile))
        named = translate(PROFILE).replace("{profile}", called) if profile else ""
        date = facts.get("date") or ""
        parts = facts.get("machine") or "", named, Formatter(lang).date(date) if date else ""
        mark = translate(PRELIMINARY).replace("{profile}", called)
        preliminary = profile_is_preliminary(profile) and not facts.get("deep")
        return cls(tuple(filter(None, parts)), mark if preliminary else "")
