"""What a need asks of this machine: the run that tells of it, the mechanisms, its points."""

import re
from dataclasses import replace
from datetime import datetime
from typing import Any

import pandas as pd

from ipclab.backends.codecs import encoded_bytes
from ipclab.backends.installed import backends
from ipclab.backends.interface import Backend
from ipclab.errors import UsageError
from ipclab.frames import derived
from ipclab.frames.address import narrowed
from ipclab.frames.contests import keeps
from ipclab.lab.runs import best, choose
from ipclab.measure.request import Request
from ipclab.paths import Paths
from ipclab.store.point import Point
from ipclab.store.run import RunFolder
from ipclab.studies.installed import study
from ipclab.studies.interface import Sweep
from ipclab.studies.profile import Profile, profile
from ipclab_answers.choose.answer import Answer, answer
from ipclab_answers.choose.candidates import Frames
from ipclab_answers.choose.need import EACH, NEED, ONE_WAY, STATE, SURVIVES, Need
from ipclab_answers.choose.promises import DEMANDS, Offer

FAULTS, LIMITS = "faults", "limits"
SECONDS = 0.1  # of a launch, where a run does not tell


def request(need: Need, effort: str) -> Request:
    """Return what measures `need` under the profile `effort`: its points, and what bounds them.

    It is a run of its own, since mechanisms are compared by launches of the same rounds. Raises
    `UsageError` when no mechanism can have the points.
    """
    usual = profile(effort)
    sweep = _sweep(need)
    own = study(need.study).effort(usual)
    if need.deadline_us:
        own = own.tailed()
    own = replace(own, most_launches=usual.most_launches)  # one question is asked
    wanted = points(need, own)
    if not wanted:
        why = "no mechanism here may be taken"
        raise UsageError("nothing to measure", why, "see 'ipclab backends'")
    effort_of_limits = study(LIMITS).effort(usual)
    bounds = study(LIMITS).points(effort_of_limits, sweep)
    bounds = [point for point in bounds if point.placement == need.placement]
    given = {LIMITS: (effort_of_limits, bounds), need.study: (own, wanted)}
    if SURVIVES in need.must:
        faults = study(FAULTS)
        names = {point.backend for point in wanted}.intersection(faults.backends())
        crashes = Sweep(None, tuple(sorted(names)), {"fault": (need.fault,)})
        effort_of_faults = faults.effort(usual)
        given[FAULTS] = effort_of_faults, faults.points(effort_of_faults, crashes)
    purpose = {"need": need.plain()}
    return Request((need.study,), usual.name, sweep=sweep, purpose=purpose, given=given)


def points(need: Need, effort: Profile) -> list[Point]:
    """Return the points that tell of `need`, of each mechanism that nothing excludes before."""
    demands = {DEMANDS[must] for must in need.must if must in DEMANDS}
    names = []
    for offer in offers(need).values():
        if demands.isdisjoint(offer.demands) and not offer.refused:
            names.append(offer.name)
    if need.way == STATE:
        every = study(need.study).points(effort, replace(_sweep(need), backends=tuple(names)))
        return [point for point in every if _is_plain(point, need.levels())]
    wanted = []
    for size in need.size:
        for name in names:
            levels = need.levels() | {"arm": NEED}
            placement = levels.pop("placement")
            if need.way == ONE_WAY:
                levels["fill"] = 0 if need.rate else 1
            else:
                levels["wait"] = backends()[name].waits[0]
            key = need.study, name, size, placement, levels
            wanted.append(Point(*key, f"need-{size}", (need.op,)))
    return wanted


def _sweep(need: Need) -> Sweep:
    if need.way != STATE:
        return Sweep(sizes=tuple(need.size))
    return Sweep(levels={"entries": tuple(need.size), "readers": (need.consumers,)})


def _is_plain(point: Point, levels: dict[str, Any]) -> bool:
    """Tell whether a point of shared state has `levels`, and neither syncs nor maps otherwise."""
    key = point.key()
    usual = key["sync"] in ("none", "off") and key["map"] in ("none", "writemap")
    return usual and levels.items() <= key.items()


def offers(need: Need, run: RunFolder | None = None) -> dict[str, Offer]:
    """Return the mechanisms that may be asked: those of this machine, or those of a `run`."""
    if run is None:
        names = set(study(need.study).backends())
    else:
        rows = derived.read(run, need.study, "points")
        if len(rows):
            rows = narrowed(rows, {"arm": need.levels().get("arm", "main")})
        names = set(rows.backend)
    failed = _failed(need, run)
    offered = {}
    for name in sorted(names & backends().keys()):
        if need.way != STATE or keeps(name):
            backend = backends()[name]
            offered[name] = Offer(name, backend.demands, _refusal(need, backend, failed))
    return offered


