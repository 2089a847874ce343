"""What a need asks of this machine: the run that tells of it, the mechanisms on offer, and points to measure for it."""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import pandas as pd

from ipclab.backends.installed import backends
from ipclab.backends.interface import Backend
from ipclab.choose.answer import Answer, Frames, answer
from ipclab.choose.need import EACH, NEED, ROUND_TRIP, STATE, SURVIVES, Need
from ipclab.choose.promises import DEMANDS, Offer
from ipclab.errors import UsageError
from ipclab.frames import derived
from ipclab.frames.address import narrowed
from ipclab.frames.contests import keeps
from ipclab.lab.runs import choose, holds
from ipclab.measure.request import Request
from ipclab.paths import Paths
from ipclab.store import run as folder
from ipclab.store.point import Point
from ipclab.store.run import RunFolder
from ipclab.studies.installed import study
from ipclab.studies.interface import Study, Sweep
from ipclab.studies.limits import LimitsStudy
from ipclab.studies.profile import Profile, profile

FAULTS = "faults"
SECONDS = 0.1  # of a launch, where a run does not tell


@dataclass(frozen=True)
class Asked(Request):
    """A request for the points of one need, beside what is part of every run.

    It is a run of its own, since mechanisms are compared by launches of the same rounds.
    """

    need: Need = field(kw_only=True)

    @classmethod
    def of(cls, need: Need, effort: str) -> "Asked":
        """Return the request for `need` under the profile `effort`."""
        sweep = _sweep(need) if need.way == STATE else Sweep(sizes=tuple(need.size))
        return cls((need.study,), profile(effort).name, sweep=sweep, need=need)

    def parameters(self) -> dict[str, Any]:
        """Return what makes two runs continue each other: the need too."""
        return super().parameters() | {"need": self.need.told()}

    def names(self) -> tuple[str, ...]:
        """Return the limits, the need's study and, where the need asks of crashes, that of faults."""
        return LimitsStudy.name, *self.studies, *((FAULTS,) if SURVIVES in self.need.must else ())

    def effort(self, each: Study) -> Profile:
        """Return the profile's effort, with as many launches as it allows any study: one question is asked."""
        usual = super().effort(each)
        if each.name not in self.studies:
            return usual
        usual = usual.tailed() if self.need.deadline_us else usual
        return replace(usual, most_launches=profile(self.profile).most_launches)

    def points(self) -> list[tuple[Study, list[Point]]]:
        """Return the points of the need and what is part of every run.

        Raises `UsageError` when no mechanism can have them.
        """
        limits, mine, *others = (study(name) for name in self.names())
        wanted = points(self.need, self.effort(mine))
        if not wanted:
            raise UsageError("nothing to measure", "no mechanism here may be taken", "see 'ipclab backends'")
        bounds = limits.points(self.effort(limits), self._sweep_of(limits))
        found = [(limits, [point for point in bounds if point.placement == self.need.placement]), (mine, wanted)]
        for faults in others:
            names = {point.backend for point in wanted} & set(faults.backends())
            sweep = Sweep(None, tuple(sorted(names)), {"fault": (self.need.fault,)})
            found.append((faults, faults.points(self.effort(faults), sweep)))
        return found


def points(need: Need, effort: Profile) -> list[Point]:
    """Return the points that tell of `need`: of each mechanism that nothing excludes before it is measured."""
    static = {DEMANDS[must] for must in need.must if must in DEMANDS}
    able = [each for each in offers(need) if static.isdisjoint(each.demands) and not any(map(each.refuses, need.size))]
    wanted, levels = [offer.name for offer in able], need.levels()
    if need.way == STATE:
        every = study(need.study).points(effort, replace(_sweep(need), backends=tuple(wanted)))
        told = {name: (level,) for name, level in levels.items()} | {
            "sync": ("none", "off"),
            "map": ("none", "writemap"),
        }
        return [point for point in every if all(point.key()[name] in level for name, level in told.items())]
    place = str(levels.pop("placement"))
    levels |= {"arm": NEED} | ({} if need.way == ROUND_TRIP else {"fill": 0 if need.rate else 1})
    waits = {name: {"wait": backends()[name].waits[0]} if need.way == ROUND_TRIP else {} for name in wanted}
    return [
        Point(need.study, name, size, place, levels | waits[name], f"need-{size}", (need.op,))
        for size in need.size
        for name in wanted
    ]


