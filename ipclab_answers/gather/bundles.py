"""What a table of machines needs of each bundle: one round trip by mechanism and placement."""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from ipclab.errors import LabError
from ipclab.frames.limits import TOLERANCE
from ipclab.frames.points import summary
from ipclab.lab.runs import COARSE
from ipclab.store.archive import Contents, HostileError, Member, parse, read
from ipclab.store.run import INDEX
from ipclab.store.samples import Measured, decoded
from ipclab.store.schema import checked
from ipclab.store.validity import together
from ipclab.studies.installed import study
from ipclab.studies.limits.floors import COPYING, Floors, Key
from ipclab.studies.profile import PROFILES

from ipclab_answers.gather import files_in

STUDY, OP = "round_trip", "round-trip"
PLAINEST = {"arm": "main", "gap_ns": 0, "touch": "full", "receive": "bytes"}
PLACEMENTS = ("same", "cross")  # the others have no limit
FACTS = ("cpu_model", "threads", "kernel_release", "virtualisation")
LARGEST, MOST = 64 << 20, 1 << 24  # bytes and rows of one point that is read
COLUMNS = ["file", "machine", "backend", "placement", "ns", "over_limit"]
NOT_OURS = (LabError, OSError, ValueError, LookupError, TypeError, ArithmeticError)


@dataclass(frozen=True)
class Gathered:
    """One bundle: its file, run and machine, and a row for each mechanism.

    The rows have backend, placement, ns and over_limit. Of a bundle that cannot be taken only the
    file is known, and `why`.
    """

    file: str
    run: str = ""
    begun: str = ""
    machine: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    why: str = ""
    profile: str = ""


def gather(folder: Path, size: int) -> list[Gathered]:
    """Return what every bundle in `folder` says of round trips of `size` bytes, by its name.

    Raises `UsageError` when there is none, and `LabError` when a process that reads them is killed.
    """
    files = files_in(folder)
    workers = min(len(files), len(os.sched_getaffinity(0)))
    try:
        with ProcessPoolExecutor(workers, get_context("fork")) as pool:
            return list(pool.map(partial(_taken, size=size), files, chunksize=4))
    except BrokenProcessPool as error:
        what = f"the bundles in {folder} were not read"
        why = "a process that reads them was killed, as happens without memory"
        raise LabError(what, why, "gather fewer at a time") from error


def frame(bundles: Sequence[Gathered]) -> pd.DataFrame:
    """Return one row for each mechanism and placement of each bundle, with its `rank` by time."""
    rows = []
    for bundle in bundles:
        rows += [
            {"file": bundle.file, "machine": bundle.machine, **row}
            for row in bundle.rows
        ]
    table = pd.DataFrame(rows, columns=COLUMNS).astype({"over_limit": float})
    ranks = table.groupby(["file", "placement"]).ns.rank(method="min")
    return table.assign(rank=ranks.astype(int))


def best(bundles: Sequence[Gathered]) -> list[Gathered]:
    """Return of each machine the run that tells most at the highest profile, then the newest.

    They are in the order of processors and kernels.
    """

    def rank(bundle: Gathered) -> tuple[Any, ...]:
        profiles = list(PROFILES)
        place = profiles.index(bundle.profile) if bundle.profile in profiles else -1
        fine = bundle.profile != COARSE
        return fine, len(bundle.rows), place, bundle.begun, bundle.file

    def machine(bundle: Gathered) -> tuple[list[str], str]:
        return [str(bundle.facts[name]) for name in FACTS], bundle.machine

    last = {bundle.machine: bundle for bundle in sorted(bundles, key=rank)}
    return sorted(last.values(), key=machine)


def _taken(file: Path, size: int) -> Gathered:
    """Return what bundle `file` says of round trips of `size` bytes, or why it cannot be taken."""
    try:
        return _read(file, size)
    except NOT_OURS as error:  # another made it
        why = getattr(error, "why", "") or str(error) or type(error).__name__
        return Gathered(file.name, why=why)


