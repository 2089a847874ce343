"""What a study must offer so that the runner can measure it."""

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ipclab.errors import UsageError
from ipclab.placement import Placement
from ipclab.points import Point
from ipclab.profiles import Profile
from ipclab.workers.launcher import Role
from ipclab.workers.worker import Outcome

Samples = np.ndarray[tuple[int], np.dtype[np.int64]]


@dataclass(frozen=True)
class Sweep:
    """What a person asked to vary instead of the study's own levels; None means all of the study's."""

    sizes: tuple[int, ...] | None = None
    backends: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Raise `UsageError` for a size that is not positive."""
        for size in self.sizes or ():
            if size <= 0:
                raise UsageError(f"size {size} is not possible", "", "give a number of bytes above 0")

    def wants(self, backend: str) -> bool:
        """Tell whether points of `backend` are asked for."""
        return self.backends is None or backend in self.backends


@dataclass
class Launch:
    """The samples of one launch of one point.

    `samples`: op -> int64 ns in the order taken. `counters`: op -> counter -> number per operation. `order` is the
    launch's place among all launches of the run, `started_ns` its start on the run's clock.
    """

    samples: dict[str, Samples]
    counters: dict[str, dict[str, float]]
    order: int = 0
    started_ns: int = 0
    elapsed_ns: int = 0
    flags: list[str] = field(default_factory=list)
    cpus: dict[str, list[int]] = field(default_factory=dict)
    facts: dict[str, object] = field(default_factory=dict)


class Study(Protocol):
    """One question with its factors."""

    name: str

    def backends(self) -> tuple[str, ...]:
        """Return the names of the mechanisms that this study can sweep here."""
        ...

    def effort(self, profile: Profile) -> Profile:
        """Return how much of `profile` this study takes: itself, or less where less will do."""
        ...

    def points(self, profile: Profile, sweep: Sweep) -> list[Point]:
        """Return the points of `sweep` under `profile`; raises `UsageError` when it cannot mean anything."""
        ...

    def roles(self, point: Point, profile: Profile, placement: Placement, seed: int) -> list[Role]:
        """Return the processes of one launch of `point`."""
        ...

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        """Join the workers' outcomes; raises `PayloadError` when data were lost, torn or reordered."""
        ...
