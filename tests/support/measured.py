"""Points that are measured together, as a run does, and the CPUs that there are for it."""

import os
from collections.abc import Sequence

from ipclab.machine.placement import Placement
from ipclab.spawn.heat import Contestant, Heat, Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.studies.interface import Study

CPUS = frozenset(os.sched_getaffinity(0))
FREE = Placement("free", (CPUS,), "free")
SEED = 3


def measured(
    launcher: Launcher,
    study: Study,
    entered: Sequence[tuple[Point, list[Role]]],
    schedule: Schedule | None = None,
) -> list[Launch]:
    """Return the launches of points of `study` by their roles, which took turns in one heat; an
    `AssertionError` says why one failed.
    """
    heat = {str(number): Contestant(*entry) for number, entry in enumerate(entered)}
    ended = Heat(launcher, schedule or Schedule(seconds=60)).run(heat)
    launches = []
    for name, contestant in heat.items():
        outcomes = ended[name]
        assert isinstance(outcomes, dict), f"{contestant.point.id}: {outcomes}"
        launches.append(study.collect(contestant.point, outcomes, SEED))
    return launches
