"""What a table of machines needs of each bundle, and nothing else of it: one round trip by mechanism and placement."""

import hashlib
import io
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

from ipclab.errors import LabError, UsageError
from ipclab.frames.points import summary
from ipclab.store.archive import Contents, HostileError, Member, parse, read
from ipclab.store.run import INDEX
from ipclab.store.samples import Measured, decode
from ipclab.store.schema import checked
from ipclab.studies.limits.floors import Floors

STUDY, OP = "round_trip", "round-trip"
LEVELS = {"arm": "main", "gap_ns": 0, "touch": "full", "receive": "bytes"}  # each mechanism at its plainest
PLACEMENTS = ("same", "cross")  # the others have no limit
SUFFIX = ".ipclab"
FACTS = ("cpu_model", "threads", "kernel_release", "virtualisation")
LARGEST = 64 << 20  # bytes of one point that is read


@dataclass(frozen=True)
class Gathered:
    """One bundle: its file, run and machine, and a row for each mechanism (backend, placement, ns, over_limit).

    Of one that cannot be taken only the file is known, and `why`.
    """

    file: str
    run: str = ""
    begun: str = ""
    machine: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    why: str = ""


def gather(folder: Path, size: int) -> list[Gathered]:
    """Return what every bundle in `folder` says of round trips of `size` bytes, by the bundle's name.

    Raises `UsageError` when there is none, and `LabError` when a process that reads them is killed.
    """
    files = sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else []
    if not files:
        fix = "put there what 'ipclab bundle' wrote"
        raise UsageError(f"{folder} holds no bundle", f"no file ends in {SUFFIX}", fix)
    workers = min(len(files), len(os.sched_getaffinity(0)))
    try:
        with ProcessPoolExecutor(workers, get_context("fork")) as pool:
            return list(pool.map(partial(_taken, size=size), files, chunksize=4))
    except BrokenProcessPool as error:
        why = "a process that reads them was killed, as happens without memory"
        raise LabError(f"the bundles in {folder} were not read", why, "gather fewer at a time") from error


def frame(found: Sequence[Gathered]) -> pd.DataFrame:
    """Return one row for each mechanism and placement of each bundle: file, machine, the row, and `rank` by time."""
    rows = [{"file": each.file, "machine": each.machine, **row} for each in found for row in each.rows]
    made = pd.DataFrame(rows, columns=["file", "machine", "backend", "placement", "ns", "over_limit"])
    ranks = made.groupby(["file", "placement"]).ns.rank(method="min").astype(int)
    return made.astype({"over_limit": float}).assign(rank=ranks)


def newest(found: Sequence[Gathered]) -> list[Gathered]:
    """Return the newest run of each machine, in the order of processors and kernels."""
    last = {each.machine: each for each in sorted(found, key=lambda each: (each.begun, each.file))}
    return sorted(last.values(), key=lambda each: ([str(each.facts[name]) for name in FACTS], each.machine))


def _taken(file: Path, size: int) -> Gathered:
    """Return what bundle `file` says of round trips of `size` bytes; what is read agrees with its digests.

    The archive is read to its end, but points that are not asked for are not looked at.
    """
    try:
        members = read(file)  # held: a generator that is let go closes its file
        contents = parse(next(members, None), file.stat().st_size)
        content = _wanted(members, contents, size)
        about = checked(content.pop(INDEX, b""), f"the bundle's {INDEX}")
        points = [decode(io.BytesIO(each)) for each in content.values()]
        limits = [each for each in points if each.point.study == "limits"]
        floors = Floors({(of.point.backend, of.point.size_bytes, of.point.placement): _medians(of) for of in limits})
        rows = [row for each in points if each.point.study == STUDY and (row := _row(each, floors))]
        if not rows:
            raise LabError(
                f"{file.name} is left out", f"it holds no round trip of {size} bytes", "choose another --size"
            )
        if len({(row["backend"], row["placement"]) for row in rows}) < len(rows):
            raise LabError(f"{file.name} is left out", "it holds a mechanism twice", "bundle its run again")
        facts = {name: about["machine"]["facts"].get(name) for name in FACTS}
        return Gathered(file.name, contents.run, about["begun"], contents.machine, facts, rows)
    except (LabError, OSError, ValueError, LookupError, TypeError, ArithmeticError) as error:  # it is not our own
        return Gathered(file.name, why=getattr(error, "why", "") or str(error) or type(error).__name__)


def _wanted(members: Iterator[Member], contents: Contents, size: int) -> dict[str, bytes]:
    """Return the content of the files that are needed, by name; raises `HostileError` for what is not as named."""
    needed = re.compile(rf"run\.json|points/({STUDY}/.*-main-.*|limits/echo-.*)-{size}-[0-9a-f]{{8}}\.parquet")
    listed, found, count = contents.by_name(), {}, 0
    for member in members:
        count, name = count + 1, member.name.removeprefix(f"{contents.run}/")
        if (entry := listed.get(name)) is None or member.size != entry.size:
            raise HostileError(f"{member.name!r} is not the file that belongs here")
        if needed.fullmatch(name) and member.size <= LARGEST:
            found[name] = b"".join(member.chunks)
            if hashlib.sha256(found[name]).hexdigest() != entry.sha256:
                raise HostileError(f"{name} has another digest")
    if count < len(listed):
        raise HostileError(f"{len(listed) - count} files are missing")
    return found


def _row(each: Measured, floors: Floors) -> dict[str, Any] | None:
    key = each.point.key()
    if each.point.placement not in PLACEMENTS or any(key.get(name, level) != level for name, level in LEVELS.items()):
        return None
    ns = float(np.median([summary(launch, OP)["p50"] for launch in each.launches]))  # as frames have it
    floor = floors.under(STUDY, OP, key)
    over = ns / floor.ns if floor else None
    return {"backend": each.point.backend, "placement": each.point.placement, "ns": ns, "over_limit": over}


def _medians(each: Measured) -> list[float]:
    return [summary(launch, OP)["median"] for launch in each.launches]
