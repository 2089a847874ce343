"""The round-trip study: what it costs two processes to ask and answer, by mechanism (methods: seed 003)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import ClassVar

import numpy as np

from ipclab.backends import installed as registry
from ipclab.backends.interface import Backend
from ipclab.machine.placement import Placement
from ipclab.spawn.launcher import Role
from ipclab.spawn.proof import check, digest, payload
from ipclab.spawn.worker import Outcome
from ipclab.store.launch import Launch
from ipclab.store.point import Level, Point
from ipclab.studies.interface import Bound, OnForkServer, Sweep
from ipclab.studies.profile import PLACEMENTS, Profile
from ipclab.studies.round_trip.ends import INTENDED, OP, PROOF_MESSAGES

SIZES = (100, 10_000, 500_000, 2_000_000)
GAPS_NS = (50_000, 200_000, 1_000_000, 10_000_000)  # beside none, which is the main arm
PUBLISHED = ("posix-shm", "zmq-ipc")
PUBLISHED_ROUND_TRIPS = 50_000
GAP_BACKENDS = ("posix-shm", "shm-futex", "unix", "zmq-ipc")
TOUCHES = ("untouched", "header", "full")
TOUCH_BACKENDS = ("iceoryx2", "posix-shm", "zmq-ipc")
HERE = "ipclab.studies.round_trip.ends"


@dataclass(frozen=True)
class Arms:
    """The points of one size: which arms it has beside `main` follows from its place among the sizes."""

    size: int
    smallest: bool
    largest: bool
    profile: Profile
    found: list[Backend]
    gaps_ns: tuple[int, ...]

    def points(self) -> Iterator[Point]:
        """Yield the points of every arm: one sweep of all backends, then one factor varied at a time.

        Arm `main` has the usual wait, no gap, and messages received as new objects; `published` is its method.
        """
        pinned = tuple(placement for placement in self.profile.placements if placement != "free")
        every = self.profile.placements if self.smallest else pinned
        for backend, placement in product(self.found, every):
            yield self._point(backend, placement, "main")
        for backend, placement in product(self._named(PUBLISHED), every):
            yield self._point(backend, placement, "published")
        if self.smallest:
            for backend, placement in product(self.found, pinned):
                for wait in backend.waits[1:]:
                    yield self._point(backend, placement, "wait", wait=wait)
            for backend, placement, gap in product(self._named(GAP_BACKENDS), pinned, self.gaps_ns):
                yield self._point(backend, placement, "gap", gap_ns=gap)
        if self.largest:
            for backend, placement in product(self._named(TOUCH_BACKENDS), pinned[-1:]):
                ways = [("bytes", "full"), *product(backend.receives[-1:], TOUCHES)]
                for receive, touch in ways:
                    yield self._point(backend, placement, "touch", receive=receive, touch=touch)

    def _named(self, names: tuple[str, ...]) -> list[Backend]:
        return [backend for backend in self.found if backend.name in names]

    def _point(self, backend: Backend, placement: str, arm: str, **levels: Level) -> Point:
        usual: dict[str, Level] = {
            "arm": arm,
            "wait": backend.waits[0],
            "receive": "bytes",
            "gap_ns": 0,
            "touch": "full",
        }
        block = f"round-trip-{self.size}"
        return Point("round_trip", backend.name, self.size, placement, usual | levels, block, (OP,))


class RoundTripStudy(OnForkServer):
    """Two processes, echo: all mechanisms over size and placement, then wait, idle gap and touch on their own."""

    name = "round_trip"
    factors: Mapping[str, tuple[Level, ...]] = {"gap_ns": GAPS_NS, "placement": PLACEMENTS}
    limits: ClassVar = {OP: Bound(copies=4, echo=True)}  # a message is copied in and out, both ways

    def backends(self) -> tuple[str, ...]:
        """Return the names of the backends that have a channel and are there."""
        return tuple(backend.name for backend in _found())

    def effort(self, profile: Profile) -> Profile:
        """Return the whole profile."""
        return profile

    def points(self, profile: Profile, sweep: Sweep) -> list[Point]:
        """Return the points of all arms, interleaved by size."""
        sizes = sorted(set(sweep.sizes or SIZES))
        found = [backend for backend in _found() if sweep.wants(backend.name)]
        gaps = sweep.numbers("gap_ns", GAPS_NS)
        arms = [Arms(size, size == sizes[0], size == sizes[-1], profile, found, gaps) for size in sizes]
        return [point for each in arms for point in each.points()]

    def roles(self, point: Point, profile: Profile, placement: Placement, seed: int) -> list[Role]:
        """Return the echoing and the asking process."""
        levels = {name: point.levels[name] for name in ("arm", "wait", "receive", "touch")}
        common = {"backend": point.backend, "size": point.size_bytes, "seed": seed, **levels}
        asking = {**common, "gap_ns": point.levels["gap_ns"], **profile.samples}
        if point.levels["arm"] == "published" and profile.most_samples >= PUBLISHED_ROUND_TRIPS:
            # The published number, unless the launch would then come near its deadline.
            asking |= {"budget_ns": int(profile.launch_seconds / 4 * 1e9), "most": PUBLISHED_ROUND_TRIPS}
        return [
            Role("server", f"{HERE}:serve", common, placement.role(0)),
            Role("client", f"{HERE}:ask", asking, placement.role(1)),
        ]

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        """Return the asking end's samples after the proof of both ways, and the counters of both ends together."""
        server, client = outcomes["server"], outcomes["client"]
        for seen in (server.proof, client.proof):
            if seen != _expected(seed, point.size_bytes):
                check(seed, point.size_bytes, seen, PROOF_MESSAGES)
        samples = {op: np.frombuffer(values, np.int64) for op, values in client.samples.items()}
        both = {name: value + client.counters[OP][name] for name, value in server.counters[OP].items()}
        return Launch(samples, {OP: both}, facts=dict(client.facts))


@lru_cache(maxsize=len(SIZES))
def _expected(seed: int, size: int) -> list[str]:
    """Return the digests of the proof's messages, which are the same for every launch of a run."""
    return [digest(payload(seed, sequence, size)) for sequence in range(PROOF_MESSAGES)]


def _found() -> list[Backend]:
    return [backend for backend in registry.backends().values() if backend.channel and not backend.missing()]


__all__ = ["GAPS_NS", "INTENDED", "OP", "SIZES", "RoundTripStudy"]