def _sweep(need: Need) -> Sweep:
    return Sweep(levels={"entries": tuple(need.size), "readers": (need.consumers,)})


def offers(need: Need, run: RunFolder | None = None) -> list[Offer]:
    """Return the mechanisms that may be asked: those of this machine, or those that a `run` holds."""
    known = backends()
    if run is not None:
        rows = derived.read(run, need.study, "points")
        names = set(narrowed(rows, {"arm": need.levels().get("arm", "main")}).backend) if len(rows) else set()
    else:
        names = {name for name in study(need.study).backends() if name in known}
    fitting = {name for name in names if name in known and (need.way != STATE or keeps(name))}
    failed = _failed(need, run)
    return [Offer(name, known[name].demands, _refusal(need, known[name], failed)) for name in sorted(fitting)]


def tell(paths: Paths, run: RunFolder, need: Need) -> Answer:
    """Return what `run` says of `need`."""
    here = paths.runs in run.path.parents
    on_offer = {offer.name: offer for each in ([None, run] if here else [run]) for offer in offers(need, each)}
    points, launches = (derived.read(run, need.study, kind) for kind in ("points", "launches"))
    limits, faults = derived.read(run, "limits", "launches"), _faults(paths, run)
    frames = Frames(points, launches, limits, faults, _seconds(run), derived.bound(run))
    return answer(need, frames, list(on_offer.values()))


def run_for(paths: Paths, need: Need, name: str = "") -> RunFolder:
    """Return the run called `name`, or the newest that was measured for `need`, or that holds its study for any.

    Raises `UsageError` when there is none.
    """
    told = need.told()
    mine = lambda run: run.finished and run.about["parameters"].get("need") == told  # noqa: E731
    swept = lambda run: holds(run, need.study) and not run.about["parameters"].get("need")  # noqa: E731
    if not name and (found := folder.newest(paths.runs, mine) or folder.newest(paths.runs, swept)):
        return found
    chosen = choose(paths, name, need.study)
    if need.study not in derived.measured(chosen):
        raise UsageError(f"{chosen.id} holds nothing of {need.study}", "", "measure it: ipclab choose --measure")
    return chosen


def _faults(paths: Paths, run: RunFolder) -> pd.DataFrame:
    """Return the launch frame of faults, of `run` or else of the newest run of its machine that has them."""
    machine = run.about["machine"]["digest"]
    known = lambda each: holds(each, FAULTS) and each.about["machine"]["digest"] == machine  # noqa: E731
    found = run if FAULTS in derived.measured(run) else folder.newest(paths.runs, known)
    return derived.read(found, FAULTS, "launches") if found else pd.DataFrame()


def _refusal(need: Need, backend: Backend, failed: dict[tuple[str, int], str]) -> Any:
    """Return what says why `backend` cannot have messages of a size here."""
    store = None if backend.channel or need.way == STATE else backend.store
    reached = None
    if store and need.consumers > 1 and store.fans_out != (need.sharing == EACH):
        reached = "every message reaches all" if store.fans_out else "a message reaches one consumer"

    def refuses(size: int) -> str | None:
        longest = None if need.way == STATE or backend.missing() else backend.refuses(size)
        return reached or longest or failed.get((backend.name, size))

    return refuses


def _failed(need: Need, run: RunFolder | None) -> dict[tuple[str, int], str]:
    """Return why points that were to be measured for `need` could not be."""
    told = run.about["parameters"].get("need") if run else None
    if run is None or told != need.told():
        return {}
    lost = {**run.about["points"], **run.about["failures"]}
    every = points(need, profile(run.about["parameters"]["profile"]))
    return {(each.backend, each.size_bytes): lost[each.id] for each in every if each.id in lost}


def _seconds(run: RunFolder) -> float:
    """Return what a launch of `run` took on average, of all its sessions' time."""
    ended = [each for each in run.about["sessions"] if each.get("ended")]
    spans = [datetime.fromisoformat(each["ended"]) - datetime.fromisoformat(each["begun"]) for each in ended]
    frames = (derived.read(run, study, "points") for study in derived.measured(run))
    launches = sum(int(each.drop_duplicates("point").launches.sum()) for each in frames)
    return sum(span.total_seconds() for span in spans) / launches if launches and spans else SECONDS
