"""The file-reading study itself: its points, what they need here, and one launch of the native engine."""

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ipclab.backends import native_shm
from ipclab.machine.cgroup import cpu_quota
from ipclab.machine.hardware import memory_available
from ipclab.machine.parse import KNOWN
from ipclab.machine.source import AbsentError, Source
from ipclab.machine.storage import mount_of
from ipclab.paths import existing
from ipclab.spawn.proof import PayloadError
from ipclab.studies.file_io.experiments import COLD, DRAWS, MOST_IN_FLIGHT, Sweeps, parse
from ipclab.studies.file_io.sets import FileSet, Whole, file_sets, made, no_room
from ipclab.studies.interface import Bench, Outcome, Placement, Point, Profile, Role, Site, Study, Sweep

NO_MEMORY = "it keeps {need:,} bytes in memory and {free:,} are available; take a smaller profile or free some"
NO_COLD = "files in memory (tmpfs) are never cold; name a folder on a disk: --scratch DIR"
# At least and at most how many launches (each reads a whole set), and the seconds of one.
LAUNCHES = {"smoke": (2, 2, 30.0), "quick": (5, 40, 30.0), "standard": (8, 27, 300.0), "full": (8, 18, 3_600.0)}
ENGINE_SHARE = 0.9  # of the deadline, so that the engine says what hung before its process is killed


class FileIoStudy(Study):
    """Many files read and worked on: one after the other, overlapped, mapped; by threads of different roles."""

    name = "file_io"
    mechanisms = ("sync", "overlapped", "mmap")
    sized = False
    payloads_shared = 0  # threads of one process need none
    factors: ClassVar = {"threads": (1, 2, 4, 8, 16), "depth": (1, 2, 4, 8, 16, 40)}

    def effort(self, profile: Profile) -> Profile:
        """Return other numbers of launches than the profile's, with a later deadline."""
        least, most, seconds = LAUNCHES[profile.name]
        return replace(profile, least_launches=least, most_launches=most, launch_seconds=seconds)

    def points(self, profile: Profile, sweep: Sweep) -> list[Point]:
        sweeps = Sweeps(profile.name, cores(), sweep.numbers("threads", ()), sweep.numbers("depth", ()))
        return sweeps.points([name for name in self.mechanisms if sweep.wants(name)])

    def expected(self, point: Point) -> tuple[str, ...]:
        """Return that reading cold files waits for the disk, which is what is measured."""
        return ("pressure-io",) if point.levels["cache"] == COLD else ()

    def roles(self, point: Point, profile: Profile, placement: Placement, seed: int) -> list[Role]:
        every = frozenset[int]().union(*placement.cpus)
        levels = point.levels
        files = replace(file_sets(profile.name)[str(levels["set"])], compute=DRAWS.get(int(levels["compute_ns"])))
        pinned = [min(cpus) for cpus in placement.cpus] if placement.name == "cross" else []
        deadline_ns = int(profile.launch_seconds * ENGINE_SHARE * 1e9)
        arguments = {
            "files": asdict(files),
            "cache": levels["cache"],
            "plan": {**plan(point), "cpus": pinned, "deadline_ns": deadline_ns},
            "most": profile.most_samples,
            "timeline": False,
            "verify": False,
        }
        return [Role("engine", "ipclab.studies.file_io.engine:run", arguments, every)]

    def missing(self, point: Point, scratch: Path) -> str | None:
        if why := native_shm.missing():
            return why
        place = existing(scratch)
        if point.levels["cache"] == COLD and _filesystem(place) in KNOWN["memory"]:
            return NO_COLD
        if point.backend == "overlapped" and (why := _asked("io_uring_missing")):
            return why
        if point.levels["direct"] == "yes" and (why := _asked("direct_missing", str(place))):
            return why
        # Its profile follows from its bytes.
        every = (sets[name] for sets in map(file_sets, LAUNCHES) if (name := point.levels["set"]) in sets)
        files = next(each for each in every if each.bytes == point.size_bytes)
        return no_room(files, scratch) or _no_memory(point, files)

    @contextmanager
    def open(self, site: Site, points: Sequence[Point], profile: Profile, seed: int) -> Iterator[Bench]:
        """Make the file sets that `points` need and give what reads them; the checksums of all ways must agree."""
        import ipclab_native

        sets = [file_sets(profile.name)[name] for name in dict.fromkeys(str(point.levels["set"]) for point in points)]
        sweeps, drawn, sums = Sweeps(profile.name, cores()), set[str](), dict[str, str]()
        with made(site.scratch, sets, ipclab_native, site.say, site.own_scratch) as found:
            site.note("file_io", {"cores": cores(), "profile": profile.name, "sets": found.there})

            def bench(point: Point, roles: Sequence[Role], seconds: float) -> dict[str, Outcome]:
                folder, first = str(found.folder(str(point.levels["set"]))), point.id not in drawn
                more = {"folder": folder, "timeline": first and sweeps.in_timeline(point), "verify": first}
                given = [replace(role, arguments={**role.arguments, **more}) for role in roles]
                outcomes = site.launcher.launch(given, seconds)
                agree(sums, point, outcomes["engine"].facts.get("checksum"))
                drawn.add(point.id)
                return outcomes

            yield bench


