"""The study of neighbours: a round trip beside a process that uses CPU, memory, disk, scheduler.

Arm `main` asks one round trip after the other, arm `isolation` one each millisecond, from when it
was due: what it buys to have a CPU of one's own, or another scheduling class, while a neighbour
computes on one's CPU.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from shutil import disk_usage
from typing import ClassVar

from ipclab.backends import installed as registry
from ipclab.backends.interface import Backend
from ipclab.backends.waiting import BLOCK
from ipclab.errors import LabError
from ipclab.machine import Source, Topology
from ipclab.machine.mounts import existing, mount_of
from ipclab.machine.parse import KNOWN
from ipclab.machine.placement import placements
from ipclab.spawn.scratch import held_subfolder
from ipclab.studies.forked import DONE, Forked
from ipclab.studies.interface import (
    Bench,
    Launch,
    Levels,
    Outcome,
    Placement,
    Point,
    Profile,
    Role,
    Site,
    Study,
    Sweep,
    point_arguments,
)
from ipclab_more.studies.neighbours.hogs import COPIED_BYTES, FIFO, FILE_BYTES, PRIORITY

SIZES = (100,)
QUIET, OWN, OTHER, MEMORY = "quiet", "own-cpu", "other-cpu", "memory-copy"
HOGS = {OWN: "cpu", OTHER: "cpu", MEMORY: "memory", "writeback": "writeback", "wakes": "wakes"}
NEIGHBOURS = (QUIET, *HOGS)
PLAIN = "plain"
ISOLATIONS = (PLAIN, "nice", "sched-idle", FIFO)
MOST_HOGS = 2  # that copy memory: one core does not use up the bandwidth of many
HERE = "ipclab_more.studies.neighbours.ends"
NO_DISK = (
    "the folder for files is in memory, which is never written back; name one on a disk:"
    " --scratch DIR"
)


class NeighboursStudy(Study):
    """A round trip of each mechanism beside each neighbour, whose counter proves its work."""

    name = "neighbours"
    factors: ClassVar = {
        "placement": ("same", "cross"),
        "neighbour": NEIGHBOURS,
        "isolation": ISOLATIONS,
    }
    named_only = ("smoke", "quick", "published")
    folder = ""

    def backends(self) -> tuple[str, ...]:
        return tuple(_ready())

    def points(self, profile: Profile, sweep: Sweep) -> list[Point]:
        ready = _ready()
        chosen = sweep.backends or self.own(profile)["mechanisms"] or ready
        mechanisms = [name for name in ready if name in chosen]
        neighbours = sweep.levels.get("neighbour", NEIGHBOURS)
        every = [QUIET, *(name for name in neighbours if name != QUIET)]
        isolations = sweep.levels.get("isolation", ISOLATIONS)

        def with_wait(levels: Levels) -> Levels:
            """Return `levels` with the mechanism's own wait; ends of a real-time class sleep."""
            isolated = levels["arm"] == "isolation"
            return levels | {"wait": BLOCK if isolated else ready[levels["backend"]].waits[0]}

        return self.of_arms(
            mechanisms,
            with_wait,
            found=mechanisms,
            sizes=sorted(set(sweep.sizes or SIZES)),
            neighbours=every,
            near=[name for name in (QUIET, OWN, OTHER) if name in every],
            isolations=[name for name in isolations if name != PLAIN],
            pinned=profile.pinned,
        )

    def missing(self, point: Point, scratch: Path) -> str | None:
        name = str(point.levels["neighbour"])
        if name != QUIET and not hog_cpus(name, point.placement):
            return (
                "it needs a CPU that neither end is on; this process may use"
                f" {len(os.sched_getaffinity(0))}"
            )
        if point.levels["isolation"] == FIFO and not _fifo_permitted():
            return (
                "SCHED_FIFO is not permitted; run as root, or raise the limit of real-time"
                " priorities: ulimit -r 1"
            )
        return _no_room(name, scratch) or registry.backend(point.backend).refuses(point.size_bytes)

    def expected(self, point: Point) -> tuple[str, ...]:
        if point.levels["neighbour"] == QUIET:
            return ()
        return "run-queue", "pressure-io", "pressure-memory"

    def roles(self, point: Point, profile: Profile, placement: Placement, seed: int) -> list[Role]:
        levels = point.levels
        name = str(point.levels["neighbour"])
        shared = point_arguments(point, seed)
        shared |= {"wait": levels["wait"], "isolation": levels["isolation"]}
        asking = shared | profile.samples
        asking |= {"gap_ns": levels["gap_ns"], "neighbour": name, "folder": self.folder}
        asking |= {"hog": HOGS.get(name, ""), "cpus": hog_cpus(name, point.placement)}
        server = Role("server", f"{HERE}:serve_beside_hog", shared, placement.role(0))
        return [server, Role("client", f"{HERE}:ask_beside_hog", asking, placement.role(1))]

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        """Return the asking end's samples."""
        return super().collect(point, {"client": outcomes["client"]}, seed)

    @contextmanager
    def open(
        self, site: Site, points: Sequence[Point], profile: Profile, seed: int
    ) -> Iterator[Bench]:
        """Make the folder for the files of the neighbour that writes."""
        with (
            held_subfolder(site.scratch, self.name, site.own_scratch) as folder,
            super().open(site, points, profile, seed) as bench,
        ):
            self.folder = str(folder)
            yield bench


def hog_cpus(neighbour: str, placement: str) -> list[int]:
    """Return the CPUs of the hogs of `neighbour` beside ends in `placement`; none without room."""
    if neighbour == QUIET:
        return []
    placed = placements(_topology())
    ends = [min(placed[placement].role(index)) for index in (0, 1)]
    if neighbour == OWN:
        return ends[1:]
    every = [min(cpus) for cpus in placed["cross"].cpus] if "cross" in placed else []
    return [cpu for cpu in every if cpu not in ends][: MOST_HOGS if neighbour == MEMORY else 1]


@cache
def _topology() -> Topology:
    return Topology.read(Source())


@cache
def _fifo_permitted() -> bool:
    """Tell whether a process of ours may have a real-time class, by trying it in a child."""

    def ask(tally: memoryview) -> None:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
        tally[DONE] = 1

    child = Forked(ask)
    child.end()
    return bool(child.tally[DONE])


def _no_room(neighbour: str, scratch: Path) -> str | None:
    """Return why there is no room, on disk or in memory, for what `neighbour` writes, or None."""
    if neighbour == MEMORY:
        place = "memory"
        need = 2 * MOST_HOGS * COPIED_BYTES
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    elif neighbour == "writeback":
        place = str(existing(scratch))
        need = 2 * FILE_BYTES
        free = disk_usage(place).free
        # where the machine does not tell, the hog's own counter will
        with suppress(LabError):
            if mount_of(Source(), place).filesystem in KNOWN["memory"]:
                return NO_DISK
    else:
        return None
    return f"{place} has {free:,} bytes free and {need:,} are needed" if free < need else None


def _ready() -> dict[str, Backend]:
    """Return the backends at hand with a channel between any processes: hogs are no ranks."""
    return registry.ready(lambda backend: backend.channel and not backend.ranks)
