"""One call that measures: finds or makes the run, measures what is missing."""

import datetime as dt
import hashlib
import os
import secrets
import time
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ipclab.spawn import ledger
from ipclab.backends.installed import backend
from ipclab.errors import LabError, UsageError
from ipclab.machine import Machine, Source, Topology, collect, conditions, disturbance
from ipclab.paths import Paths
from ipclab.machine.placement import Placement, missing, placements
from ipclab.store.point import Point
from ipclab.studies.profile import Profile, profile
from ipclab.measure.progress import Progress
from ipclab.measure.rounds import measure as sweep_points
from ipclab.store import run as folder
from ipclab.store.files import write_whole
from ipclab.store.run import RunFolder
from ipclab.store.samples import Measured, encode
from ipclab.spawn.scratch import remove_scratch
from ipclab.store.launch import Launch
from ipclab.studies.interface import Site, Study, Sweep
from ipclab.studies.limits import LimitsStudy
from ipclab.studies.installed import STUDIES, study
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.worker import QUEUED, Outcome

SHARED_MEMORY_SLACK = 1 << 20
SEED_BITS = 31


@dataclass(frozen=True)
class Request:
    """What to measure: studies by name (all when empty), a profile, and levels that replace the studies' own.

    `scratch` is the folder for files made on disk (the checkout's own when None); they are removed when the run is
    finished, unless `keep_scratch` says otherwise.
    """

    studies: tuple[str, ...] = ()
    profile: str = "quick"
    run: Path | None = None
    seed: int | None = None
    sweep: Sweep = field(default_factory=Sweep)
    scratch: Path | None = None
    keep_scratch: bool = False

    def names(self) -> tuple[str, ...]:
        """Return the studies to measure: those asked for, after the limits that they are read against."""
        return tuple(dict.fromkeys((LimitsStudy.name, *(self.studies or STUDIES))))

    @classmethod
    def continuing(cls, run: Path) -> "Request":
        """Return the request that the run in folder `run` was begun with; raises `UsageError` when it is no run."""
        begun = folder.read(run).about["parameters"]
        sweep = Sweep(tuple(begun["sizes"] or ()) or None, tuple(begun["backends"] or ()) or None)
        return cls(tuple(begun["studies"]), begun["profile"], run, sweep=sweep)

    def points(self) -> list[tuple[Study, list[Point]]]:
        """Return every study with its points.

        Without studies named, a backend that only some studies have is swept by those; raises `UsageError` when none
        has it, or when a named study lacks it.
        """
        chosen = profile(self.profile)
        return [(study(name), study(name).points(chosen, self._sweep_of(study(name)))) for name in self._swept()]

    def _swept(self) -> list[str]:
        """Return the studies that the sweep fits: own sizes mean nothing where a payload cannot have any."""
        unsized = [name for name in self.names() if self.sweep.sizes and not study(name).sized]
        if wrong := [name for name in unsized if name in self.studies]:
            raise UsageError(f"study {wrong[0]} takes no --size", "its payloads are its own", "leave --size out")
        return [name for name in self.names() if name not in unsized]

    def _sweep_of(self, each: Study) -> Sweep:
        if self.sweep.backends is None or self.studies:
            return self.sweep
        for name in self.sweep.backends:
            if not any(name in other.backends() for other in STUDIES.values()):
                why = backend(name).missing() or "no study has it"
                raise UsageError(f"backend {name!r} cannot be measured", why, "'ipclab backends' lists what can")
        return Sweep(self.sweep.sizes, tuple(name for name in self.sweep.backends if name in each.backends()))

    def parameters(self) -> dict[str, Any]:
        """Return what makes two runs continue each other."""
        return {
            "profile": self.profile,
            "studies": list(self.names()),
            "sizes": list(self.sweep.sizes) if self.sweep.sizes else None,
            "backends": list(self.sweep.backends) if self.sweep.backends else None,
        }


def measure(paths: Paths, request: Request, progress: Progress) -> RunFolder:
    """Measure all that `request` asks for and that is not on disk yet; return the finished run.

    A run that was killed is continued: by name when `request.run` is given, else the newest unfinished one with the
    same parameters on this machine. Raises `UsageError` for a request that cannot mean anything and `LabError` when
    the work cannot be done; a point that fails is noted in the run and does not end it.
    """
    chosen = profile(request.profile)
    topology = Topology.read(Source())
    placed = placements(topology)
    wanted = request.points()
    if not any(points for each, points in wanted if each.name != LimitsStudy.name):
        raise UsageError("nothing to measure", "no study has points for these levels", "see 'ipclab backends'")
    ledger.clean(paths.ledger)
    _room_in_shared_memory(max(each.shared_memory(point) for each, points in wanted for point in points))
    machine = collect(Source(), root=paths.root)
    run = _find(paths, request, machine.digest) or _create(paths, request, machine)
    with ExitStack() as stack:
        lock = run.lock()
        stack.callback(os.close, lock)
        run = folder.read(run.path)  # another process may have added to it before we held it
        run.remove_parts()
        _keep_raw(run, machine)
        scratch = (request.scratch or paths.scratch).resolve()
        reasons = missing(topology)
        todo = [(each, _todo(run, each, points, placed, reasons, scratch, progress)) for each, points in wanted]
        if any(points for _, points in todo) or not run.finished:
            run.about["finished"] = None
            run.about["sessions"].append(_session())
            run.save()
        if any(points for _, points in todo):
            launcher = stack.enter_context(Launcher(paths.ledger))
            site = Site(launcher, scratch, run.keep, run.note, progress.say)
            for each, points in todo:
                if points:
                    _measure_study(each, points, each.effort(chosen), run, site, placed, progress)
        if not run.finished:
            if not request.keep_scratch:
                remove_scratch(scratch)
            _finish(run)
    return run


