"""What a need asks of this machine or of a run: mechanisms, points, and the answer."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from ipclab.backends.installed import backends, keeps
from ipclab.backends.interface import Backend
from ipclab.bounds.points import enriched_points
from ipclab.errors import UsageError
from ipclab.frames import derived
from ipclab.frames.rows import narrowed
from ipclab.paths import Paths
from ipclab.store.point import Point
from ipclab.store.run import RunFolder
from ipclab.studies.installed import study
from ipclab.studies.interface import Sweep
from ipclab.studies.profile import Profile, profile
from ipclab_more.choose.answer import Answer, answer_need
from ipclab_more.choose.known import DEMANDS, Frames, Offer
from ipclab_more.choose.need import EACH, NEED, ONE_WAY, STATE, SURVIVES, Need
from ipclab_more.choose.runs import beside

if TYPE_CHECKING:
    from ipclab.session.request import Request

FAULTS, LIMITS = "faults", "limits"
SECONDS = 0.1  # of a launch, where a run does not tell


def request(need: Need, profile_name: str) -> "Request":
    """Return what measures `need` under a profile: its points, and what bounds them.

    It is a run of its own, since mechanisms are compared by launches of the same rounds. Raises
    `UsageError` when no mechanism can have the points.
    """
    from ipclab.session.request import Request

    usual = profile(profile_name)
    sweep = _sweep(need)
    effort_of_need = study(need.study).effort(usual)
    if need.deadline_us:
        effort_of_need = effort_of_need.tailed()
    # one question is asked: it may have as many launches as a whole run has
    effort_of_need = replace(effort_of_need, most_launches=usual.most_launches)
    wanted = points_asked(need, effort_of_need)
    if not wanted:
        why = "no mechanism here may be taken"
        raise UsageError("nothing to measure", why, "see 'ipclab backends'")
    effort_of_limits = study(LIMITS).effort(usual)
    bounds = study(LIMITS).points(effort_of_limits, sweep)
    bounds = [point for point in bounds if point.placement == need.placement]
    given = {LIMITS: (effort_of_limits, bounds), need.study: (effort_of_need, wanted)}
    if SURVIVES in need.must:
        faults = study(FAULTS)
        names = {point.backend for point in wanted}.intersection(faults.backends())
        crashes = Sweep(backends=tuple(sorted(names)), levels={"fault": (need.fault,)})
        effort_of_faults = faults.effort(usual)
        given[FAULTS] = effort_of_faults, faults.points(effort_of_faults, crashes)
    purpose = {"need": need.plain()}
    return Request((need.study,), usual.name, sweep=sweep, purpose=purpose, given=given)


def points_asked(need: Need, effort: Profile) -> list[Point]:
    """Return the points that tell of `need`, of each mechanism that may be taken."""
    demands = {DEMANDS[must] for must in need.must if must in DEMANDS}
    names = []
    for offer in offers(need).values():
        if demands.isdisjoint(offer.demands) and not offer.refused:
            names.append(offer.name)
    if need.way != STATE:
        return [_point(need, name, size) for size in need.size for name in names]
    levels = need.levels().items()
    points = []
    for point in study(need.study).points(effort, replace(_sweep(need), backends=tuple(names))):
        key = point.key()
        # of those that neither sync nor map otherwise
        is_plain = key["sync"] in ("none", "off") and key["map"] in ("none", "writemap")
        if is_plain and levels <= key.items():
            points.append(point)
    return points


def _point(need: Need, name: str, size: int) -> Point:
    """Return the point of messages of one mechanism and size."""
    levels = need.levels() | {"arm": NEED}
    placement = levels.pop("placement")
    if need.way == ONE_WAY:
        levels["fill"] = 0 if need.rate else 1
    else:
        levels["wait"] = backends()[name].waits[0]
    return Point(need.study, name, size, placement, levels, f"need-{size}", (need.op,))


def _sweep(need: Need) -> Sweep:
    sizes = tuple(need.size)
    if need.way != STATE:
        return Sweep(sizes=sizes)
    return Sweep(levels={"entries": sizes, "readers": (need.consumers,)})


def offers(need: Need, run: RunFolder | None = None) -> dict[str, Offer]:
    """Return the mechanisms that may be asked: those of this machine, or those of a `run`."""
    failed: dict[tuple[str, int], str] = {}
    if run is None:
        names = set(study(need.study).backends())
    else:
        rows = derived.read_frame(run, need.study, "points")
        if len(rows):
            rows = narrowed(rows, {"arm": need.levels()["arm"]})
        failed = _failed(need, run)
        names = {*rows.backend, *(backend for backend, _ in failed)}
    offered = {}
    for name in sorted(names & backends().keys()):
        if need.way != STATE or keeps(name):
            backend = backends()[name]
            offered[name] = Offer(name, backend.demands, _refusal(need, backend, failed))
    return offered


def tell(paths: Paths, run: RunFolder, need: Need) -> Answer:
    """Return what `run` says of `need`, and of faults the best of its machine that has them."""
    on_offer = offers(need, run)
    if paths.runs in run.path.parents:  # of this machine: what it holds nothing of may be measured
        on_offer = offers(need) | on_offer
    holding = beside(paths, run, FAULTS)
    frames = Frames(
        enriched_points(run, need.study),
        derived.read_frame(run, need.study, "launches"),
        derived.read_frame(holding, FAULTS, "launches") if holding else pd.DataFrame(),
        partial(_seconds, run),
        run.questions.same,
    )
    return answer_need(need, frames, on_offer.values())


def _refusal(need: Need, backend: Backend, failed: dict[tuple[str, int], str]) -> str:
    """Return why `backend` cannot have messages of a size of `need` here; nothing when it can."""
    sends = need.way != STATE
    if sends and need.consumers > 1 and backend.store and not backend.channel:
        if backend.store.fans_out and need.sharing != EACH:
            return "every message reaches all"
        if not backend.store.fans_out and need.sharing == EACH:
            return "a message reaches one consumer"
    checks_size = sends and not backend.missing()
    for size in need.size:
        too_long = backend.refuses(size) if checks_size else ""
        if why := too_long or failed.get((backend.name, size)):
            return why
    return ""


def _failed(need: Need, run: RunFolder) -> dict[tuple[str, int], str]:
    """Return why points that `run` was to measure for `need` have no values.

    By mechanism and size, which is of entries where the need is of state.
    """
    if run.about["parameters"].get("need") != need.plain():
        return {}
    by_point = {**run.about["points"], **run.about["failures"]}
    return {
        (point.backend, int(point.key()[need.size_column])): by_point[point.id]
        for point in points_asked(need, profile(run.profile))
        if by_point.get(point.id)
    }


def _seconds(run: RunFolder) -> float:
    """Return what a launch of `run` took on average, of all its sessions' time."""
    sessions = pd.DataFrame(run.about["sessions"], columns=["begun", "ended"])
    begun, ended = (pd.to_datetime(sessions[end], utc=True) for end in sessions)
    seconds = (ended - begun).sum().total_seconds()
    launches = 0
    for name in derived.studies_measured(run):
        counts = derived.read_frame(run, name, "points", ("point", "launches"))
        launches += int(counts.drop_duplicates("point").launches.sum())
    return seconds / launches if launches and seconds else SECONDS