def cores() -> int:
    """Return how many CPUs this process may use: those allowed, or fewer by the quota of its control group."""
    allowed = len(os.sched_getaffinity(0))
    with suppress(AbsentError):
        return max(1, min(allowed, math.ceil(cpu_quota(Source()))))
    return allowed


def plan(point: Point) -> dict[str, Any]:
    """Return what the native engine is told, but for the files themselves."""
    levels = point.levels
    return {
        "method": point.backend,
        "advice": levels["advice"],
        "direct": levels["direct"] == "yes",
        "buffer": levels["buffer"] if point.backend != "mmap" else "fresh",
        "roles": parse(str(levels["roles"])),
        "depth": int(levels["depth"]),
        "in_flight": in_flight(point),
        # By the clock, more threads than CPUs would finish work that nobody did.
        "compute_clock": "cpu",
        "checksum_rounds": int(levels["rounds"]),
        "repeat_order": "given",
        "seed": 0,
    }


def in_flight(point: Point) -> int:
    """Return how many files may be open and not computed yet, all threads together."""
    roles = parse(str(point.levels["roles"]))
    reads, computes = (sum(role != other for role in roles) for other in ("compute", "read"))
    return min(MOST_IN_FLIGHT, max(reads + computes, reads * int(point.levels["depth"])))


def agree(sums: dict[str, str], point: Point, checksum: str | None) -> None:
    """Raise `PayloadError` when the bytes of the same files had another checksum before, by whatever way of reading."""
    name = str(point.levels["set"])
    if checksum is not None and sums.setdefault(name, checksum) != checksum:
        raise PayloadError("the checksums of two ways to read differ", f"{checksum} here, {sums[name]} before")


def _no_memory(point: Point, files: FileSet) -> str | None:
    """Return why memory cannot hold the files in flight (read) or the whole set (warm); None when half of it can."""
    sizes: Whole = np.sort(files.sizes)[::-1]
    need, free = int(sizes[: in_flight(point)].sum()), memory_available(Source())
    need += files.on_disk if point.levels["cache"] != COLD else 0
    return NO_MEMORY.format(need=need, free=free) if need > free // 2 else None


@cache
def _filesystem(place: Path) -> str:
    with suppress(AbsentError):
        return mount_of(Source(), str(place)).filesystem
    return ""


@cache
def _asked(question: str, *arguments: str) -> str | None:
    """Return what the native package says is missing for one of its ways to read."""
    import ipclab_native

    answer: str | None = getattr(ipclab_native, question)(*arguments)
    return answer
