"""The file-reading study: sweeps scaled to the machine, their needs, one native launch."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from functools import cache, partial
from pathlib import Path
from typing import ClassVar

import numpy as np

from ipclab.backends import native_shm
from ipclab.errors import LabError
from ipclab.machine.answers import memory_available
from ipclab.machine.mounts import existing, mount_of
from ipclab.machine.parse import KNOWN
from ipclab.machine.source import AbsentError, Source
from ipclab.spawn.failures import SessionError
from ipclab.spawn.proof import PayloadError
from ipclab.studies.file_io.sets import (
    Draw,
    FileSet,
    Whole,
    file_sets,
    made_sets,
    no_room,
    own_sets,
    remove_set,
    set_of,
)
from ipclab.studies.file_io.sweeps import (
    COLD,
    cores,
    in_flight,
    in_timeline,
    levels_known,
    roles_of_mix,
    whole_levels,
)
from ipclab.studies.interface import (
    Bench,
    Contestant,
    HeatOutcomes,
    Outcome,
    Placement,
    Point,
    Profile,
    Role,
    Schedule,
    Site,
    Study,
    Sweep,
)

# How long a file is worked on, in ns, by the mean. "0.048828 ~ 4.882812 ms, Mean(0.390625)" of the
# text are 50, 5,000 and 400 us divided by 1,024 instead of 1,000.
DRAWS = {
    400_000: Draw("normal", 50_000, 5_000_000, 400_000, 400_000),
    800_000: Draw("normal", 50_000, 2_500_000, 800_000, 400_000),
    5_000_000: Draw("normal", 50_000, 10_000_000, 5_000_000, 400_000),
    10_000_000: Draw("normal", 50_000, 20_000_000, 10_000_000, 400_000),
}
NO_COLD = "files in memory (tmpfs) are never cold; name a folder on a disk: --scratch DIR"
# Of the deadline, so that the engine says what hung before its process is killed
ENGINE_SHARE = 0.9


class FileIoStudy(Study):
    """Many files read and worked on: in turn, overlapped, mapped; by threads of several roles."""

    name = "file_io"
    mechanisms = ("sync", "overlapped", "mmap")
    payloads_shared = 0  # threads of one process need none
    factors: ClassVar = {"threads": (1, 2, 4, 8, 16), "depth": (1, 2, 4, 8, 16, 40)}

    def points(self, effort: Profile, sweep: Sweep) -> list[Point]:
        """Return the points of the text's experiments, on its sets or on files of sizes asked for."""
        own = self.own(effort)
        sets = file_sets(effort.name)
        if sweep.sizes:
            sets = own_sets(effort.name, sweep.sizes, own["bytes_of_size"], own["files_of_size"])
        return self.of_arms(
            sweep.of(self.mechanisms),
            partial(whole_levels, sets),
            **levels_known(own["multiples"], sets, sweep, effort.as_texts),
        )

    def disk(self, points: Sequence[Point]) -> int:
        sets = {str(point.levels["set"]): _files_of(point) for point in points}
        return sum(files.on_disk for files in sets.values())

    def expected(self, point: Point) -> tuple[str, ...]:
        """Return that reading cold files waits for the disk, which is what is measured."""
        return ("pressure-io",) if point.levels["cache"] == COLD else ()

    def roles(self, point: Point, effort: Profile, placement: Placement, seed: int) -> list[Role]:
        """Return the native engine's process, with all that it is told but where the files are."""
        levels = point.levels
        plan = {
            "method": point.backend,
            "roles": roles_of_mix(str(levels["roles"])),
            "depth": levels["depth"],
            "in_flight": in_flight(point),
            "direct": levels["direct"] == "yes",
            "buffer": levels["buffer"] if point.backend != "mmap" else "fresh",
            "advice": levels["advice"],
            "checksum_rounds": levels["rounds"],
            # by the clock, more threads than CPUs would finish work that nobody did
            "compute_clock": "cpu",
            "cpus": [min(cpus) for cpus in placement.cpus] if placement.name == "cross" else [],
            "deadline_ns": int(effort.launch_seconds * ENGINE_SHARE * 1e9),
        }
        files = asdict(replace(_files_of(point), compute=DRAWS.get(int(levels["compute_ns"]))))
        most = effort.most_samples
        arguments = {"files": files, "cache": levels["cache"], "plan": plan, "most": most}
        cpus: frozenset[int] = frozenset().union(*placement.cpus)
        return [Role("engine", "ipclab.studies.file_io.engine:read_file_set", arguments, cpus)]

    def missing(self, point: Point, scratch: Path) -> str | None:
        if why := native_shm.native_missing():
            return why
        place = existing(scratch)
        if point.levels["cache"] == COLD and _filesystem(place) in KNOWN["memory"]:
            return NO_COLD
        if point.backend == "overlapped" and (why := _native_lacks("io_uring_missing")):
            return why
        if point.levels["direct"] == "yes" and (why := _native_lacks("direct_missing", str(place))):
            return why
        files = _files_of(point)
        return no_room(files, scratch) or _no_memory(point, files)

    @contextmanager
    def open(
        self, site: Site, points: Sequence[Point], effort: Profile, seed: int
    ) -> Iterator[Bench]:
        """Make the file sets that `points` need and give what reads them, with equal checksums."""
        import ipclab_native

        sets = {str(point.levels["set"]): _files_of(point) for point in points}.values()
        drawn = set[str]()  # points whose first launch is done
        sums = dict[str, str]()  # checksums by set
        with made_sets(site.scratch, sets, ipclab_native, site.say, site.own_scratch) as there:
            site.note("file_io", {"cores": cores(), "profile": effort.name, "sets": there.there})

            def launch(contestant: Contestant, seconds: float) -> dict[str, Outcome]:
                point = contestant.point
                folder = str(there.folder(str(point.levels["set"])))
                first = point.id not in drawn
                more = {"folder": folder, "timeline": first and in_timeline(point), "verify": first}
                (role,) = contestant.roles
                role = replace(role, arguments={**role.arguments, **more})
                outcomes = site.launcher.launch([role], seconds)
                agree(sums, point, outcomes["engine"].facts.get("checksum"))
                drawn.add(point.id)
                return outcomes

            def bench(heat: Mapping[str, Contestant], schedule: Schedule) -> HeatOutcomes:
                """Launch one contestant after the other: each reads a whole set of files."""
                ends: HeatOutcomes = {}
                for name in schedule.order([*heat], 0):
                    try:
                        ends[name] = launch(heat[name], schedule.seconds)
                    except SessionError:
                        raise
                    except LabError as error:
                        ends[name] = error
                return ends

            try:
                yield bench
            finally:
                if not site.keep_scratch:  # here, since a million files take longer than an end may
                    for name in there.there:
                        remove_set(there.folder(name), site.say)


