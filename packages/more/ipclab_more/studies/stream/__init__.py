"""The stream study: one producer, consumers, one way, by mechanism, rate and consumers' work."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from ipclab.backends import installed as registry
from ipclab.errors import UsageError
from ipclab.store.questions import PLACEMENTS
from ipclab.studies.arms import FILE, table
from ipclab.studies.interface import (
    Bench,
    Bound,
    Launch,
    Outcome,
    Placement,
    Point,
    Profile,
    Role,
    Site,
    Study,
    Sweep,
    point_arguments,
    ring_bytes,
    spread,
)
from ipclab.studies.limits import STREAMED
from ipclab.studies.ranks import on_ranks_or_workers
from ipclab_more.studies.stream.base import NUMBER, RECEIVED
from ipclab_more.studies.stream.collect import joined_stream
from ipclab_more.studies.stream.connection import EACH, carrier, roles_of

HERE = "ipclab_more.studies.stream.processes"
TABLE = table(Path(__file__).with_name(FILE))
LEVELS = TABLE["levels"]
PACED = (65_536,)  # bytes of a message that is sent at a pace
SWEPT = "rate", "load", "work_ns"
LEAST, MOST = 16, 200_000  # messages of a turn
# An open loop's turn is that many times as long as another, so that a queue can grow in it
OPEN_TURNS = 5
# And that many times as long as its stall besides, so that it is over well before the turn
STALLS = 4
FLOWING_ARMS = ("main", "batch", "need")


class StreamStudy(Study):
    """All mechanisms over size and placement; then window, work, consumers, rate alone."""

    name = "stream"
    named_only = ("quick", "published")
    factors: ClassVar = {"placement": PLACEMENTS[:2]} | {
        name: tuple(LEVELS[name]) for name in SWEPT
    }
    # with work, a rate or a window of its own, or several receivers, it is another operation
    bounds: ClassVar = (
        Bound(RECEIVED, dict.fromkeys(FLOWING_ARMS, "flow-{flow}"), older="hand-over"),
    )

    def backends(self) -> tuple[str, ...]:
        return tuple(registry.ready(carrier))

    def effort(self, profile: Profile) -> Profile:
        """Return the profile with room for the many messages of a stream."""
        return replace(profile, least_samples=max(LEAST, profile.least_samples), most_samples=MOST)

    def points(self, effort: Profile, sweep: Sweep) -> list[Point]:
        levels = LEVELS | (TABLE["brief_levels"] if effort.brief else {})
        levels |= {name: sweep.numbers(name, levels[name]) for name in SWEPT}
        usual_sizes = (STREAMED[0], STREAMED[-1]) if effort.brief else STREAMED
        sizes = sorted(set(sweep.sizes or usual_sizes))
        if sizes[0] < NUMBER.size:
            few = f"a stream of {sizes[0]} bytes"
            fix = f"give {NUMBER.size} bytes or more"
            raise UsageError(few, "a message begins with its number", fix)
        mechanisms = sweep.of(self.backends())
        pinned = effort.pinned
        return self.of_arms(
            mechanisms,
            found=mechanisms,
            smallest=sizes[:1],
            larger=sizes[1:],
            pinned=pinned,
            cross=pinned[-1:],
            near=pinned[:-1],
            paced=sweep.sizes or PACED,
            around=pinned[-1:] if effort.brief else pinned,
            **levels,
        )

    def missing(self, point: Point, scratch: Path) -> str | None:
        return registry.backend(point.backend).refuses(point.size_bytes)

    def open(
        self, site: Site, points: Sequence[Point], effort: Profile, seed: int
    ) -> AbstractContextManager[Bench]:
        return on_ranks_or_workers(site, points, HERE)

    def shared_memory(self, point: Point) -> int:
        """Return room for a ring each way of each consumer, each of four messages."""
        return int(point.levels["consumers"]) * ring_bytes(point.size_bytes)

    def roles(self, point: Point, effort: Profile, placement: Placement, seed: int) -> list[Role]:
        """Return the producer and its consumers, on CPUs in turn."""
        levels = {**point.levels}
        arm = levels.pop("arm")
        open_ns = OPEN_TURNS * effort.turn_ns + STALLS * int(levels["stall_ns"])
        plan = point_arguments(point, seed) | levels | effort.samples
        plan |= {"fill": bool(levels["fill"]), "open_ns": open_ns, "sleeps": arm == "paced"}
        names = roles_of(int(levels["consumers"]))
        return spread(names, f"{HERE}:run_stream", plan, placement)

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        """Join what the ends kept; `PayloadError` when one was lost, torn, doubled, misplaced."""
        producer, *consumers = (
            Study.collect(self, point, {name: outcomes[name]}, seed)
            for name in roles_of(len(outcomes) - 1)
        )
        return joined_stream(producer, consumers, point.levels["sharing"] == EACH)
