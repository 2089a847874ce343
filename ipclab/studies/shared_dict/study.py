"""The study itself: its points, the roles of its ranks, and how their outcomes are joined."""

import math
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any, ClassVar

import numpy as np

from ipclab.backends import installed as registry
from ipclab.backends.codecs import CODECS, encoded_bytes
from ipclab.backends.interface import Store
from ipclab.machine.answers import memory_available
from ipclab.machine.source import Source
from ipclab.spawn import mpi
from ipclab.spawn.mpi_outer import world
from ipclab.spawn.proof import PayloadError
from ipclab.store.launch import UNRECORDED, Launch, Samples
from ipclab.studies.arms import FILE, table
from ipclab.studies.interface import (
    Bench,
    Bound,
    Levels,
    Outcome,
    Placement,
    Point,
    Profile,
    Role,
    Site,
    Study,
    Sweep,
    spread,
)
from ipclab.studies.joining import turns_together
from ipclab.studies.ranks import on_ranks
from ipclab.studies.shared_dict.ends import PUBLISHED_READS, SEEN, STAMP, VERSION
from ipclab.studies.shared_dict.levels import USUAL_CODEC, levels_swept

HERE = "ipclab.studies.shared_dict.ends"
EFFORT = table(Path(__file__).with_name(FILE))["effort"]
NETWORKED = "zmq-tcp"  # swept between nodes only
USUAL = {"lmdb": {"sync": "off", "map": "writemap"}}  # as published; others have none
FEW = 3  # launches, of values without a contest
WRITES = 30  # of a point at least, over all its launches
Facts = dict[str, Any]
WRITE_FACTS = (
    "writes",
    "messages",
    "messages_per_second",
    "ranks_per_cpu",
    "fresh_ranks",
    "node",
    "relation",
)
TRANSPORT = "read.transport"
READ_OPS = ("read", TRANSPORT, "read.decode", "read-total", "staleness")


class SharedDictStudy(Study):
    """Four scenarios over backends, entries and readers, on MPI ranks."""

    name = "shared_dict"
    # A reader decodes a copy of its own. A message read again is the reader's own: it moves nothing.
    # Of other codecs than the usual one no contest tells the transport apart.
    bounds: ClassVar = (
        Bound(TRANSPORT, when={"arm": "read-many", "keeps": "no"}),
        # it waits for the message first: no copy alone
        Bound(TRANSPORT, copies=1, when={"arm": "stream"}),
        Bound(TRANSPORT, "memcpy", older="memcpy", copies=1, when={"codec": USUAL_CODEC}),
        Bound(TRANSPORT, older="memcpy", copies=1),
    )
    factors: ClassVar = {name: tuple(EFFORT[name]["usual"]) for name in ("entries", "readers")}

    def backends(self) -> tuple[str, ...]:
        return tuple(_stores())

    def of_point(self, point: Point, effort: Profile, in_contest: bool) -> Profile:
        """Return that few launches do where ranks share CPUs, unless the text measured so."""
        crowded = int(point.levels["readers"]) >= len(os.sched_getaffinity(0))
        few = self.own(effort).get("crowded_launches")
        values = super().of_point(point, effort, in_contest)
        if few is None or not crowded or point.levels["arm"] == "published":
            return values
        return replace(values, least_launches=min(few, values.least_launches))

    def points(self, effort: Profile, sweep: Sweep) -> list[Point]:
        """Return the points of all scenarios, in one block: a round is one set of ranks."""
        stores = _stores()
        asked = sweep.of(stores)
        near = [name for name in asked if name != NETWORKED]
        shared = [name for name in near if stores[name].keeps]
        fanned = [name for name in near if name not in shared and stores[name].fans_out]
        levels = {"near": near, "shared": shared, "fanned": fanned, "codecs": list(CODECS)}
        return self.of_arms(
            asked, _whole, **levels, **levels_swept(self.own(effort), sweep, effort.brief)
        )

    def roles(self, point: Point, effort: Profile, placement: Placement, seed: int) -> list[Role]:
        turns = 1 if point.levels["arm"] == "published" else effort.turns
        writes = math.ceil(WRITES / (min(FEW, effort.least_launches) * turns))
        if effort.as_texts and point.backend != "zmq-push":
            writes = 1  # the text's program writes once
        arguments = {"backend": point.backend, **point.levels, "writes": writes, **effort.samples}
        readers = [f"reader {number + 1}" for number in range(int(point.levels["readers"]))]
        return spread(["writer", *readers], f"{HERE}:use_dictionary", arguments, placement)

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        """Return the writer's samples and all reads; `PayloadError` for lost or torn reads."""
        writer, *readers = [
            Study.collect(self, point, {name: end}, seed) for name, end in outcomes.items()
        ]
        facts = proved_facts(point, writer.facts, [reader.facts for reader in readers])
        if STAMP in writer.samples:
            facts |= _aged(writer.samples.pop(STAMP), readers)
        for op in (op for op in READ_OPS if op in readers[0].samples):
            writer.samples[op], writer.turns[op] = turns_together(readers, op)
        if (other := f"{UNRECORDED}read") in readers[0].samples:
            parts = [reader.samples[other] for reader in readers]
            writer.samples[other] = np.concatenate(parts)
        counted = [reader.counters["read"] for reader in readers]
        mean = {name: fmean(of_one[name] for of_one in counted) for name in counted[0]}
        return replace(writer, counters=writer.counters | {"read": mean}, facts=facts)

    def missing(self, point: Point, scratch: Path) -> str | None:
        why = (
            mpi.mpi_missing() or registry.backend(point.backend).missing() or _short_of_ranks(point)
        )
        if why or point.levels["arm"] != "published" or point.backend != "zmq-push":
            return why
        queued = 2 * point.size_bytes * PUBLISHED_READS * int(point.levels["readers"])
        free = memory_available(Source())
        short = f"its messages take {queued:,} bytes of memory and {free:,} are free; free some"
        return None if queued < free else short

    def shared_memory(self, point: Point) -> int:
        """Return room for the content, and for what MPI takes for each rank."""
        return 2 * point.size_bytes + (int(point.levels["readers"]) + 1) * mpi.SEGMENT_BYTES

    def open(
        self, site: Site, points: Sequence[Point], effort: Profile, seed: int
    ) -> AbstractContextManager[Bench]:
        """Give ranks for the largest point: those of the launcher around us, else our own."""
        most = max(int(point.levels["readers"]) for point in points)
        return on_ranks(site, 1 + most, HERE)


