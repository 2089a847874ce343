"""What is to be measured: studies, profile, levels that replace the studies' own.

Nonsense is refused.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any

from ipclab.backends.installed import backends
from ipclab.errors import UsageError, hint
from ipclab.store import run as folder
from ipclab.store.point import Level, Point
from ipclab.store.questions import ALWAYS
from ipclab.store.schema import LABEL
from ipclab.studies.calibration import CalibrationStudy
from ipclab.studies.installed import studies, study
from ipclab.studies.interface import Study, Sweep
from ipclab.studies.limits import LimitsStudy
from ipclab.studies.limits.floors import with_floors
from ipclab.studies.profile import Profile, profile

LARGEST_SEED = 2**63 - 1
# Of the parameters of a run, all others being its purpose.
OWN = {"profile", "studies", "sizes", "backends", "levels", "launches", "label", "points"}
NUMBER = re.compile(r"-?[0-9]{1,18}")
# what has a parameter of its own, and is no factor
PARAMETERS = {"size": "sizes", "size_bytes": "sizes", "backend": "backends", "study": "study"}


@dataclass(frozen=True)
class Request:
    """What to measure: studies by name (empty: all of the profile), and levels of one's own.

    `launches` asks for so many of each point, no more and no fewer, instead of what their questions
    need. `purpose` is stored with the run, which is continued for the same one only, as is `label`,
    a name of the node. `sessions` is how many whole ones the run shall have. `given` are efforts and
    points by study, instead of those that follow from the rest. `scratch` is the folder for files
    made on disk (the checkout's own when None); they are removed when the measuring ends, unless
    `keep_scratch` says otherwise.
    """

    studies: tuple[str, ...] = ()
    profile: str = "quick"
    run: Path | None = None
    seed: int | None = None
    sweep: Sweep = field(default_factory=Sweep)
    scratch: Path | None = None
    keep_scratch: bool = False
    launches: int = 0
    purpose: Mapping[str, Any] = field(default_factory=dict)
    given: Mapping[str, tuple[Profile, Sequence[Point]]] = field(default_factory=dict)
    label: str = ""
    sessions: int = 1

    def __post_init__(self) -> None:
        """Raise `UsageError` for an unusable seed or label, or launches asked of all studies."""
        check_label(self.label)
        if self.seed is not None and not 0 <= self.seed <= LARGEST_SEED:
            fix = f"give a whole number from 0 to {LARGEST_SEED}"
            raise UsageError(f"seed {self.seed} is not possible", "", fix)
        if self.launches and not self.studies:
            what = f"{self.launches} launches of every study"
            raise UsageError(what, "that takes long for each point", "name a --study")

    @classmethod
    def continuing(cls, run: Path, label: str | None = None) -> "Request":
        """Return the request that the run in folder `run` was begun with.

        Raises `UsageError` when it is no run, or has another label than is given.
        """
        begun = folder.read_run(run).about["parameters"]
        own_label = begun.get("label", "")
        if label not in (None, own_label):
            why = f"its label is {own_label!r}" if own_label else "it has no label"
            fix = "leave --run out to begin a run of your own"
            raise UsageError(f"{run.name} is not of {label}", why, fix)
        sizes, backends = (tuple(begun[name] or ()) or None for name in ("sizes", "backends"))
        levels = {name: tuple(values) for name, values in begun["levels"].items()}
        return cls(
            tuple(begun["studies"]),
            begun["profile"],
            run,
            sweep=Sweep(sizes, backends, levels),
            launches=begun.get("launches", 0),
            purpose={name: value for name, value in begun.items() if name not in OWN},
            label=own_label,
        )

    def parameters(self) -> dict[str, Any]:
        """Return what makes two runs continue each other."""
        told = {"launches": self.launches, "label": self.label, "points": self.given and "given"}
        return {
            **self.purpose,
            "profile": self.profile,
            "studies": [name for name in self.names() if name != CalibrationStudy.name],
            "sizes": list(self.sweep.sizes) if self.sweep.sizes else None,
            "backends": list(self.sweep.backends) if self.sweep.backends else None,
            "levels": {name: list(values) for name, values in sorted(self.sweep.levels.items())},
            **{name: value for name, value in told.items() if value},
        }

    def names(self) -> tuple[str, ...]:
        """Return the studies to measure: the limits, those asked for, and what calibrates them."""
        if self.given:
            return tuple(self.given)
        usual = [name for name, study in studies().items() if self.profile not in study.named_only]
        judged = () if self.launches else (CalibrationStudy.name,)
        return tuple(dict.fromkeys((LimitsStudy.name, *(self.studies or usual), *judged)))

    def names_asked(self) -> list[str]:
        """Return the studies that a person asked for, without those that every run has."""
        return [name for name in self.names() if name not in ALWAYS] or [*self.given]

    def effort(self, study: Study) -> Profile:
        """Return how much of `study` is measured, and in which placements."""
        if self.given:
            return self.given[study.name][0]
        chosen = profile(self.profile)
        if "placement" in study.factors and "placement" in self.sweep.levels:
            chosen = replace(chosen, placements=tuple(map(str, self.sweep.levels["placement"])))
        count = 0 if study.name in ALWAYS else self.launches
        return study.effort(chosen.tailed()).exactly(count) if count else study.effort(chosen)

    def points_wanted(self) -> list[tuple[Study, list[Point]]]:
        """Return `points`; raises `UsageError` where no study that was asked for has any."""
        wanted, asked = self.points(), self.names_asked()
        if not any(points for study, points in wanted if study.name in asked):
            why = "no study has points for these levels"
            raise UsageError("nothing to measure", why, "see 'ipclab backends'")
        return wanted

    def points(self) -> list[tuple[Study, list[Point]]]:
        """Return every study with its points.

        A study that is not named is left out where none of the levels is one of its factors. Raises
        `UsageError` for a size, a backend or a level that no study has, or that a named study
        lacks.
        """
        if self.given:
            return with_floors(
                (study(name), list(points)) for name, (_, points) in self.given.items()
            )
        asked = [study(name) for name in self.names()]
        self._check_levels([one for one in asked if one.name not in ALWAYS])
        chosen, levels = profile(self.profile), self.sweep.levels.keys()
        planned: list[tuple[Study, list[Point]]] = []
        for one in asked:
            always = one.name in ALWAYS
            if levels and not (always or one.name in self.studies or levels & one.factors.keys()):
                continue
            points = one.points(self.effort(one), self._sweep_of(one))
            if chosen.as_texts and not always:
                points = one.of_text(points)
            if chosen.brief and self.sweep == Sweep():
                points = one.brief(points)
            planned.append((one, points))
        return with_floors(planned)

    def _sweep_of(self, study: Study) -> Sweep:
        """Return the sweep with the backends that `study` has.

        Raises `UsageError` for one that it, or when none is named every study, lacks.
        """
        if study.name in ALWAYS:
            return replace(self.sweep, backends=None)
        if self.sweep.backends is None:
            return self.sweep
        rivals = [study] if self.studies else [*studies().values()]
        offered = dict.fromkeys(chain.from_iterable(rival.backends() for rival in rivals))
        for name in self.sweep.backends:
            if name not in offered:
                raise _no_backend(name, study.name if self.studies else "", offered)
        own = tuple(name for name in self.sweep.backends if name in study.backends())
        return replace(self.sweep, backends=own)

    def _check_levels(self, every: list[Study]) -> None:
        known: dict[str, tuple[Level, ...]] = {}
        for name, usual in chain.from_iterable(each.factors.items() for each in every):
            known[name] = (*known.get(name, ()), *usual)
        for name, values in self.sweep.levels.items():
            if name not in known:
                fix = hint(name, known)
                if name in PARAMETERS:
                    fix = f"give --{PARAMETERS[name].removesuffix('s')} instead"
                raise UsageError(f"no study here has a factor {name!r}", "", fix)
            usual = tuple(dict.fromkeys(known[name]))
            if not values:
                raise UsageError(
                    f"factor {name} has no level", "", f"give some, such as {usual[0]}"
                )
            for value in values:
                _check_level(name, value, usual)


def _check_level(name: str, value: Level, usual: tuple[Level, ...]) -> None:
    """Raise `UsageError` for a word that no study has; numbers are any from 1 on."""
    fix = hint(str(value), map(str, usual))
    possible = value in usual
    if isinstance(usual[0], int):
        fix = "give whole numbers above 0"
        whole = isinstance(value, int) and not isinstance(value, bool)
        possible = whole and (int(value) > 0 or possible)
    if not possible:
        raise UsageError(f"{name}={value} is not possible", "", fix)


def _no_backend(name: str, study: str, offered: Iterable[str]) -> UsageError:
    registered = backends().get(name)
    why = (registered.missing() or "") if registered else ""
    if registered and not study:
        what, fix = f"backend {name!r} cannot be measured", "'ipclab backends' lists what can"
        return UsageError(what, why or "no study has it", fix)
    whose = f"study {study} has no" if study else "unknown"
    return UsageError(f"{whose} backend {name!r}", why, hint(name, offered))


def told_of_tails(name: str) -> str:
    """Return the line that says what a number of launches under a profile takes."""
    usual = profile(name)
    long = usual.tailed()
    times = f"{long.turn_ns / 1e6:,.0f} ms instead of {usual.turn_ns / 1e6:,.1f} ms"
    return (
        f"--launches: each has up to {long.most_samples:,} samples, for its own p99.9, in turns of"
        f" {times}; leave it out for medians in less time"
    )


def levels(texts: tuple[str, ...]) -> dict[str, tuple[Level, ...]]:
    """Return the levels of texts such as `entries=10,100`; raises `UsageError` for another form."""
    by_factor = dict[str, tuple[Level, ...]]()
    for text in texts:
        name, equals, values = text.partition("=")
        words = [word.strip() for word in values.split(",") if word.strip()]
        if not equals or not name.strip() or not words:
            fix = "write FACTOR=LEVEL,LEVEL such as entries=10,100"
            raise UsageError(f"{text!r} names no levels", "", fix)
        values_of = (int(word) if NUMBER.fullmatch(word) else word for word in words)
        by_factor[name.strip()] = tuple(values_of)
    return by_factor


def check_label(label: str) -> None:
    """Raise `UsageError` for a text that cannot be a run's label."""
    if not re.fullmatch(LABEL, label):
        fix = "up to 64 letters, digits, dots, hyphens, such as node-07"
        raise UsageError(f"{label!r} is no label", "", fix)
