"""The round-trip study: what asking and answering costs, by mechanism (methods: text 003)."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from ipclab.backends import installed as registry
from ipclab.backends.interface import Backend
from ipclab.spawn import apart
from ipclab.store.launch import Launch
from ipclab.store.questions import PLACEMENTS
from ipclab.studies.arms import Levels
from ipclab.studies.interface import (
    Bench,
    Bound,
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
from ipclab.studies.ranks import on_ranks_or_workers
from ipclab.studies.round_trip import published
from ipclab.studies.round_trip.ends import OP

OF_TEXT = (100, 10_000, 500_000, 2_000_000)
SIZES = tuple(sorted((*OF_TEXT, 65_536)))
GAPS_NS = (50_000, 200_000, 1_000_000, 10_000_000)  # beside none, which is the main arm
GAPPED = ("posix-shm", "shm-futex", "unix", "zmq-ipc")  # who is measured after them, unless named
WHOLE = "whole"
PROGRAMS = "published", WHOLE  # the arms of the published programs
WHOLE_SECONDS = 1_800.0  # the deadline of 50,000 round trips
HERE = "ipclab.studies.round_trip"


class RoundTripStudy(Study):
    """Two processes, echo: mechanisms over size and placement, then wait, gap, touch alone.

    Arm `published` is the published programs themselves, of which shared memory's is a package, for
    as long as a profile has; arm `whole` makes as many round trips as the text.
    """

    name = "round_trip"
    factors: ClassVar = {"gap_ns": GAPS_NS, "placement": PLACEMENTS}
    # A message is copied in and out, both ways; before queues had their own echo, that of pipes was
    # theirs.
    bounds: ClassVar = (
        Bound(OP, "echo-{mechanism}", older="echo-pipe", copies=4, when={"limit": "mq"}),
        Bound(OP, "echo-{mechanism}", copies=4),
    )

    def backends(self) -> tuple[str, ...]:
        return (*_ready(), published.PACKAGE)

    def points(self, effort: Profile, sweep: Sweep) -> list[Point]:
        """Return the points of all arms, interleaved by size; only the smallest moves freely."""
        sizes = sorted(set(sweep.sizes or SIZES))
        ready = _ready()
        mechanisms = {name: ready[name] for name in sweep.of(ready)}
        programs = sweep.of(published.PROGRAMS)
        every = {name: Backend(name) for name in programs} | mechanisms
        pinned, short = effort.pinned, effort.brief
        small = self.table()["brief"]["smallest_alone"] if short and sweep == Sweep() else []
        smallest_alone = [name for name in mechanisms if name in small]

        def own(levels: Levels) -> Levels:
            """Return `levels` with the backend's `usual` wait and `last` way to receive."""
            backend = every[levels["backend"]]
            meant = {"usual": backend.waits[0], "last": backend.receives[-1]}
            return {name: meant.get(level, level) for name, level in levels.items()}

        return self.of_arms(
            every,
            own,
            found=[name for name in mechanisms if name not in smallest_alone],
            smallest_alone=smallest_alone,
            programs=programs,
            whole=programs if "whole" in self.own(effort) else [],
            unpinned=[name for name in effort.placements if name == "free"],
            waits=[
                {"backend": name, "wait": wait}
                for name, backend in mechanisms.items()
                for wait in backend.waits[1:]
            ],
            gaps=sweep.numbers("gap_ns", GAPS_NS),
            gapped=[*mechanisms] if sweep.backends and "gap_ns" in sweep.levels else GAPPED,
            sizes=sizes,
            of_text=sizes if sweep.sizes else OF_TEXT,
            smallest=sizes[:1],
            largest=sizes[-1:],
            parted=[] if short else sizes[:1],
            placements=effort.placements,
            pinned=pinned,
            last=pinned[-1:],
        )

    def roles(self, point: Point, effort: Profile, placement: Placement, seed: int) -> list[Role]:
        serve, ask = "ends:serve", "ends:ask"
        arguments = point_arguments(point, seed) | point.levels | effort.samples
        if point.levels["arm"] in PROGRAMS:
            serve, ask = "published:serve_as_published", "published:ask_as_published"
            # a published program takes no turns
            arguments["budget_ns"] = self.own(effort).get("trips_ns", effort.budget_ns)
            arguments["most"] = published.ROUND_TRIPS
            if point.levels["arm"] == WHOLE or effort.as_texts:
                arguments["least"] = published.ROUND_TRIPS
        return [
            Role("server", f"{HERE}.{serve}", arguments, placement.role(0)),
            Role("client", f"{HERE}.{ask}", arguments, placement.role(1)),
        ]

    def of_point(self, point: Point, effort: Profile, in_contest: bool) -> Profile:
        """Return what a point takes of `effort`; all of the text's round trips take long."""
        usual = super().of_point(point, effort, in_contest)
        if point.levels["arm"] != WHOLE:
            return usual
        own = self.own(effort)
        launches = own["whole"] if point.size_bytes <= own["long"] else 1
        return replace(usual.exactly(launches), launch_seconds=WHOLE_SECONDS)

    def open(
        self, site: Site, points: Sequence[Point], effort: Profile, seed: int
    ) -> AbstractContextManager[Bench]:
        return on_ranks_or_workers(site, points, f"{HERE}.ends")

    def missing(self, point: Point, scratch: Path) -> str | None:
        if why := apart.refuses(str(point.levels.get("boundary", apart.NONE))):
            return why
        if point.backend == published.PACKAGE:
            return published.program_missing(point.backend)
        return registry.backend(point.backend).refuses(point.size_bytes)

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        """Return the asking end's samples and both ends' counters."""
        server, client = outcomes["server"], outcomes["client"]
        launch = super().collect(point, {"client": client}, seed)
        if OP in client.counters:  # nothing is counted of the first moments
            own, echoed = client.counters[OP], server.counters[OP]
            launch.counters[OP] = {name: value + echoed[name] for name, value in own.items()}
        return launch


def _ready() -> dict[str, Backend]:
    return registry.ready(lambda backend: backend.channel)
