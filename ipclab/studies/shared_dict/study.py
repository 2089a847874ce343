"""The study itself: its points, the roles of its ranks, and how their outcomes are joined."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import ClassVar

from ipclab.backends import installed as registry
from ipclab.backends.codecs import CODECS, encoded_bytes
from ipclab.backends.interface import Backend
from ipclab.machine.placement import Placement
from ipclab.spawn import mpi
from ipclab.spawn.launcher import Role
from ipclab.spawn.mpi_launcher import RankBench
from ipclab.spawn.mpi_outer import OuterBench, world
from ipclab.spawn.worker import Outcome
from ipclab.store.launch import Launch
from ipclab.store.point import Level, Point
from ipclab.studies.interface import Bench, Bound, Site, Study, Sweep
from ipclab.studies.profile import Profile
from ipclab.studies.shared_dict.joined import joined
from ipclab.studies.shared_dict.scenarios import PUBLISHED_READS

HERE = "ipclab.studies.shared_dict.ends"
PUBLISHED = ("lmdb", "shared-memory", "zmq-push")
PUBLISHED_READERS = 3
READERS = (1, 3, 7)
PUSH = "zmq-push"
ENTRIES = (10, 100, 1000, 10_000)
MANY_ENTRIES = 100_000  # in profile full
STREAM_ENTRIES = (100, 1000, 10_000)
LIVE_ENTRIES = (10, 1000)
USUAL_ENTRIES = 1000  # where codecs, placements and LMDB's settings are varied
CODEC_BACKENDS = ("posix-shm", "lmdb")
NETWORKED = "zmq-tcp"  # swept between nodes only
USUAL: dict[str, Level] = {"codec": "pickle", "sync": "none", "map": "none", "nodes": 1}
LMDB: dict[str, Level] = {"sync": "off", "map": "writemap"}  # as published
LMDB_OTHERS = (("off", "default"), ("on", "writemap"), ("on", "default"))
PRIMARY = {"published": "read", "read-many": "read", "stream": "update", "live": "staleness"}
WRITES = 30  # of a point at least, over all its launches
QUICK_LAUNCHES = 6  # the fewest that can tell seven mechanisms apart after correction


class SharedDictStudy(Study):
    """Four scenarios over backends, entries and readers, on MPI ranks."""

    name = "shared_dict"
    sized = False
    limits: ClassVar = {"read.transport": Bound(copies=1)}  # a reader decodes a copy of its own
    factors: ClassVar = {"entries": ENTRIES, "readers": READERS}

    def backends(self) -> tuple[str, ...]:
        """Return the names of the backends that have a store."""
        return tuple(backend.name for backend in _found())

    def effort(self, profile: Profile) -> Profile:
        """Return the profile; the quick one with equally many launches of all, in whole rounds of ranks."""
        if profile.name != "quick":
            return profile
        return replace(profile, least_launches=QUICK_LAUNCHES, most_launches=QUICK_LAUNCHES)

    def points(self, profile: Profile, sweep: Sweep) -> list[Point]:
        """Return the points of all scenarios, in one block: a round of launches is one set of ranks."""
        found = [backend for backend in _found() if sweep.wants(backend.name)]
        every = [*_arms([backend for backend in found if backend.name != NETWORKED], profile, sweep)]
        if any(backend.name == NETWORKED for backend in found):
            every += _between_nodes(profile, sweep)
        return list({point.id: point for point in every}.values())

    def roles(self, point: Point, profile: Profile, placement: Placement, seed: int) -> list[Role]:
        """Return the writer and its readers."""
        writes = max(1, -(-WRITES // max(1, profile.least_launches)))
        levels = {name: level for name, level in point.levels.items() if name != "readers"}
        arguments = {"backend": point.backend, **levels, "writes": writes, **profile.samples}
        readers = int(point.levels["readers"])
        names = ["writer", *(f"reader {number}" for number in range(1, readers + 1))]
        return [
            Role(name, f"{HERE}:{'read' if index else 'write'}", arguments, placement.role(index))
            for index, name in enumerate(names)
        ]

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        """Join the samples of all readers; raises `PayloadError` when a read was lost or torn."""
        return joined(point, outcomes)

    def missing(self, point: Point, scratch: Path) -> str | None:
        """Return what is missing: MPI, the mechanism, ranks of the launcher around us, or memory for the messages."""
        why = mpi.missing() or registry.backend(point.backend).missing() or _short_of_ranks(point)
        if why or point.levels["arm"] != "published" or point.backend != "zmq-push":
            return why
        queued = 2 * point.size_bytes * PUBLISHED_READS * int(point.levels["readers"])
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        short = f"its messages take {queued:,} bytes of memory and {free:,} are free; free some"
        return None if queued < free else short

    def shared_memory(self, point: Point) -> int:
        """Return room for the content, and for what MPI takes for each rank."""
        return 2 * point.size_bytes + (int(point.levels["readers"]) + 1) * mpi.SEGMENT_BYTES

    @contextmanager
    def open(self, site: Site, points: Sequence[Point], profile: Profile, seed: int) -> Iterator[Bench]:
        """Give ranks: those of the launcher around us, else our own, as many as the largest point takes."""
        if here := world():
            site.note("nodes", [{"ranks": node.ranks, **node.machine} for node in here.nodes])
            yield OuterBench(site.launcher, here)
            return
        count = 1 + max(int(point.levels["readers"]) for point in points)
        with RankBench(site.launcher, count, (HERE,), site.say) as bench:
            yield bench


def readers_of(profile: Profile, sweep: Sweep) -> tuple[int, ...]:
    """Return how many readers there are."""
    return sweep.numbers("readers", READERS[:2] if profile.name in ("smoke", "quick") else READERS)


def entries_of(profile: Profile, sweep: Sweep, most: Sequence[int] = ENTRIES) -> tuple[int, ...]:
    """Return how many entries the dictionary has where a scenario has `most`: one number in profile smoke."""
    return sweep.numbers("entries", ENTRIES[:1] if profile.name == "smoke" else most)


def _found() -> list[Backend]:
    here = world()
    across = here is not None and len(here.nodes) > 1
    stores = [found for found in registry.backends().values() if found.store]
    return [found for found in stores if found.name != NETWORKED or across]


def _short_of_ranks(point: Point) -> str | None:
    """Return that the launcher around us has too few ranks for `point`, or None."""
    here, need = world(), int(point.levels["readers"]) + 1
    if here is None or int(point.levels["nodes"]) > 1:
        return None
    most = max(len(node.ranks) for node in here.nodes)
    return None if need <= most else f"it takes {need} ranks on one node and there are {most}; start more"


def _between_nodes(profile: Profile, sweep: Sweep) -> Iterator[Point]:
    """Yield the points whose readers are on other nodes than the writer.

    No pickle here: it comes over a network, where the writer is known by its address alone.
    """
    here = world()
    away = here.away() if here else []
    for count, readers in product(entries_of(profile, sweep, STREAM_ENTRIES), readers_of(profile, sweep)):
        if here and readers <= len(away):
            nodes = 1 + sum(any(rank in node.ranks for rank in away[:readers]) for node in here.nodes)
            yield _point(NETWORKED, "stream", count, readers, codec="msgpack", nodes=nodes)


def _arms(found: list[Backend], profile: Profile, sweep: Sweep) -> Iterator[Point]:
    """Yield the points of the four scenarios."""
    readers = readers_of(profile, sweep)
    entries = entries_of(profile, sweep, (*ENTRIES, MANY_ENTRIES) if profile.name == "full" else ENTRIES)
    most, own = readers[-1], bool(sweep.levels)
    usual = USUAL_ENTRIES if USUAL_ENTRIES in entries else entries[0]
    shared = [backend for backend in found if backend.store and backend.store.keeps]
    grid = [cell for cell in product(found, entries, readers) if own or _wanted(profile, *cell)]
    for backend, count, number in grid:
        # Fewer readers than as published are for messages: their number depends on the readers.
        if backend.name in PUBLISHED and (own or number >= PUBLISHED_READERS or backend not in shared):
            yield _point(backend.name, "published", count, number)
        # A message that reached all readers stays with each of them: as many reads of it as of shared state.
        if backend in shared or (backend.store and backend.store.fans_out and number == most):
            yield _point(backend.name, "read-many", count, number)
    for backend, placement in product(shared, ("same", "cross")):
        yield _point(backend.name, "read-many", usual, most, placement)
    for backend, codec in product([each for each in found if each.name in CODEC_BACKENDS], CODECS):
        yield _point(backend.name, "read-many", usual, most, codec=codec)
    for sync, kind in LMDB_OTHERS if any(backend.name == "lmdb" for backend in found) else ():
        yield _point("lmdb", "read-many", usual, most, sync=sync, map=kind)
    for backend, count, number in grid:
        if count in entries_of(profile, sweep, STREAM_ENTRIES):
            yield _point(backend.name, "stream", count, number)
    for backend, count in product(shared, entries_of(profile, sweep, LIVE_ENTRIES)):
        yield _point(backend.name, "live", count, most)


def _wanted(profile: Profile, backend: Backend, entries: int, readers: int) -> bool:
    """Tell whether the grid has this cell.

    The quick profile varies the readers at one number of entries, but for the mechanism of which a text says how its
    cost goes with them.
    """
    return profile.name != "quick" or readers == PUBLISHED_READERS or entries == USUAL_ENTRIES or backend.name == PUSH


def _point(backend: str, arm: str, entries: int, readers: int, placement: str = "free", **levels: Level) -> Point:
    every: dict[str, Level] = {"arm": arm, "entries": entries, "readers": readers, **USUAL}
    every |= LMDB if backend == "lmdb" else {}
    every |= levels
    size = encoded_bytes(str(every["codec"]), entries)
    return Point("shared_dict", backend, size, placement, every, "shared-dict", (PRIMARY[arm],))
