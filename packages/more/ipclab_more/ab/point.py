"""One point of a study as an arm; run as a program, it prints the median of a few launches in ns.

So another checkout's or environment's ipclab measures what this one asks for: it is imported
from there, and must have what stands below.
"""

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from ipclab.errors import LabError, UsageError
from ipclab.frames import tails
from ipclab.frames.metrics import summary
from ipclab.machine import Source, Topology
from ipclab.machine.placement import cross_missing, placements
from ipclab.paths import checkout
from ipclab.quantile import MEDIAN
from ipclab.spawn.heat import Contestant, Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.studies.installed import study as study_named
from ipclab.studies.interface import Site, Sweep
from ipclab.studies.profile import profile

EFFORT = profile("quick")
SEED = 1  # of the payloads
SECONDS, LAUNCHES = 60.0, 5  # which take less than to begin


@dataclass(frozen=True)
class Wanted:
    """The point of `study` with these levels, the first of several (its main arm).

    No `size` means the smallest. The `quantile` is what is taken of a launch's times.
    """

    study: str
    backend: str
    size: int | None = None
    placement: str = "same"
    levels: Mapping[str, Any] = field(default_factory=dict)
    quantile: float = MEDIAN

    def plain(self) -> str:
        """Return what `main` takes, of another checkout as well, which takes medians."""
        sides = asdict(self)
        del sides["quantile"]
        return json.dumps(sides)

    def prepared(self) -> "AtPoint":
        """Return what measures it.

        Raises `UsageError` for a point that the study has not, or that cannot be measured here.
        """
        study = study_named(self.study)
        topology = Topology.read(Source())
        possible = placements(topology)
        if self.placement not in possible:
            why = cross_missing(topology).get(self.placement, "")
            fix = f"there are {', '.join(possible)}"
            raise UsageError(f"placement {self.placement!r} is not possible", why, fix)
        effort = study.effort(EFFORT if self.quantile == MEDIAN else EFFORT.tailed())
        point = self._point()
        lacking = study.missing(point, checkout().data / "scratch")
        if lacking:
            raise UsageError(f"{self.backend} cannot be measured here", lacking)
        roles = study.roles(point, effort, possible[self.placement], SEED)
        return AtPoint(Contestant(point, roles), self.quantile)

    @property
    def label(self) -> str:
        """Return what its arm is called, with its quantile: others are not combined."""
        if self.quantile == MEDIAN:
            return self.backend
        return f"{self.backend} {tails.metric(self.quantile)}"

    def _point(self) -> Point:
        """Return the point that is wanted; raises `UsageError` when the study has none."""
        study = study_named(self.study)
        levels = {name: (level,) for name, level in self.levels.items()}
        sizes = (self.size,) if self.size else None
        sweep = Sweep(sizes, (self.backend,), levels)
        wanted = {"backend": self.backend, "placement": self.placement, **self.levels}
        if self.size:
            wanted["size_bytes"] = self.size
        for point in study.points(study.effort(EFFORT), sweep):
            if wanted.items() <= point.key().items():
                return point
        what = f"study {self.study} has no such point"
        raise UsageError(what, self.plain(), "see docs/studies.md")


@dataclass(frozen=True)
class AtPoint:
    """A point as an arm: it can be launched, and take turns with others.

    Its number is the `quantile` of a launch's times, or their `mean`.
    """

    contestant: Contestant
    quantile: float
    mean: bool = False

    @property
    def op(self) -> str:
        """Return the op whose times are taken."""
        return self.contestant.point.primary[0]

    def __call__(self, launcher: Launcher, seconds: float) -> float:
        """Make one launch within so many seconds, and return its number."""
        (launch,) = in_turns({"": self.contestant}, launcher, seconds).values()
        return self.number(launch)

    def number(self, launch: Launch) -> float:
        """Return that of a launch, ns; raises `LabError` when its samples are too few."""
        if self.mean:
            return summary(launch, self.op)["mean"]
        value = tails.of_launch(launch, self.op, self.quantile)
        if math.isnan(value):
            raise tails.too_few(self.quantile)
        return value

    def turns(self, launch: Launch) -> list[float]:
        """Return the median of each turn of a launch, ns; its number where a turn is too short."""
        if self.quantile == MEDIAN:
            return launch.turn_medians(self.op) or [self.number(launch)]
        return [self.number(launch)]


def in_turns(
    contestants: Mapping[str, Contestant], launcher: Launcher, seconds: float
) -> dict[str, Launch]:
    """Return a launch of each of `contestants`, which take turns in one heat where they can.

    They are by name, the first one's study says how. Raises `LabError` when one of them failed.
    """
    site = Site(launcher, checkout().data / "scratch", _nothing, _nothing, _nothing)
    study = study_named(next(iter(contestants.values())).point.study)
    effort = study.effort(EFFORT)
    schedule = Schedule(
        turns=effort.turns,
        warm_turns=1,
        warm_ns=effort.warm_ns,
        seed=launcher.started,
        seconds=seconds,
    )
    own = dict[str, Contestant]()
    limits = dict[str, Contestant]()
    for name, contestant in contestants.items():
        of_study = own if contestant.point.study == study.name else limits
        of_study[name] = contestant
    points = [contestant.point for contestant in own.values()]
    with study.open(site, points, effort, SEED) as bench:
        if bench == site.workers:
            ends = dict(bench({**own, **limits}, schedule))
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
    launch = Wanted(**json.loads(sys.argv[1])).prepared()
    with Launcher(checkout().ledger) as launcher:
        print(median(launch(launcher, SECONDS) for _ in range(LAUNCHES)))


if __name__ == "__main__":
    try:
        main()
    except LabError as error:
        sys.exit(str(error))
