"""What a study must offer so that the runner can measure it."""

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ipclab.backends import installed as registry
from ipclab.errors import LabError, UsageError
from ipclab.machine.placement import Placement
from ipclab.spawn.heat import BEGINNING, Bench, Contestant, Heat, HeatOutcomes, Schedule
from ipclab.spawn.launcher import Launcher
from ipclab.spawn.started import Role
from ipclab.spawn.worker import Outcome
from ipclab.store.launch import Launch
from ipclab.store.point import Level, Point
from ipclab.store.questions import Bound, Limit
from ipclab.studies.arms import FILE, Levels, expanded, table, under
from ipclab.studies.profile import Profile

__all__ = [
    "Bench",
    "Bound",
    "Contestant",
    "HeatOutcomes",
    "Launch",
    "Level",
    "Levels",
    "NotTestableError",
    "Outcome",
    "Placement",
    "Point",
    "Profile",
    "Role",
    "Schedule",
    "Site",
    "Study",
    "Sweep",
    "point_arguments",
    "ring_bytes",
    "spread",
]


FIRST, CLAIMED, USUAL, LATER = range(4)


class NotTestableError(LabError):
    """A study cannot measure its points here, as making ready showed; `str()` gives the fix."""


@dataclass(frozen=True)
class Sweep:
    """What a person asked to vary; None, or a factor not named, means the study's own levels."""

    sizes: tuple[int, ...] | None = None
    backends: tuple[str, ...] | None = None
    levels: Mapping[str, tuple[Level, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise `UsageError` for a size that is not positive."""
        if wrong := [size for size in self.sizes or () if size <= 0]:
            raise UsageError(
                f"size {wrong[0]} is not possible", "", "give a number of bytes above 0"
            )

    def of(self, backends: Iterable[str]) -> list[str]:
        """Return those of `backends` whose points are asked for."""
        return [name for name in backends if self.backends is None or name in self.backends]

    def numbers(self, factor: str, usual: Sequence[int]) -> tuple[int, ...]:
        """Return the levels of a factor of whole numbers, ascending: those asked for, or `usual`.

        Raises `UsageError` for one that is no number.
        """
        levels = self.levels.get(factor, usual)
        if wrong := [level for level in levels if not isinstance(level, int)]:
            raise UsageError(f"{factor}={wrong[0]} is not possible", "", "give whole numbers")
        return tuple(sorted(map(int, set(levels))))


@dataclass(frozen=True)
class Site:
    """What a study may use of the measuring session beside its points."""

    launcher: Launcher  # the fork servers
    scratch: Path  # the folder for files that a study makes on disk, not there before it is needed
    keep: Callable[[str, bytes], None]  # put a raw file (name below `raw/`, content) into the run
    note: Callable[[str, Any], None]  # put an entry into its `run.json`
    say: Callable[[str], None]  # print a line beside the progress
    keep_scratch: bool = False  # leave the files

    def workers(self, heat: Mapping[str, Contestant], schedule: Schedule) -> HeatOutcomes:
        """Run a heat by workers of the fork servers: the bench of most studies.

        Ends that the scheduler places have no other contestant beside them: two that were parked
        while others ran it wakes on one CPU, where those of a program by itself can stay apart.
        """
        pinned = {name: member for name, member in heat.items() if not member.scheduler_places}
        ends: HeatOutcomes = {}
        if pinned:
            ends |= Heat(self.launcher, schedule).run(pinned)
        for name in schedule.order(heat.keys() - pinned.keys(), BEGINNING):
            ends |= Heat(self.launcher, schedule).run({name: heat[name]})
        return ends

    def own_scratch(self, path: Path) -> None:
        """Have the ledger remove the folder `path` at the session's end, unless it is kept."""
        if not self.keep_scratch:
            self.launcher.own("scratch", str(path.resolve()))


def spread(
    names: Iterable[str], run: str, arguments: Mapping[str, Any], placement: Placement
) -> list[Role]:
    """Return a role for each of `names`, with the same `run` and arguments, on CPUs in turn."""
    return [
        Role(name, run, dict(arguments), placement.role(index)) for index, name in enumerate(names)
    ]


def point_arguments(point: Point, seed: int) -> dict[str, Any]:
    """Return what every process of a point is told of it."""
    return {"backend": point.backend, "size": point.size_bytes, "seed": seed}


def ring_bytes(size: int) -> int:
    """Return the bytes of /dev/shm that rings both ways take, of messages of `size` bytes."""
    return 8 * (2 * size + (1 << 18))


def _has(point: Point, row: Levels) -> bool:
    """Tell whether `point` has the levels of `row`: one, any of a list, or such as `*CnR`."""
    levels = {**point.key(), "size": point.size_bytes}
    for factor, wanted in row.items():
        choices = wanted if isinstance(wanted, list) else [wanted]
        level = str(levels.get(factor))
        if not any(fnmatchcase(level, str(choice)) for choice in choices):
            return False
    return True


class Study(ABC):
    """One question with its factors; what most studies have in common is here."""

    name: str
    mechanisms: tuple[str, ...] = ()  # what it sweeps, where that is not what is installed
    # beside sizes and backends: the levels usually swept
    factors: ClassVar[Mapping[str, tuple[Level, ...]]] = {}
    bounds: ClassVar[Sequence[Bound]] = ()  # what its ops cannot beat
    natives: ClassVar[Mapping[str, Limit]] = {}  # what it times natively, for others' bounds
    named_only: tuple[str, ...] = ()  # the profiles in which it is measured only when it is named
    # `module:function` that fork servers of its own call, for imports that would weigh on all others
    preload: str = ""
    payloads_shared: int = 2  # how many payloads one launch may hold in /dev/shm

    def backends(self) -> tuple[str, ...]:
        """Return the names of the mechanisms that this study can sweep here."""
        return self.mechanisms

    def own(self, profile: Profile) -> dict[str, Any]:
        """Return what the table's `[effort]` says under `profile`, by name."""
        return under(profile.name, self.table().get("effort", {}))

    def effort(self, profile: Profile) -> Profile:
        """Return how much of `profile` this study takes: what its table says, or else all of it."""
        return profile.with_own(self.own(profile))

    def of_point(self, point: Point, effort: Profile, in_contest: bool) -> Profile:
        """Return how much of the study's `effort` a point takes, fewer launches in no contest."""
        if in_contest:
            return effort
        return replace(effort, least_launches=min(effort.least_launches, effort.least_values))

    @abstractmethod
    def points(self, effort: Profile, sweep: Sweep) -> list[Point]:
        """Return the points of `sweep` that an effort takes; `UsageError` when it means nothing."""

    def table(self, name: str = FILE) -> dict[str, Any]:
        """Return the TOML table `name` that lies beside the study's module, {} where none does."""
        return table(Path(inspect.getfile(type(self))).with_name(name))

    def of_arms(
        self,
        backends: Container[str],
        whole: Callable[[Levels], Levels] = dict,
        /,
        **known: Sequence[Any],
    ) -> list[Point]:
        """Return the points of `backends` in the table's arms, each once, by blocks.

        `$name` stands for the levels `known[name]`; `whole` completes the levels of a point with
        what follows.
        """
        usual = self.table().get("usual", {})
        by_id = dict[str, Point]()
        for row in self.table()["arm"]:
            for row_levels in expanded(row, known):
                for levels in expanded(usual | row_levels, known):
                    if levels["backend"] in backends:
                        point = self._point(whole(levels))
                        by_id[point.id] = point
        blocks = list(dict.fromkeys(point.block for point in by_id.values()))
        return sorted(by_id.values(), key=lambda point: blocks.index(point.block))

    def _point(self, levels: Levels) -> Point:
        """Return the point of `levels`, which then holds only those of its own factors."""
        block = levels.pop("block").format_map(levels)
        primary = levels.pop("primary").format_map(levels)
        backend, size, placement = (levels.pop(name) for name in ("backend", "size", "placement"))
        return Point(self.name, backend, size, placement, levels, block, tuple(primary.split()))

    def brief(self, points: Sequence[Point]) -> list[Point]:
        """Return `points` without what the table or their backend leaves out of brief runs."""
        left_out = self.table().get("brief", {}).get("leave", [])
        not_brief = {name for name, backend in registry.backends().items() if not backend.brief}
        return [
            point
            for point in points
            if point.backend not in not_brief and not any(_has(point, row) for row in left_out)
        ]

    def of_text(self, points: Sequence[Point]) -> list[Point]:
        """Return those of `points` that the study's text ran: what the table's `[text]` says."""
        return [point for point in points if self._named(point, "text")]

    def precedence(self, point: Point) -> int:
        """Return the place of a point where time is short: `FIRST`, `CLAIMED`, `USUAL`, `LATER`.

        What a text ran, and what its claims rest on (the table's `[text]` and `[claimed]`), comes
        before what findings and advice rest on; on `[later]` levels nothing does.
        """
        if self._named(point, "text") or self._named(point, "claimed"):
            return CLAIMED
        return LATER if self._named(point, "later") else USUAL

    def _named(self, point: Point, part: str) -> bool:
        """Tell whether `point` is among the `levels` of a part of the table."""
        return any(_has(point, row) for row in self.table().get(part, {}).get("levels", []))

    @abstractmethod
    def roles(self, point: Point, effort: Profile, placement: Placement, seed: int) -> list[Role]:
        """Return the processes of one launch of `point`."""

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        """Join the workers' outcomes; `PayloadError` for data lost, torn or reordered.

        One process keeps the samples of an op, and no two the same counter or fact.
        """
        made = Launch({}, {})
        for outcome in outcomes.values():
            for op, values in outcome.samples.items():
                made.samples[op] = np.frombuffer(values, np.int64)
            made.turns |= outcome.turns
            made.counters |= outcome.counters
            made.facts |= outcome.facts
        return made

    def expected(self, point: Point) -> tuple[str, ...]:
        """Return the disturbances that `point` makes by intent: they flag no launch of it."""
        return ()

    def missing(self, point: Point, scratch: Path) -> str | None:
        """Return why this machine cannot measure `point`, with the fix; None when it can."""
        return None

    def disk(self, points: Sequence[Point]) -> int:
        """Return how many bytes of disk the files take that `points` read, all together."""
        return 0

    def shared_memory(self, point: Point) -> int:
        """Return how many bytes of /dev/shm one launch of `point` may take."""
        return self.payloads_shared * point.size_bytes

    def open(
        self, site: Site, points: Sequence[Point], effort: Profile, seed: int
    ) -> AbstractContextManager[Bench]:
        """Make ready what `points` need and give what launches them; at the end it is taken away.

        The bench (here the fork servers) runs heats of the study's contestants: it returns how each
        ended and is good for the next one whatever became of it. Raises `NotTestableError` when
        none of `points` can be measured here.
        """
        return nullcontext(site.workers)
