"""The study of spin windows: how long to look for a message before sleeping.

Both ends spin for `spin_ns`, then sleep. Arm `main` asks a fixed gap after each answer, arm
`exponential` after gaps that vary about the same mean. Beside the round trip stand the CPU time of
both ends and the share of their waits that slept.
"""

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from ipclab_measure.backends import installed as registry
from ipclab_measure.backends.interface import Backend
from ipclab_measure.backends.waiting import SLICE_NS
from ipclab_measure.studies.interface import (
    Launch,
    Outcome,
    Placement,
    Point,
    Profile,
    Role,
    Study,
    Sweep,
    named,
)

SIZES = (100,)
ALWAYS_NS = SLICE_NS  # longer than every gap: it never sleeps
WINDOWS_NS = (0, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, ALWAYS_NS)
GAPS_NS = (0, 10_000, 50_000, 100_000, 1_000_000, 10_000_000)
# What is measured in every profile except full: on one CPU, where the peer gets it only when the
# scheduler takes it away, two mechanisms, and without who never sleeps, which takes long.
FEW_WINDOWS_NS = (0, 10_000, 30_000, 100_000)
FEW_GAPS_NS = (10_000, 50_000, 100_000, 1_000_000)
FEW_ON_ONE_CPU = ("shm-futex", "unix")
FEW_TURNS, FEW_LAUNCHES, FEW_NS = 4, 8, 6_000_000
HERE = "ipclab_more.studies.spin.ends"


class SpinStudy(Study):
    """Two processes, echo: windows over gaps, for mechanisms that can spin and then sleep."""

    name = "spin"
    factors: ClassVar = {
        "spin_ns": WINDOWS_NS,
        "gap_ns": GAPS_NS,
        "placement": ("same", "cross"),
    }
    named_only = ("smoke", "quick")

    def backends(self) -> tuple[str, ...]:
        """Return those of the table that are at hand."""
        known = self.table()["arm"][0]["backend"]
        return tuple(name for name in _ready() if name in known)

    def effort(self, profile: Profile) -> Profile:
        """Return the profile, except in full with few turns and launches of its many points."""
        if profile.name == "full":
            return profile
        most = max(profile.least_launches, min(FEW_LAUNCHES, profile.most_launches))
        turns, budget_ns = min(FEW_TURNS, profile.turns), min(FEW_NS, profile.budget_ns)
        return replace(profile, turns=turns, budget_ns=budget_ns, most_launches=most)

    def points(self, profile: Profile, sweep: Sweep) -> list[Point]:
        every = profile.name == "full"
        always = () if every or "spin_ns" in sweep.levels else (ALWAYS_NS,)
        asked = sweep.of(self.backends())
        return self.of_arms(
            asked,
            both=asked if every or sweep.backends else FEW_ON_ONE_CPU,
            sizes=sorted(set(sweep.sizes or SIZES)),
            windows=sweep.numbers("spin_ns", WINDOWS_NS if every else FEW_WINDOWS_NS),
            always=always,
            gaps=sweep.numbers("gap_ns", GAPS_NS if every else FEW_GAPS_NS),
            pinned=profile.pinned,
            last=profile.pinned[-1:],
        )

    def missing(self, point: Point, scratch: Path) -> str | None:
        return registry.backend(point.backend).refuses(point.size_bytes)

    def roles(self, point: Point, profile: Profile, placement: Placement, seed: int) -> list[Role]:
        shared = named(point, seed) | {"spin_ns": point.levels["spin_ns"]}
        asking = shared | profile.samples
        asking |= {name: point.levels[name] for name in ("arm", "gap_ns")}
        return [
            Role("server", f"{HERE}:serve", shared, placement.role(0)),
            Role("client", f"{HERE}:ask", asking, placement.role(1)),
        ]

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        """Return the asking end's samples, which hold what both ends used."""
        return super().collect(point, {"client": outcomes["client"]}, seed)


def _ready() -> dict[str, Backend]:
    return registry.ready(lambda backend: backend.channel and not backend.ranks)
