"""The payload study itself: its points, their processes, and how their outcomes are joined."""

from collections.abc import Iterator
from itertools import product
from typing import ClassVar

import numpy as np

from ipclab.backends import installed as registry
from ipclab.errors import UsageError
from ipclab.machine.placement import Placement
from ipclab.spawn.launcher import Role
from ipclab.spawn.proof import PayloadError, check, digest
from ipclab.spawn.worker import Outcome
from ipclab.store.launch import Launch, Samples
from ipclab.store.point import Point
from ipclab.studies.interface import Bound, Study, Sweep
from ipclab.studies.payload import FLOAT, HERE, LISTING, MOVED, SIZES, TCP_VARIANTS, handover, mapping, tcp
from ipclab.studies.profile import PLACEMENTS, Profile


class PayloadStudy(Study):
    """Five arms: the published method, its phases, two processes, the TCP past, the real file writer."""

    name = "payload"
    factors: ClassVar = {"placement": PLACEMENTS}
    # A write serialises and copies, a read copies; a handover copies once at each end, and its receiver must be woken.
    limits: ClassVar = {"write": Bound(copies=2), "read": Bound(copies=1), "handover": Bound(copies=2, wake=True)}

    def backends(self) -> tuple[str, ...]:
        """Return the shared-memory backends that are there, and the two arms that are mechanisms of their own."""
        segments = [found.name for found in registry.backends().values() if found.segment and not found.missing()]
        return (*segments, "tcp", "file")

    def effort(self, profile: Profile) -> Profile:
        """Return the whole profile."""
        return profile

    def points(self, profile: Profile, sweep: Sweep) -> list[Point]:
        """Return the points of all arms, interleaved by size."""
        for size in sweep.sizes or ():
            if size % FLOAT:
                raise UsageError(f"size {size} holds no whole float32", "", f"give a multiple of {FLOAT}")
        sizes = sweep.sizes or SIZES
        found = [point for size in sizes for point in self._of_size(size, profile)]
        # A size may be given twice, or stand for what the published program moved of another.
        return list({point.id: point for point in found if sweep.wants(point.backend)}.values())

    def _of_size(self, size: int, profile: Profile) -> Iterator[Point]:
        def point(backend: str, placement: str, primary: str, **levels: str) -> Point:
            moved = MOVED.get(size, size) if levels["arm"] in LISTING else size
            return Point(self.name, backend, moved, placement, {**levels}, f"payload-{size}", tuple(primary.split()))

        for arm in LISTING:
            yield point("shm-mmap", "free", "write read", arm=arm)
        for kind in mapping.MAPPINGS:
            yield point("shm-mmap", "same", "write read", arm="mapping", mapping=kind)
        yield point("file", "same", "write read", arm="file")
        segments = [name for name in self.backends() if name not in ("tcp", "file")]
        for backend, placement in product(segments, profile.placements):
            yield point(backend, placement, "handover", arm="handover")
        placed = [placement for placement in profile.placements if placement != "free"]
        for (receive, codec, connection), nodelay, placement in product(TCP_VARIANTS, ("off", "on"), placed):
            levels = {"receive": receive, "codec": codec, "connection": connection, "nodelay": nodelay}
            yield point("tcp", placement, "handover", arm="tcp", **levels)

    def roles(self, point: Point, profile: Profile, placement: Placement, seed: int) -> list[Role]:
        """Return one worker for the one-process arms, two for the others."""
        arm, size, cpus = point.levels["arm"], point.size_bytes, placement.role
        common = {"size": size, "seed": seed}
        if arm in LISTING:
            before = [moved for moved in MOVED.values() if moved < size]
            return [Role("program", f"{HERE}.published:run", {**common, "before": before}, cpus(0), arm == "published")]
        if arm == "mapping":
            arguments = {**common, "mapping": point.levels["mapping"], **profile.samples}
            return [Role("program", f"{HERE}.mapping:run", arguments, cpus(0))]
        if arm == "file":
            return [Role("program", f"{HERE}.file:run", {**common, **profile.samples}, cpus(0))]
        if arm == "handover":
            ends = {"backend": point.backend, "size": size}
            return [
                Role("writer", f"{HERE}.handover:write", {**ends, "seed": seed, **profile.samples}, cpus(0)),
                Role("reader", f"{HERE}.handover:read", ends, cpus(1)),
            ]
        levels = {name: point.levels[name] for name in ("codec", "connection")}
        sending = {**common, **levels, "nodelay": point.levels["nodelay"], **profile.samples}
        receiving = {"size": size, "receive": point.levels["receive"], **levels}
        return [
            Role("sender", f"{HERE}.tcp:send", sending, cpus(0)),
            Role("receiver", f"{HERE}.tcp:receive", receiving, cpus(1)),
        ]

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        """Join the ends' stamps into `handover` samples after the payload's proof."""
        samples: dict[str, Samples] = {}
        counters: dict[str, dict[str, float]] = {}
        stamps: dict[str, Samples] = {}
        for outcome in outcomes.values():
            counters |= outcome.counters
            for op, values in outcome.samples.items():
                (stamps if op in ("start", "end") else samples)[op] = np.frombuffer(values, np.int64)
        if point.levels["arm"] == "handover":
            check(seed, point.size_bytes, outcomes["reader"].proof, handover.PROOF_MESSAGES)
        elif point.levels["arm"] == "tcp":
            expected = [digest(tcp.contents(seed, i, point.size_bytes).data) for i in range(tcp.PROOF_MESSAGES)]
            if outcomes["receiver"].proof != expected:
                raise PayloadError("the received array is not the one that was sent", "its bytes differ")
        if stamps:
            samples["handover"] = stamps["end"] - stamps["start"]
        # Whoever else knocked at the port took time of a transfer: the launch is made again.
        strangers = any("strangers" in outcome.facts for outcome in outcomes.values())
        return Launch(samples, counters, flags=["strangers"] if strangers else [])