def tell(paths: Paths, run: RunFolder, need: Need) -> Answer:
    """Return what `run` says of `need`."""
    on_offer = offers(need, run)
    if paths.runs in run.path.parents:  # of this machine: what it holds nothing of may be measured
        on_offer = offers(need) | on_offer
    frames = Frames(
        derived.read(run, need.study, "points"),
        derived.read(run, need.study, "launches"),
        derived.read(run, LIMITS, "launches"),
        _faults(paths, run),
        _seconds(run),
        derived.bound(run),
    )
    return answer(need, frames, on_offer.values())


def run_for(paths: Paths, need: Need, name: str = "") -> RunFolder:
    """Return the first of `runs_for`."""
    return runs_for(paths, need, name)[0]


def runs_for(paths: Paths, need: Need, name: str = "") -> list[RunFolder]:
    """Return the run called `name`; else those here that tell of `need`, or the reference.

    The best stands first: runs that were measured for the need, else those that hold its study; of
    these one with more of its points of the need's sizes and placement is better. Raises
    `UsageError` when there is none.
    """
    here = [] if name else _here(paths, need)
    if here:
        return here
    named = choose(paths, name, need.study)
    if need.study not in derived.measured(named):
        what = f"{named.id} holds nothing of {need.study}"
        raise UsageError(what, "", "measure it: ipclab choose --measure")
    return [named]


def file_names(need: Need) -> re.Pattern[str]:
    """Return what the names of the files of points of the need's sizes and placement match."""
    sizes: list[int] = list(need.size)
    if need.way == STATE:  # whose points are named by the bytes of their entries
        sizes = [encoded_bytes(str(need.levels()["codec"]), entries) for entries in sizes]
    some = "|".join(map(str, sizes))
    return re.compile(rf"-{need.placement}-({some})-[0-9a-f]{{8}}\.parquet")


def _here(paths: Paths, need: Need) -> list[RunFolder]:
    exact = file_names(need)

    def answering(run: RunFolder) -> int:
        return sum(bool(exact.search(name)) for name in run.points(need.study))

    own = []
    others = []
    for run in best(paths, need.study, answering):
        measured_for = run.about["parameters"].get("need")
        if measured_for == need.plain():
            own.append(run)
        elif not measured_for:
            others.append(run)
    return own or others


def _faults(paths: Paths, run: RunFolder) -> pd.DataFrame:
    """Return the launch frame of faults, of `run` or the best of its machine that has them."""
    machine = run.about["machine"]["digest"]
    holding = [run] if FAULTS in derived.measured(run) else best(paths, FAULTS)
    for other in holding:
        if other.about["machine"]["digest"] == machine:
            return derived.read(other, FAULTS, "launches")
    return pd.DataFrame()


def _refusal(need: Need, backend: Backend, failed: dict[tuple[str, int], str]) -> str:
    """Return why `backend` cannot have messages of a size of `need` here; nothing when it can."""
    asks_channel = need.way != STATE
    store = None
    if asks_channel and not backend.channel:
        store = backend.store
    if store and need.consumers > 1 and store.fans_out != (need.sharing == EACH):
        return "every message reaches all" if store.fans_out else "a message reaches one consumer"
    for size in need.size:
        longest = None
        if asks_channel and not backend.missing():
            longest = backend.refuses(size)
        why = longest or failed.get((backend.name, size))
        if why:
            return why
    return ""


def _failed(need: Need, run: RunFolder | None) -> dict[tuple[str, int], str]:
    """Return why points that were to be measured for `need` could not be."""
    if run is None or run.about["parameters"].get("need") != need.plain():
        return {}
    lost = {**run.about["points"], **run.about["failures"]}
    reasons = {}
    for point in points(need, profile(run.about["parameters"]["profile"])):
        if point.id in lost:
            reasons[point.backend, point.size_bytes] = lost[point.id]
    return reasons


def _seconds(run: RunFolder) -> float:
    """Return what a launch of `run` took on average, of all its sessions' time."""
    seconds = 0.0
    launches = 0
    for session in run.about["sessions"]:
        if session.get("ended"):
            begun = datetime.fromisoformat(session["begun"])
            ended = datetime.fromisoformat(session["ended"])
            seconds += (ended - begun).total_seconds()
    for name in derived.measured(run):
        points_of_study = derived.read(run, name, "points").drop_duplicates("point")
        launches += int(points_of_study.launches.sum())
    return seconds / launches if launches and seconds else SECONDS
