"""The study of spin windows: how long to look for a message before sleeping.

Both ends spin for `spin_ns`, then sleep. Arm `main` asks a fixed gap after each answer, arm
`exponential` after gaps that vary about the same mean. Beside the round trip stand the CPU time of
both ends and the share of their waits that slept.
"""

from pathlib import Path
from typing import ClassVar

from ipclab.backends import installed as registry
from ipclab.backends.waiting import SLICE_NS
from ipclab.studies.arms import FILE, table
from ipclab.studies.interface import (
    Launch,
    Outcome,
    Placement,
    Point,
    Profile,
    Role,
    Study,
    Sweep,
    point_arguments,
)

SIZES = (100,)
ALWAYS_NS = SLICE_NS  # longer than every gap: it never sleeps
EFFORT = table(Path(__file__).with_name(FILE))["effort"]
HERE = "ipclab_more.studies.spin.processes"


class SpinStudy(Study):
    """Two processes, echo: windows over gaps, for mechanisms that can spin and then sleep."""

    name = "spin"
    factors: ClassVar = {
        "spin_ns": tuple(EFFORT["windows"]["full"]),
        "gap_ns": tuple(EFFORT["gaps"]["full"]),
        "placement": ("same", "cross"),
    }
    named_only = ("smoke", "quick", "published")

    def backends(self) -> tuple[str, ...]:
        """Return those of the table that are at hand."""
        known = self.table()["arm"][0]["backend"]
        return tuple(registry.ready(lambda backend: backend.channel and backend.name in known))

    def points(self, effort: Profile, sweep: Sweep) -> list[Point]:
        own, asked = self.own(effort), sweep.of(self.backends())
        windows = sweep.numbers("spin_ns", own["windows"])
        always = () if "spin_ns" in sweep.levels or ALWAYS_NS in windows else (ALWAYS_NS,)
        return self.of_arms(
            asked,
            both=asked if sweep.backends else own["on_one_cpu"] or asked,
            sizes=sorted(set(sweep.sizes or SIZES)),
            windows=windows,
            always=always,
            gaps=sweep.numbers("gap_ns", own["gaps"]),
            pinned=effort.pinned,
            last=effort.pinned[-1:],
        )

    def missing(self, point: Point, scratch: Path) -> str | None:
        return registry.backend(point.backend).refuses(point.size_bytes)

    def roles(self, point: Point, effort: Profile, placement: Placement, seed: int) -> list[Role]:
        shared = point_arguments(point, seed) | {"spin_ns": point.levels["spin_ns"]}
        asking = shared | effort.samples
        asking |= {name: point.levels[name] for name in ("arm", "gap_ns")}
        return [
            Role("server", f"{HERE}:serve_spinning", shared, placement.role(0)),
            Role("client", f"{HERE}:ask_after_gap", asking, placement.role(1)),
        ]

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        """Return the asking end's samples, which hold what both ends used."""
        return super().collect(point, {"client": outcomes["client"]}, seed)