def _room_in_shared_memory(largest: int) -> None:
    """Raise `LabError` before anything is measured when /dev/shm cannot hold `largest` bytes."""
    where = os.statvfs(ledger.SHARED_MEMORY)
    free = where.f_bavail * where.f_frsize
    need = largest + SHARED_MEMORY_SLACK
    if free < need:
        why = f"{free:,} bytes are free and {need:,} are needed"
        enlarge = "docker run --shm-size=1g; mount -o remount,size=1G /dev/shm"
        fix = f"free some, enlarge it ({enlarge}) or give a smaller --size"
        raise LabError("no room in /dev/shm", why, fix)


def _find(paths: Paths, request: Request, machine: str) -> RunFolder | None:
    wanted = request.parameters()
    if request.run is not None:
        run = folder.read(request.run)
        other_seed = request.seed not in (None, run.about["seed"])
        if run.about["parameters"] != wanted or run.about["machine"]["digest"] != machine or other_seed:
            why = "it was begun with other parameters or on another machine"
            raise UsageError(f"{run.id} cannot be continued", why, "leave RUN out to begin a new one")
        return run

    def unfinished(run: RunFolder) -> bool:
        same_seed = request.seed in (None, run.about["seed"])
        mine = run.about["parameters"] == wanted and run.about["machine"]["digest"] == machine
        return not run.finished and same_seed and mine

    return folder.newest(paths.runs, unfinished)


def _create(paths: Paths, request: Request, machine: Machine) -> RunFolder:
    about = {
        "parameters": request.parameters(),
        "seed": request.seed if request.seed is not None else secrets.randbits(SEED_BITS),
        "machine": {"digest": machine.digest, "facts": machine.facts, "reasons": machine.reasons},
        "sessions": [],
        "points": {},
    }
    return folder.create(paths.runs, machine.digest, about, dt.datetime.now(dt.UTC))


def _keep_raw(run: RunFolder, machine: Machine) -> None:
    """Keep the raw files that the machine's facts were read from, once, with their digests."""
    if any(name.startswith("machine/") for name in run.about["files"]):
        return
    kept = {f"machine/{name.strip('/').replace('/', '-')}": text.encode() for name, text in machine.raw.items()}
    for name, content in kept.items():
        write_whole(run.path / name, content)
    run.about["files"] |= {name: hashlib.sha256(content).hexdigest() for name, content in kept.items()}
    run.save()


def _session() -> dict[str, Any]:
    return {"begun": _now(), "conditions": conditions(Source())}


def _now() -> str:
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def _todo(
    run: RunFolder,
    each: Study,
    points: list[Point],
    placed: dict[str, Placement],
    reasons: dict[str, str],
    scratch: Path,
    progress: Progress,
) -> list[Point]:
    """Return the points to measure; those that this machine cannot place or measure are noted with the reason."""
    todo = []
    for point in points:
        if run.has(point, progress.say):
            continue
        if point.placement not in placed:
            why: str | None = reasons.get(point.placement, point.placement)
        else:
            why = each.missing(point, scratch)
        if why:
            run.about["points"][point.id] = f"not testable here: {why}"
        else:
            run.about["points"].pop(point.id, None)
            todo.append(point)
    return todo


def _measure_study(
    each: Study,
    points: list[Point],
    chosen: Profile,
    run: RunFolder,
    site: Site,
    placed: dict[str, Placement],
    progress: Progress,
) -> None:
    seed, source = run.about["seed"], Source()
    began = time.monotonic_ns()
    launched = 0

    def launch(point: Point) -> Launch:
        nonlocal launched
        launched += 1
        placement = placed[point.placement]
        roles = each.roles(point, chosen, placement, seed)
        before, start = conditions(source), time.monotonic_ns()
        outcomes = bench(point, roles, chosen.launch_seconds)
        elapsed = time.monotonic_ns() - start
        done = each.collect(point, outcomes, seed)
        done.order, done.started_ns, done.elapsed_ns = launched, start - began, elapsed
        # Two of ours on one CPU wait for each other, which is no disturbance.
        queued = None if placement.relation == "same" and len(roles) > 1 else _queued(outcomes)
        done.flags += disturbance(before, conditions(source), elapsed, queued_share=queued)
        done.cpus = {role.name: sorted(role.cpus) for role in roles}
        done.facts["relation"] = placement.relation
        return done

    def store(point: Point, result: Measured | str) -> None:
        if isinstance(result, str):
            run.fail(point, result)
        else:
            run.add(point, encode(result))

    with each.open(site, points, chosen, seed) as bench:
        sweep_points(points, chosen, seed, launch, store, progress)


def _queued(outcomes: dict[str, Outcome]) -> float:
    """Return the largest share of its measured time for which a worker waited for a CPU."""
    counters = [counted for outcome in outcomes.values() for counted in outcome.counters.values()]
    return max((counted.get(QUEUED, 0.0) for counted in counters), default=0.0)


def _finish(run: RunFolder) -> None:
    run.about["sessions"][-1] |= {"ended": _now(), "conditions_end": conditions(Source())}
    run.about["finished"] = _now()
    run.save()
