"""The fault study: what a process sees of a peer that is killed, stopped or slow, by mechanism."""

from pathlib import Path
from typing import ClassVar

from ipclab.backends import installed as registry
from ipclab.backends.interface import Backend
from ipclab.errors import UsageError
from ipclab.studies.interface import (
    Levels,
    Placement,
    Point,
    Profile,
    Role,
    Study,
    Sweep,
    point_arguments,
    ring_bytes,
    spread,
)
from ipclab_more.studies.faults.locks import has_lock
from ipclab_more.studies.faults.plan import BESIDE
from ipclab_more.studies.stream.connection import carrier, roles_of

FAULTS = (
    "killed-idle",
    "killed-writing",
    "killed-reading",
    "stopped-writing",
    "stopped-reading",
    "slow-reading",
)
LOCKED = "killed-locked"
SIZE, LEAST_SIZE = 65_536, 16


class FaultsStudy(Study):
    """A producer and its consumers, one of them hit; a writer and a reader of a store's lock."""

    name = "faults"
    named_only = ("smoke", "quick", "published")
    factors: ClassVar = {"fault": (*FAULTS, LOCKED)}

    def backends(self) -> tuple[str, ...]:
        return tuple(_ready())

    def effort(self, profile: Profile) -> Profile:
        """Return the profile with as many launches as values need: each has one fault."""
        return profile.exactly(profile.least_values)

    def points(self, effort: Profile, sweep: Sweep) -> list[Point]:
        size = max(sweep.sizes or (SIZE,))
        if size < LEAST_SIZE:
            why = "a message begins and ends with its number"
            raise UsageError(f"messages of {size} bytes", why, f"give {LEAST_SIZE} bytes or more")
        ready = _ready()
        mechanisms = {name: ready[name] for name in sweep.of(ready)}
        faults = sweep.levels.get("fault", self.factors["fault"])

        def sized(levels: Levels) -> Levels:
            most = mechanisms[levels["backend"]].longest()
            return {**levels, "size": min(size, most[0]) if most else size}

        return self.of_arms(
            mechanisms,
            sized,
            messages=[name for name, backend in mechanisms.items() if carries(backend)],
            locked=[name for name, backend in mechanisms.items() if has_lock(backend)],
            faults=[fault for fault in faults if fault != LOCKED],
            locking=[fault for fault in faults if fault == LOCKED],
            cross=(effort.pinned or [*effort.placements])[-1:],
        )

    def missing(self, point: Point, scratch: Path) -> str | None:
        return registry.backend(point.backend).missing()

    def shared_memory(self, point: Point) -> int:
        """Return room for the rings of two consumers, and for those of the new peer."""
        return 3 * ring_bytes(point.size_bytes)

    def roles(self, point: Point, effort: Profile, placement: Placement, seed: int) -> list[Role]:
        """Return the producer and its consumers, or a writer and a reader, on CPUs in turn."""
        fault = str(point.levels["fault"])
        plan = point_arguments(point, seed) | {"fault": fault}
        plan["deadline_ns"] = self.own(effort)["deadline_ns"]
        target = "locks:hold_lock" if fault == LOCKED else "processes:run_fault"
        names = roles_of(2 if fault in BESIDE else 1)
        return spread(names, f"ipclab_more.studies.faults.{target}", plan, placement)


def carries(backend: Backend) -> bool:
    """Tell whether messages stream over `backend` between two processes, of which one may die.

    MPI ends all ranks with one.
    """
    return not backend.ranks and carrier(backend) is not None


def _ready() -> dict[str, Backend]:
    return registry.ready(lambda backend: carries(backend) or has_lock(backend))
