"""A field of contestants that a benchmark measures in turns, or in launches of their own."""

import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ipclab.errors import LabError
from ipclab.machine import Source, Topology
from ipclab.machine.placement import Placement, placements
from ipclab.session.heats import heats
from ipclab.session.session import SAME_CPU, WARM_TURNS
from ipclab.spawn.heat import Bench, Contestant, Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.studies.installed import study as study_of
from ipclab.studies.interface import Point, Profile, Site, Study, Sweep
from ipclab.studies.profile import profile

SEED, LEAST_ROUNDS, SECONDS = 1, 2, 300.0
Turns = dict[tuple[str, str], list[float]]  # by point and op: the medians of its turns


@dataclass(frozen=True)
class Field:
    """A study that is ready: its points by name, in the heats that a run makes of them."""

    study: Study
    bench: Bench
    effort: Profile
    points: Mapping[str, Point]
    placed: Mapping[str, Placement]

    def heats(self) -> list[list[str]]:
        """Return the names of the points of each heat."""
        return heats(self.points.values())

    def run(self, names: Sequence[str], effort: Profile, warm_ns: int) -> Turns:
        """Run a heat of the points `names`; those that fail are left out, and told."""
        contestants = {}
        for name in names:
            point = self.points[name]
            workers = self.study.roles(point, effort, self.placed[point.placement], SEED)
            contestants[name] = Contestant(point, workers)
        schedule = Schedule(
            effort.turns, WARM_TURNS, warm_ns, time.monotonic_ns(), effort.launch_seconds
        )
        found: Turns = {}
        for name, ended in self.bench(contestants, schedule).items():
            try:
                if isinstance(ended, LabError):
                    raise ended
                launch = self.study.collect(self.points[name], ended, SEED)
            except LabError as error:
                print(f"{name}: {error}", file=sys.stderr)
                continue
            for op in self.points[name].primary:
                found[name, op] = launch.turn_medians(op) or [float(np.median(launch.times(op)))]
        return found

    def in_heat(self, names: Sequence[str]) -> Turns:
        """Run a heat as a run does."""
        apart = any(self.points[name].placement != SAME_CPU for name in names)
        return self.run(names, self.effort, self.effort.warm_ns if apart else 0)


@contextmanager
def fields(
    names: Sequence[str], sweeps: Mapping[str, Sequence[str]]
) -> Iterator[tuple[Launcher, list[Field]]]:
    """Make studies ready, in the quick profile, with the mechanisms in `sweeps` alone where it has
    some.
    """
    placed = placements(Topology.read(Source()))
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory()))
        studies = [study_of(name) for name in names]
        preloads = {study.preload for study in studies if study.preload}
        launcher = held.enter_context(Launcher(folder / "ledger", preloads=preloads))
        site = Site(launcher, folder / "scratch", lambda *file: None, lambda *entry: None, print)
        made = []
        for study in studies:
            effort = study.effort(profile("quick"))
            mechanisms = tuple(sweeps[study.name]) if study.name in sweeps else None
            points = study.brief(study.points(effort, Sweep(backends=mechanisms)))
            points = [point for point in points if point.placement in placed]
            points = [point for point in points if not study.missing(point, folder)]
            bench = held.enter_context(study.open(site, points, effort, SEED))
            made.append(Field(study, bench, effort, {point.id: point for point in points}, placed))
        yield launcher, made


def rounds(seconds: float, launcher: Launcher, work: Sequence[Callable[[], None]]) -> None:
    """Do all `work` again and again, in another order each time, until `seconds` have passed."""
    until, done = time.monotonic() + seconds, 0
    while done < LEAST_ROUNDS or time.monotonic() < until:
        for step in random.sample(work, len(work)):
            launcher.renew_old()
            step()
        done += 1
