"""One point of a study as an arm; run as a program, it prints the median of a few launches in ns.

So another checkout's or environment's ipclab measures what this one asks for: it is imported
from there, and must have what stands below.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from ipclab.errors import LabError, UsageError
from ipclab.frames.metrics import summary
from ipclab.machine import Source, Topology
from ipclab.machine.placement import cross_missing, placements
from ipclab.paths import checkout
from ipclab.spawn.heat import Contestant, Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.store.launch import Launch
from ipclab.studies.installed import study as study_named
from ipclab.studies.interface import Site, Sweep
from ipclab.studies.profile import profile

PROFILE = profile("quick")
SEED = 1  # of the payloads
SECONDS, LAUNCHES = 60.0, 5  # which take less than to begin


@dataclass(frozen=True)
class AtPoint:
    """A point as an arm: it can be launched, and take turns with others.

    Its number is the median of a launch's times, or their `mean`.
    """

    contestant: Contestant
    mean: bool = False

    def __call__(self, launcher: Launcher, seconds: float) -> float:
        """Make one launch within so many seconds, and return its number, ns."""
        (launch,) = in_turns({"": self.contestant}, launcher, seconds).values()
        return self._number(launch)

    def turns(self, launch: Launch) -> list[float]:
        """Return the median of each turn of a launch, ns; its number where a turn is too short."""
        (op, *_) = self.contestant.point.primary
        return launch.turn_medians(op) or [self._number(launch)]

    def _number(self, launch: Launch) -> float:
        (op, *_) = self.contestant.point.primary
        return summary(launch, op)["mean"] if self.mean else launch.median(op)


def at_point(
    study: str,
    backend: str,
    size: int | None = None,
    placement: str = "same",
    levels: Mapping[str, Any] | None = None,
) -> AtPoint:
    """Return the point of `study` with these levels, the first of several (its main arm).

    No `size` means the smallest. Raises `UsageError` for a point that the study has not, or that
    cannot be measured here.
    """
    of_study = study_named(study)
    topology = Topology.read(Source())
    possible = placements(topology)
    if placement not in possible:
        why = cross_missing(topology).get(placement, "")
        fix = f"there are {', '.join(possible)}"
        raise UsageError(f"placement {placement!r} is not possible", why, fix)
    levels = levels or {}
    wanted = {"backend": backend, "placement": placement, **levels}
    if size:
        wanted["size_bytes"] = size
    effort = of_study.effort(PROFILE)
    every = {name: (level,) for name, level in levels.items()}
    for point in of_study.points(effort, Sweep((size,) if size else None, (backend,), every)):
        if wanted.items() <= point.key().items():
            break
    else:
        what = f"study {study} has no such point"
        raise UsageError(what, json.dumps(wanted), "see docs/studies.md")
    if lacking := of_study.missing(point, checkout().data / "scratch"):
        raise UsageError(f"{backend} cannot be measured here", lacking)
    return AtPoint(Contestant(point, of_study.roles(point, effort, possible[placement], SEED)))


def in_turns(
    contestants: Mapping[str, Contestant], launcher: Launcher, seconds: float
) -> dict[str, Launch]:
    """Return a launch of each of `contestants`, which take turns in one heat where they can.

    They are by name, the first one's study says how. Raises `LabError` when one of them failed.
    """
    site = Site(launcher, checkout().data / "scratch", _nothing, _nothing, _nothing)
    study = study_named(next(iter(contestants.values())).point.study)
    effort = study.effort(PROFILE)
    schedule = Schedule(
        turns=effort.turns,
        warm_turns=1,
        warm_ns=effort.warm_ns,
        seed=launcher.started,
        seconds=seconds,
    )
    own, limits = dict[str, Contestant](), dict[str, Contestant]()
    for name, contestant in contestants.items():
        (own if contestant.point.study == study.name else limits)[name] = contestant
    points = [contestant.point for contestant in own.values()]
    with study.open(site, points, effort, SEED) as bench:
        if bench == site.workers:
            ends = dict(bench(contestants, schedule))
        else:  # a limit of the machine, which has workers, is launched next to it
            ends = {**bench(own, schedule), **site.workers(limits, schedule)}
    measured = {}
    for name, ended in ends.items():
        if isinstance(ended, LabError):
            raise ended
        point = contestants[name].point
        measured[name] = study_named(point.study).collect(point, ended, SEED)
    return measured


def _nothing(*_: Any) -> None:
    """Keep nothing of what a study notes beside its launches."""


def main() -> None:
    """Print the median of `LAUNCHES` of the point that the first argument tells (JSON)."""
    launch = at_point(**json.loads(sys.argv[1]))
    with Launcher(checkout().ledger) as launcher:
        print(median(launch(launcher, SECONDS) for _ in range(LAUNCHES)))


if __name__ == "__main__":
    try:
        main()
    except LabError as error:
        sys.exit(str(error))
