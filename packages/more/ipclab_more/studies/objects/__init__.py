"""The study of objects: handing an array, a frame or a dictionary to another process, by way.

What makes objects imports pandas and Arrow: it is imported where it is used, so that the workers of
other studies do without. `size_bytes` is about what the object's own data take. A way that goes in
the message is measured over several carriers; what lies apart needs one only to say where.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from ipclab.backends import installed as registry
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

MIDDLE = 100_000
CARRIERS = ("mp-queue", "posix-shm", "unix", "zmq-ipc")
KINDS = ("array", "frame", "dictionary")
HANDLE, SUMMED = "handle", "summed"  # until the object is there, and until every element is summed
HERE = "ipclab_more.studies.objects.processes"


class ObjectsStudy(Study):
    """One process gives an object, the other takes it, sums every element and answers."""

    name = "objects"
    factors: ClassVar = {"object": KINDS}
    # the other process cannot sum what lies in this one's memory alone; bytes of small objects cost
    # next to nothing
    bounds: ClassVar = (Bound(SUMMED, copies=1, least_bytes=MIDDLE),)
    named_only = ("smoke", "quick", "published")
    preload = f"{HERE}:preload_ends"

    def of_point(self, point: Point, effort: Profile, in_contest: bool) -> Profile:
        """Return few turns for large objects, but in full."""
        values = super().of_point(point, effort, in_contest)
        few = self.own(effort).get("turns_of_large")
        if few is None or point.size_bytes <= MIDDLE:
            return values
        return replace(values, turns=min(few, values.turns))

    def backends(self) -> tuple[str, ...]:
        return tuple(registry.ready(lambda backend: backend.channel and backend.name in CARRIERS))

    def points(self, effort: Profile, sweep: Sweep) -> list[Point]:
        own = self.own(effort)
        objects = sweep.levels.get("object", KINDS)
        return self.of_arms(
            sweep.of(self.backends()),
            objects=objects,
            frame=[kind for kind in objects if kind == "frame"],
            frames=() if sweep.sizes else own["frames"],
            sizes=sorted(set(sweep.sizes or own["sizes"])),
            middle=sorted(set(sweep.sizes or (MIDDLE,))),
            far=effort.pinned[-1:],
            near=effort.pinned[:-1],
        )

    def missing(self, point: Point, scratch: Path) -> str | None:
        """Return why the way cannot carry the object, or its carrier not have the message."""
        from ipclab_more.studies.objects.processes import capacity
        from ipclab_more.studies.objects.ways import WAYS

        kind, way = str(point.levels["object"]), str(point.levels["way"])
        if kind not in KINDS:
            return f"there is no such object; there are {', '.join(KINDS)}"
        refused = WAYS[way].refuses(kind)
        return refused or registry.backend(point.backend).refuses(capacity(point.size_bytes))

    def shared_memory(self, point: Point) -> int:
        from ipclab_more.studies.objects.processes import capacity, room_bytes

        messages = 2 * capacity(point.size_bytes) if point.backend == "posix-shm" else 0
        return messages + room_bytes(point.size_bytes)

    def roles(self, point: Point, effort: Profile, placement: Placement, seed: int) -> list[Role]:
        levels = {"kind": point.levels["object"], "way": point.levels["way"]}
        of = point_arguments(point, seed) | levels | {"readers": self.own(effort)["readers"]}
        asked = {**of, **effort.samples}
        taker = Role("server", f"{HERE}:take", of, placement.role(0), preload=self.preload)
        giver = Role("client", f"{HERE}:give", asked, placement.role(1), preload=self.preload)
        return [taker, giver]

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        """Return the giving end's samples and both ends' counters."""
        from ipclab_more.studies.objects.copies import copied

        taker, giver = outcomes["server"], outcomes["client"]
        made = super().collect(point, {"client": giver}, seed)
        made.counters = {
            op: _sum(of_op, taker.counters.get(op, {})) for op, of_op in giver.counters.items()
        }
        facts = _sum(giver.facts, taker.facts)
        made.facts = facts | copied(facts, point.backend)
        return made


def _sum(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sum of both by name; what only one has is its own."""
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}
