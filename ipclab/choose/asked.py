"""What a need asks of this machine: the run that tells of it, the mechanisms on offer, and points to measure for it."""

from dataclasses import dataclass, replace
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
from ipclab.measure.progress import Progress
from ipclab.measure.request import Request
from ipclab.measure.session import measure as measured
from ipclab.paths import Paths
from ipclab.store import run as folder
from ipclab.store.point import Level, Point
from ipclab.store.run import RunFolder
from ipclab.studies.installed import study
from ipclab.studies.interface import Study, Sweep
from ipclab.studies.limits import LimitsStudy
from ipclab.studies.profile import Profile, profile

FAULTS = "faults"
SECONDS = 0.1  # of a launch, where a run does not tell


@dataclass(frozen=True)
class Asked(Request):
    """A request for the points of one need, beside what is part of every run."""

    need: Need | None = None

    @classmethod
    def of(cls, need: Need, effort: str) -> "Asked":
        """Return the request for `need` under the profile `effort`."""
        levels: dict[str, tuple[Level, ...]] = {"entries": tuple(need.size), "readers": (need.consumers,)}
        sweep = Sweep(levels=levels) if need.way == STATE else Sweep(sizes=tuple(need.size))
        return cls((need.study,), profile(effort).name, sweep=sweep, need=need)

    def parameters(self) -> dict[str, Any]:
        """Return what makes two runs continue each other: the need too."""
        assert self.need  # noqa: S101  for the type checker
        return super().parameters() | {"need": self.need.told()}

    def names(self) -> tuple[str, ...]:
        """Return the limits, the need's study and, where the need asks of crashes, that of faults."""
        crashes = (FAULTS,) if self.need and SURVIVES in self.need.must else ()
        return LimitsStudy.name, *self.studies, *crashes

    def effort(self, each: Study) -> Profile:
        """Return the profile's effort, with as many launches as it allows any study: one question is asked."""
        usual = super().effort(each)
        mine = each.name in self.studies
        usual = usual.tailed() if mine and self.need and self.need.deadline_us else usual
        return replace(usual, most_launches=profile(self.profile).most_launches) if mine else usual

    def points(self) -> list[tuple[Study, list[Point]]]:
        """Return the points of the need and what is part of every run.

        Raises `UsageError` when no mechanism can have them.
        """
        assert self.need  # noqa: S101  for the type checker
        mine = points(self.need, self.effort(study(self.need.study)))
        if not mine:
            raise UsageError("nothing to measure", "no mechanism here may be taken", "see 'ipclab backends'")
        bounds = study(LimitsStudy.name)
        limits = bounds.points(self.effort(bounds), self._sweep_of(bounds))
        limits = [point for point in limits if point.placement == self.need.placement]
        found = [(bounds, limits), (study(self.need.study), mine)]
        if FAULTS in self.names():
            each, names = study(FAULTS), {point.backend for point in mine} & set(study(FAULTS).backends())
            sweep = Sweep(None, tuple(sorted(names)), {"fault": (self.need.fault,)})
            found += [(each, each.points(self.effort(each), sweep))]
        return found


def points(need: Need, effort: Profile) -> list[Point]:
    """Return the points that tell of `need`: of each mechanism that nothing excludes before it is measured."""
    each, wanted = study(need.study), [offer.name for offer in offers(need) if _may(need, offer)]
    levels = need.levels()
    if need.way == STATE:
        sweep = Sweep(None, tuple(wanted), {"entries": tuple(need.size), "readers": (need.consumers,)})
        every = each.points(effort, sweep)
        told = {**levels, "sync": ("none", "off"), "map": ("none", "writemap")}
        return [point for point in every if all(_is(point.key()[name], level) for name, level in told.items())]
    place = str(levels.pop("placement"))
    levels |= {"arm": NEED} | ({} if need.way == ROUND_TRIP else {"fill": 0 if need.rate else 1})
    return [
        Point(need.study, name, size, place, levels | _wait(need, name), f"need-{size}", (need.op,))
        for size in need.size
        for name in wanted
    ]


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
    frames = Frames(
        derived.read(run, need.study, "points"),
        derived.read(run, need.study, "launches"),
        derived.read(run, "limits", "launches"),
        _faults(paths, run),
        _seconds(run),
        derived.bound(run),
    )
    return answer(need, frames, list(on_offer.values()))


def run_for(paths: Paths, need: Need, name: str = "") -> RunFolder:
    """Return the run called `name`, or the newest that was measured for `need`, or that holds its study for any.

    Raises `UsageError` when there is none.
    """
    if not name:
        told = need.told()
        mine = folder.newest(paths.runs, lambda run: run.finished and run.about["parameters"].get("need") == told)
        swept = folder.newest(
            paths.runs, lambda run: holds(run, need.study) and not run.about["parameters"].get("need")
        )
        found = mine or swept
        if found:
            return found
    found = choose(paths, name, need.study)
    if need.study not in derived.measured(found):
        raise UsageError(f"{found.id} holds nothing of {need.study}", "", "measure it: ipclab choose --measure")
    return found


def measure(paths: Paths, need: Need, effort: str, progress: Progress) -> RunFolder:
    """Measure the points of `need`, and what is part of every run, as a run of its own, and return it.

    Of its own, since mechanisms are compared by launches of the same rounds. What is on disk of it is not measured
    again. Raises what `ipclab.measure.session.measure` raises.
    """
    return measured(paths, Asked.of(need, effort), progress)


def _faults(paths: Paths, run: RunFolder) -> pd.DataFrame:
    """Return the launch frame of faults, of `run` or else of the newest run of its machine that has them."""
    machine = run.about["machine"]["digest"]
    known = lambda each: holds(each, FAULTS) and each.about["machine"]["digest"] == machine  # noqa: E731
    found = run if FAULTS in derived.measured(run) else folder.newest(paths.runs, known)
    return derived.read(found, FAULTS, "launches") if found else pd.DataFrame()


def _may(need: Need, offer: Offer) -> bool:
    static = (DEMANDS[must] for must in need.must if must in DEMANDS)
    return not set(static) & set(offer.demands) and not any(map(offer.refuses, need.size))


def _is(level: Level, wanted: Any) -> bool:
    return level in wanted if isinstance(wanted, list | tuple) else level == wanted


def _wait(need: Need, name: str) -> dict[str, Level]:
    return {"wait": backends()[name].waits[0]} if need.way == ROUND_TRIP else {}


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
    spans = [
        datetime.fromisoformat(each["ended"]) - datetime.fromisoformat(each["begun"])
        for each in run.about["sessions"]
        if each.get("ended")
    ]
    files = [name.split("/")[1] for name in run.about["files"] if name.startswith("points/")]
    launches = sum(
        int(derived.read(run, study, "points").drop_duplicates("point").launches.sum()) for study in set(files)
    )
    return sum(span.total_seconds() for span in spans) / launches if launches and spans else SECONDS