def _read(file: Path, size: int) -> Gathered:
    """Return what bundle `file` says; what is read agrees with its digests.

    The archive is read to its end, but points that are not asked for are not looked at.
    """
    members = read(file)  # held: a generator that is let go closes its file
    contents = parse(next(members, None), file.stat().st_size)
    index, points = b"", _Points()
    for name, content in _wanted(members, contents, size):
        if name == INDEX:
            index = content
        else:
            points.add(name, content)
    about, rows = checked(index, f"the bundle's {INDEX}"), points.rows()
    left_out = f"{file.name} is left out"
    if not rows:
        why = f"it holds no round trip of {size} bytes"
        raise LabError(left_out, why, "choose another --size")
    if len({(row["backend"], row["placement"]) for row in rows}) < len(rows):
        raise LabError(left_out, "it holds a mechanism twice", "bundle its run again")
    return Gathered(
        file.name,
        contents.run,
        about["begun"],
        contents.machine,
        {name: about["machine"]["facts"].get(name) for name in FACTS},
        rows,
        profile=about["parameters"]["profile"],
    )


def _wanted(
    members: Iterator[Member], contents: Contents, size: int
) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of each file that is needed.

    Raises `HostileError` for what is not as named.
    """
    points = rf"{STUDY}/.*-main-.*|limits/({COPYING}|echo)-.*"
    needed = re.compile(rf"run\.json|points/({points})-{size}-[0-9a-f]{{8}}\.parquet")
    listed, count = contents.by_name(), 0
    for member in members:
        count += 1
        name = member.name.removeprefix(f"{contents.run}/")
        entry = listed.get(name)
        if entry is None or member.size != entry.size:
            raise HostileError(f"{member.name!r} is not the file that belongs here")
        if needed.fullmatch(name) and member.size <= LARGEST:
            content = b"".join(member.chunks)
            if hashlib.sha256(content).hexdigest() != entry.sha256:
                raise HostileError(f"{name} has another digest")
            yield name, content
    if count < len(listed):
        raise HostileError(f"{len(listed) - count} files are missing")


@dataclass
class _Points:
    """What the points of one bundle tell by limit and by mechanism, without their samples."""

    limits: dict[Key, list[float]] = field(default_factory=dict)
    mechanisms: list[tuple[dict[str, Any], float]] = field(default_factory=list)
    copy_ns: float = 0.0  # the fastest copy by memcpy
    rows_read: int = 0
    bytes_read: int = 0

    def add(self, name: str, content: bytes) -> None:
        """Take what is needed of one file; raises `LabError` when all hold too much."""
        stem = name.removesuffix(".parquet").removeprefix("points/")
        measured = decoded(pa.BufferReader(content), stem, MOST)
        for launch in measured.launches:
            self.rows_read += sum(map(len, launch.samples.values()))
        self.bytes_read += len(content)
        together(self.rows_read, self.bytes_read)
        point, key = measured.point, measured.point.key()
        if point.study == STUDY:
            plain = all(
                key.get(factor, level) == level for factor, level in PLAINEST.items()
            )
            if plain and point.placement in PLACEMENTS:
                self.mechanisms.append((key, float(np.median(_medians(measured)))))
        elif point.backend == COPYING:
            self.copy_ns = min(
                summary(launch, "copy")["min"] for launch in measured.launches
            )
        else:
            limit = point.backend, point.size_bytes, point.placement
            self.limits[limit] = _medians(measured)

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each mechanism, its median time and how much that is of the limit.

        Raises `LabError` for one that is faster than its copies can be.
        """
        floors, rows = Floors(self.limits), []
        for key, ns in self.mechanisms:
            bound = study(STUDY).bound(OP, key)
            if bound and ns < bound.copies * self.copy_ns * TOLERANCE:
                passes = f"{bound.copies} passes of its memcpy can take"
                why = f"a round trip of {ns:.0f} ns is less than {passes}"
                raise LabError(
                    f"{key['backend']} is left out", why, "bundle its run again"
                )
            floor = floors.under(STUDY, OP, key)
            row = {"backend": key["backend"], "placement": key["placement"], "ns": ns}
            rows.append(row | {"over_limit": ns / floor.ns if floor else None})
        return rows


def _medians(measured: Measured) -> list[float]:
    return [summary(launch, OP)["median"] for launch in measured.launches]