def agree(sums: dict[str, str], point: Point, checksum: str | None) -> None:
    """Raise `PayloadError` when the same files had another checksum before, however read."""
    name = str(point.levels["set"])
    if checksum is not None and sums.setdefault(name, checksum) != checksum:
        raise PayloadError(
            "the checksums of two ways to read differ", f"{checksum} here, {sums[name]} before"
        )


def _files_of(point: Point) -> FileSet:
    """Return the files of a point, which has all their bytes as its size."""
    return set_of(str(point.levels["set"]), point.size_bytes)


def _no_memory(point: Point, files: FileSet) -> str | None:
    """Return why memory cannot hold the files in flight (read) or half of it the set (warm)."""
    largest_first: Whole = np.sort(files.sizes)[::-1]
    need = int(largest_first[: in_flight(point)].sum())
    if point.levels["cache"] != COLD:
        need += files.on_disk
    free = memory_available(Source())
    if need <= free // 2:
        return None
    why = f"it keeps {need:,} bytes in memory and {free:,} are available"
    return f"{why}; take a smaller profile or free some"


@cache
def _filesystem(place: Path) -> str:
    with suppress(AbsentError):
        return mount_of(Source(), str(place)).filesystem
    return ""


@cache
def _native_lacks(question: str, *arguments: str) -> str | None:
    """Return what the native package says is missing for one of its ways to read."""
    import ipclab_native

    answer: str | None = getattr(ipclab_native, question)(*arguments)
    return answer
