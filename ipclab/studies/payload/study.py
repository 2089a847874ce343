"""The payload study itself: its points, their processes, and how their outcomes are joined."""

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from ipclab.backends import installed as registry
from ipclab.backends.sockets import no_loopback
from ipclab.errors import UsageError
from ipclab.store.launch import UNRECORDED
from ipclab.store.questions import PLACEMENTS
from ipclab.studies.interface import (
    Bound,
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
from ipclab.studies.payload import MOVED, SIZES
from ipclab.studies.payload.handover import END, START

FLOAT = 4
OTHERS = ("tcp", "file")  # mechanisms beside the shared-memory segments
HERE = "ipclab.studies.payload"
# By arm: the native program that does just what cannot be avoided; the published one opens the file
# for each pass.
PASSED = {
    "mapping": "map-{mapping}",
    "file": "map-file",
    "handover": "map-kept",
    "published": "map-reopened",
    "one-thread": "map-reopened",
}
HANDED = {
    "handover": "transfer-shm",
    "tcp": "transfer-tcp-{connection}",
    "v0.9": "transfer-tcp-new",
}


class PayloadStudy(Study):
    """The published method, its phases, two processes, past TCP (as it was, too), the file writer."""

    name = "payload"
    factors: ClassVar = {"placement": PLACEMENTS}
    # A write serialises and copies, a read copies; a handover copies once at each end, and its
    # receiver must be woken.
    bounds: ClassVar = (
        Bound("write", PASSED, older="memcpy", copies=2),
        Bound("read", PASSED, older="memcpy", copies=1),
        Bound("handover", HANDED, older="memcpy", copies=2, wake=True),
    )

    def backends(self) -> tuple[str, ...]:
        """Return the shared-memory backends at hand, and the two arms that are mechanisms."""
        return (*registry.ready(lambda backend: backend.segment), *OTHERS)

    def points(self, effort: Profile, sweep: Sweep) -> list[Point]:
        for size in sweep.sizes or ():
            if size % FLOAT:
                raise UsageError(
                    f"size {size} holds no whole float32", "", f"give a multiple of {FLOAT}"
                )
        asked = sweep.of(self.backends())
        sizes = sweep.sizes or SIZES
        return self.of_arms(
            asked,
            sizes=sizes,
            moved=[{"size": MOVED.get(size, size), "block": f"payload-{size}"} for size in sizes],
            segments=[name for name in asked if name not in OTHERS],
            placements=effort.placements,
            pinned=effort.pinned,
        )

    def missing(self, point: Point, scratch: Path) -> str | None:
        return no_loopback() if point.backend == "tcp" else None

    def roles(self, point: Point, effort: Profile, placement: Placement, seed: int) -> list[Role]:
        """Return the processes of the point's arm; published ones are fresh interpreters."""
        arguments = point_arguments(point, seed) | point.levels | {"sampling": effort.samples}
        arm = str(point.levels["arm"])
        return [
            Role(name, f"{HERE}.{run}", arguments, placement.role(index), fresh=arm == "published")
            for index, (name, run) in enumerate(self.table()["ends"][arm].items())
        ]

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        """Join the ends' stamps into `handover` samples."""
        made = super().collect(point, outcomes, seed)
        if START in made.samples:
            for name in ("", UNRECORDED):  # each turn has some of both, but for a program as it was
                if name + END not in made.samples:
                    continue
                took = made.samples.pop(name + END) - made.samples.pop(name + START)
                made.samples[f"{name}handover"] = took
            made.turns["handover"] = made.turns.pop(END)
            made.turns.pop(START)
        # Whoever else knocked at the port took time of a transfer: the launch is made again.
        strangers = made.facts.pop("strangers", 0)
        return replace(made, flags=["strangers"] if strangers else [])
