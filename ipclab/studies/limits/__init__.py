"""What the hardware allows, measured natively beside what it bounds: every figure's floor."""

from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from ipclab.backends import installed as registry
from ipclab.backends.native_shm import native_missing
from ipclab.bounds import cpu_pairs
from ipclab.bounds.floors import COPIED
from ipclab.machine.source import Source
from ipclab.machine.topology import Topology
from ipclab.spawn.ledger import SHARED_MEMORY
from ipclab.spawn.loops import keep
from ipclab.spawn.worker import Outcome, Turns, Worker
from ipclab.store import MOST_LAUNCHES
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.store.questions import Limit
from ipclab.studies.arms import table
from ipclab.studies.interface import Placement, Profile, Role, Study, Sweep
from ipclab.studies.joining import WAIT_NS
from ipclab.studies.limits import pairs
from ipclab.studies.payload import SIZES as PAYLOADS

MESSAGES = (100, 10_000, 65_536, 500_000, 2_000_000)
STREAMED = (64, 1_024, 65_536, 1_048_576)
HERE = "ipclab.studies.limits"
PAIRS = ("same", "cross")  # the placements of two processes that have limits
TABLE = table(Path(__file__).with_name("arms.toml"))
# By the end of a limit's name: the backend whose messages are as bounded
REFUSING = {"mq": "posix-mq", "tcp": "tcp", "udp": "udp", "packet": "unix-seqpacket"}
MAPS = "map-"  # at the start of limits that write into a file, and read it
BATCH = "batch"
# Bytes; what takes longer is compared with nothing, and is measured once in a launch
LARGEST_IN_TURNS = 4_000_000
LAUNCHES = 6  # of a limit at least, except in a quick run: of fewer the median is luck
MOST_SAMPLES = 20_000


def _programs() -> dict[str, dict[str, str]]:
    """Return by limit and op what is timed."""
    programs = {}
    for row in TABLE["arm"]:
        for limit in row["backend"]:
            ops = row["primary"].split()
            programs[limit] = {op: limit.replace(MAPS, f"{op}-") for op in ops}
    return programs


PROGRAMS = _programs()
# limits of two processes, which have a placement; one of one process is in placement `same` alone
OF_TWO = {limit for row in TABLE["arm"] if "placement" in row for limit in row["backend"]}


class LimitsStudy(Study):
    """Clock, system call, memcpy, cache line, futex wake, and twins of each kind of operation."""

    name = "limits"
    natives: ClassVar = {
        name: Limit(tuple(ops), placed=name in OF_TWO) for name, ops in PROGRAMS.items()
    }
    payloads_shared = 0  # except for those that write files, the limits copy in memory of their own

    def backends(self) -> tuple[str, ...]:
        return tuple(PROGRAMS) if not native_missing() else ()

    def effort(self, profile: Profile) -> Profile:
        """Return the profile with launches for a floor, and for the heats that it takes part in."""
        if profile.most_launches < LAUNCHES:
            return replace(profile, least_launches=profile.most_launches)
        least = min(LAUNCHES, profile.least_values)
        return replace(profile, least_launches=least, most_launches=MOST_LAUNCHES)

    def points(self, effort: Profile, sweep: Sweep) -> list[Point]:
        """Return what every run has, or the limits that `sweep` names, at its or the usual sizes.

        What bounds the points of other studies is added by `floors.with_floors`. The pairs of CPUs
        are of the profiles `standard` and up.
        """
        every = sweep.backends is None
        asked = TABLE["basic"] if sweep.backends is None else sweep.backends
        sizes = sorted(set(sweep.sizes or ()))
        points = self.of_arms(
            [name for name in self.backends() if name in asked],
            copied=COPIED if every else sizes or COPIED,
            payloads=sizes or PAYLOADS,
            messages=sizes or MESSAGES,
            streamed=sizes or STREAMED,
            pinned=effort.pinned,
            cross=[name for name in effort.pinned if name == "cross"],
        )
        if every and not effort.brief and self.backends():
            points += pairs.relation_points(Topology.read(Source()))
        return points

    def missing(self, point: Point, scratch: Path) -> str | None:
        return queue_refusal(point)

    def shared_memory(self, point: Point) -> int:
        return point.size_bytes if point.backend.startswith(MAPS) else 0

    def roles(self, point: Point, effort: Profile, placement: Placement, seed: int) -> list[Role]:
        """Return one worker, from which the native code forks its own two."""
        if point.backend == cpu_pairs.NAME:
            timed = [cpu_pairs.cpu_pair_of(op) for op in point.primary]
            cpus = frozenset(cpu for pair in timed for cpu in pair)
            return [Role("native", f"{HERE}.pairs:time_pairs", {"pairs": timed}, cpus)]
        near, far = placement.role(0), placement.role(1)
        arguments = {
            "limit": point.backend,
            "size": point.size_bytes,
            "cpus": [min(near), min(far)],
            "budget_ns": effort.turn_ns,
        }
        return [Role("native", f"{HERE}:time_limit", arguments, near | far)]

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        """Return the samples; one of messages that flow stands for as many as the worker says."""
        made = super().collect(point, outcomes, seed)
        if point.backend == cpu_pairs.NAME:
            made.facts["relation"] = point.levels["shares"]
        batch = int(str(made.facts.pop(BATCH, 1)))
        if batch > 1:
            made.per = dict.fromkeys(point.primary, batch)
        return made


def limit_point(name: str, size: int, placement: str) -> Point:
    """Return the point of limit `name` of `size` bytes in `placement`."""
    return Point(LimitsStudy.name, name, size, placement, {}, "limits", tuple(PROGRAMS[name]))


def queue_refusal(point: Point) -> str | None:
    """Return why a queue or datagram cannot have the limit point's messages; None when it can."""
    for name in REFUSING.keys() & {*point.backend.split("-")}:
        return registry.backend(REFUSING[name]).refuses(point.size_bytes)
    return None


def time_limit(worker: Worker, limit: str, size: int, cpus: list[int], budget_ns: int) -> Turns:
    """Measure one limit from a process of its own, in turns of `budget_ns` over all its ops."""
    import ipclab_native as native

    programs = {}
    with ExitStack() as held:
        for op, kind in PROGRAMS[limit].items():
            path = SHARED_MEMORY / worker.name(f"limit-{op}")
            program = native.Limit(kind, max(1, size), tuple(cpus), str(path))
            programs[op] = held.enter_context(closing(program))

        def turn() -> None:
            for op, program in programs.items():
                keep(worker, op, program.turn(budget_ns // len(programs), MOST_SAMPLES, WAIT_NS))

        if size > LARGEST_IN_TURNS:
            turn()
        else:
            while (yield {}) is not None:
                turn()
        worker.outcome.facts[BATCH] = max(program.batch for program in programs.values())
