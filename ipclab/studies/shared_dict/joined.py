"""Many readers' outcomes and the writer's as one launch, after the proof that nothing was lost or torn."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ipclab.spawn.proof import PayloadError
from ipclab.spawn.worker import Outcome
from ipclab.store.launch import Launch, Samples
from ipclab.store.point import Point
from ipclab.studies.shared_dict.ends import PUBLISHED_READS, SEEN, STAMP, VERSION

READ_OPS = ("read", "read.transport", "read.decode", "read-total")


def joined(point: Point, outcomes: dict[str, Outcome]) -> Launch:
    """Return the launch: the writer's samples, and each read of all readers in the order of the readers.

    Raises `PayloadError` when a reader has fewer reads than it was asked for, or read what was never written.
    """
    writer, *readers = outcomes.values()
    facts = proved(point, writer, readers)
    samples = {op: _ns(writer, op) for op in writer.samples if op != STAMP}
    for op in READ_OPS:
        if op in readers[0].samples:
            samples[op] = np.concatenate([_ns(reader, op) for reader in readers])
    if STAMP in writer.samples:
        ages = [staleness(_ns(writer, STAMP), _ns(reader, VERSION), _ns(reader, SEEN)) for reader in readers]
        samples["staleness"] = np.concatenate([age for age, _ in ages])
        behind = np.concatenate([versions for _, versions in ages])
        facts |= {"versions_behind_mean": float(behind.mean()), "versions_behind_max": int(behind.max())}
    counters = dict(writer.counters)
    if "read" in readers[0].counters:
        names = readers[0].counters["read"]
        every = [reader.counters["read"] for reader in readers]
        counters["read"] = {name: sum(each[name] for each in every) / len(every) for name in names}
    return Launch(samples, counters, facts=facts)


def _ns(outcome: Outcome, op: str) -> Samples:
    return np.frombuffer(outcome.samples[op], np.int64)


def proved(point: Point, writer: Outcome, readers: Sequence[Outcome]) -> dict[str, Any]:
    """Return the launch's facts; raises `PayloadError` when reads were lost or torn."""
    wanted = PUBLISHED_READS if point.levels["arm"] == "published" else int(writer.facts["asked"])
    reads = [int(reader.facts["reads"]) for reader in readers]
    torn = sum(int(reader.facts["torn"]) for reader in readers)
    lost = sum(max(0, wanted - made) for made in reads)
    if torn:
        raise PayloadError(f"{torn} of {sum(reads)} reads were torn", "their bytes are none that were written")
    if lost or len(readers) != point.levels["readers"]:
        raise PayloadError(f"{lost} of {wanted * len(readers)} reads were lost", f"the readers made {reads}")
    names = ("writes", "messages", "messages_per_second", "ranks_per_cpu", "fresh_ranks", "node")
    facts = {name: writer.facts[name] for name in names if name in writer.facts}
    return {
        **facts,
        "reads": sum(reads),
        "reads_wanted": wanted * len(readers),
        "lost": lost,
        "torn": torn,
        "retries": sum(int(reader.facts["retries"]) for reader in readers),
        "readers": len(readers),
        "reads_per_reader": reads,
    }


def staleness(stamps: Samples, versions: Samples, seen: Samples) -> tuple[Samples, Samples]:
    """Return the age (ns) of each version read, and how many later ones had been handed over when it was seen.

    `stamps` holds when version 1, 2 ... was handed over, `versions` and `seen` what was read and when, all on one
    clock. A version is at least as old as said, since it was there for its readers later than it was handed over.
    """
    ages = seen - stamps[versions - 1]
    newest = np.searchsorted(stamps, seen, side="right")
    return ages, np.maximum(0, newest - versions)