def _stores() -> dict[str, type[Store]]:
    here = world()
    across = here is not None and len(here.nodes) > 1
    every = {name: backend.store for name, backend in registry.backends().items() if backend.store}
    return {name: store for name, store in every.items() if name != NETWORKED or across}


def _whole(levels: Levels) -> Levels:
    """Return the levels of a point with what follows from its backend and its codec."""
    own = USUAL.get(levels["backend"], {})
    for name in ("sync", "map"):
        if levels[name] == "usual":
            levels[name] = own.get(name, "none")
    return {**levels, "size": encoded_bytes(levels["codec"], levels["entries"])}


def _short_of_ranks(point: Point) -> str | None:
    """Return that the launcher around us has too few ranks for `point`, or None."""
    here = world()
    need = int(point.levels["readers"]) + 1
    if here is None or int(point.levels["nodes"]) > 1:
        return None
    most = max(len(node.ranks) for node in here.nodes)
    return (
        None
        if need <= most
        else f"it takes {need} ranks on one node and there are {most}; start more"
    )


def proved_facts(point: Point, wrote: Facts, read: Sequence[Facts]) -> Facts:
    """Return the launch's facts; raises `PayloadError` when reads were lost or torn."""
    wanted = PUBLISHED_READS if point.levels["arm"] == "published" else wrote["asked"]
    reads = [reader["reads"] for reader in read]
    asked = wanted * len(read)
    made = sum(reads)
    # what is taken before the recorded reads is looked at, too
    torn = min(made, sum(reader["torn"] for reader in read))
    lost = sum(max(0, wanted - number) for number in reads)
    if torn:
        faults = [str(reader["fault"]) for reader in read if "fault" in reader]
        why = min(faults, default="their bytes are none that were written")
        raise PayloadError(f"{torn} of {made} reads were torn", why)
    if lost or len(read) != point.levels["readers"]:
        raise PayloadError(f"{lost} of {asked} reads were lost", f"the readers made {reads}")
    facts = {name: wrote[name] for name in WRITE_FACTS if name in wrote}
    facts |= {
        "numbered": made,
        "compared": made,
        "reads": made,
        "reads_wanted": asked,
        "lost": lost,
        "torn": torn,
    }
    return facts | {"readers": len(read), "reads_per_reader": reads}


def _aged(stamps: Samples, readers: Sequence[Launch]) -> Facts:
    """Give readers the ages of versions read as op `staleness`; return how many were later."""
    late = []
    for reader in readers:
        ages, behind = staleness(stamps, reader.samples[VERSION], reader.samples[SEEN])
        reader.samples["staleness"] = ages
        reader.turns["staleness"] = reader.turns[SEEN]
        late.append(behind)
    behind = np.concatenate(late)
    return {
        "versions_behind_mean": float(behind.mean()),
        "versions_behind_max": int(behind.max()),
    }


def staleness(stamps: Samples, versions: Samples, seen: Samples) -> tuple[Samples, Samples]:
    """Return each read version's age (ns), and how many later ones were out when it was seen.

    `stamps` holds when version 1, 2 ... was handed over, `versions` and `seen` what was read and
    when, all on one clock. A version is at least as old as said, since it was there for its readers
    later than it was handed over.
    """
    ages = seen - stamps[versions - 1]
    newest = np.searchsorted(stamps, seen, side="right")
    return ages, np.maximum(0, newest - versions)
