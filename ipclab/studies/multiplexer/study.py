"""The multiplexer study: its points, and one launch of the Go benchmark for each."""

import os
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from statistics import fmean

import numpy as np

from ipclab.machine.placement import Placement
from ipclab.spawn.launcher import Launcher, LaunchError, Role
from ipclab.spawn.worker import Outcome
from ipclab.store.launch import Launch
from ipclab.store.point import Level, Point
from ipclab.studies.interface import Bench, NotTestableError, Site, Sweep
from ipclab.studies.multiplexer import (
    ADAPTIVE,
    BOTH,
    CHUNKS,
    FACTORIAL,
    FACTORIAL_SIZE,
    MEDIA,
    NODES,
    POOLS,
    PUBLISHED_SIZES,
    RECEIVE,
    SAME_CODE,
    SIZES,
    STREAM_SIZE,
    STREAMS,
    THRESHOLD,
    THRESHOLD_SIZES,
    THRESHOLDS,
    WRITE,
    output,
    toolchain,
)
from ipclab.studies.profile import Profile

KEYS = ("arm", "node", "op", "medium", "size", "streams", "threshold", "pool", "chunk")
PER = 1000  # operations that one sample stands for
COUNTS = 1  # of one launch: starting a process is cheap, and what differs between processes is the honest spread
MORE_LAUNCHES = 2  # times as many as another study makes, each of half the time
MS = 1_000_000
PROGRAM = "program"
PEER_CPUS = "IPCLAB_PEER_CPUS"


def cell(point: Point) -> str:
    """Return the point as the Go benchmark names it: `arm=main/node=adaptive/...`."""
    values = {**point.levels, "node": point.backend, "size": point.size_bytes}
    return "/".join(f"{key}={values[key]}" for key in KEYS)


def _point(arm: str, node: str, op: str, size: int, placement: str, **levels: Level) -> Point:
    usual: dict[str, Level] = {
        **{"arm": arm, "op": op, "medium": "memory"},
        **{"streams": 1, "threshold": THRESHOLD, "pool": "own", "chunk": 0},
    }
    return Point("multiplexer", node, size, placement, usual | levels, f"{arm}-{size}", (op,))


def published() -> Iterator[Point]:
    """Yield the published arm: writing into memory by the published nodes, Adaptive beside them, and identical code."""
    for size, node in product(PUBLISHED_SIZES, NODES):
        yield _point("published", node, WRITE, size, "free")
        if (size, node) == (PUBLISHED_SIZES[0], NODES[-1]):
            yield from (_point("published", same, WRITE, size, "free") for same in SAME_CODE)


def main() -> Iterator[Point]:
    """Yield both sides in memory and both ends between two processes, by size; at one size also on one CPU."""
    for size in SIZES:
        for node in NODES:
            yield _point("main", node, WRITE, size, "same")
            yield _point("main", node, RECEIVE, size, "same")
            for medium in MEDIA:
                yield _point("main", node, BOTH, size, "cross", medium=medium)
                if size == STREAM_SIZE:
                    yield _point("main", node, BOTH, size, "same", medium=medium)


def streams(counts: Sequence[int]) -> Iterator[Point]:
    """Yield `counts` streams at once over one pipe."""
    for node, count in product(NODES, counts):
        yield _point("streams", node, BOTH, STREAM_SIZE, "cross", medium="pipe", streams=count)


def threshold(values: Sequence[int]) -> Iterator[Point]:
    """Yield Hybrid's threshold around two sizes, and Adaptive, which has none."""
    for size in THRESHOLD_SIZES:
        yield from (_point("threshold", "hybrid", WRITE, size, "same", threshold=value) for value in values)
        yield _point("threshold", ADAPTIVE, WRITE, size, "same")


def factorial() -> Iterator[Point]:
    """Yield every pool with every chunk size, writing and both ends."""
    for pool, chunk in product(POOLS, CHUNKS):
        yield _point("factorial", FACTORIAL, WRITE, FACTORIAL_SIZE, "same", pool=pool, chunk=chunk)
        yield _point("factorial", FACTORIAL, BOTH, FACTORIAL_SIZE, "cross", medium="pipe", pool=pool, chunk=chunk)


class MultiplexerStudy:
    """Four nodes on one wire format: writing, receiving, both ends, streams, threshold, and pool x chunk."""

    name = "multiplexer"
    sized = False
    factors: Mapping[str, tuple[Level, ...]] = {"streams": STREAMS, "threshold": THRESHOLDS}

    def backends(self) -> tuple[str, ...]:
        """Return the names of the nodes."""
        return (*NODES, *SAME_CODE, FACTORIAL)

    def effort(self, profile: Profile) -> Profile:
        """Return twice as many launches as the profile has, each half as long and of one count."""
        least, budget = MORE_LAUNCHES * profile.least_launches, profile.budget_ns // MORE_LAUNCHES
        most = max(least, profile.most_launches)
        return replace(profile, least_launches=least, most_launches=most, budget_ns=budget)

    def points(self, profile: Profile, sweep: Sweep) -> list[Point]:
        """Return the points of all arms, interleaved by arm and size."""
        varied = streams(sweep.numbers("streams", STREAMS)), threshold(sweep.numbers("threshold", THRESHOLDS))
        every = chain(published(), main(), *varied, factorial())
        return [point for point in every if sweep.wants(point.backend)]

    def roles(self, point: Point, profile: Profile, placement: Placement, seed: int) -> list[Role]:
        """Return the test binary; where it starts a peer on other CPUs, the peer's CPUs are an argument."""
        near, far = placement.role(0), placement.role(1)
        peer = sorted(far) if point.levels["op"] == BOTH and far != near else []
        milliseconds = max(1, profile.budget_ns // MS)
        arguments = {"cell": cell(point), "benchtime": f"{milliseconds}ms", "peer": peer}
        return [Role(PROGRAM, "", arguments, near)]

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        """Return the samples; the benchmark has verified what arrived."""
        outcome = outcomes[PROGRAM]
        samples = {op: np.frombuffer(values, np.int64) for op, values in outcome.samples.items()}
        return Launch(samples, outcome.counters, facts=dict(outcome.facts), per=dict.fromkeys(samples, PER))

    def missing(self, point: Point, scratch: Path) -> str | None:
        """Return why there is no Go that can compile the benchmarks, with what mends it."""
        found = toolchain.find(toolchain.module(), toolchain.candidates())
        return found if isinstance(found, str) else None

    def shared_memory(self, point: Point) -> int:
        """Return nothing: pipes and sockets are the kernel's."""
        return 0

    @contextmanager
    def open(self, site: Site, points: Sequence[Point], profile: Profile, seed: int) -> Iterator[Bench]:
        """Compile the benchmarks into the session's folder and give what runs one cell.

        What the binary said in all launches of a point is kept in the run before the point is finished.
        """
        source, launcher = toolchain.module(), site.launcher
        found = toolchain.find(source, toolchain.candidates())
        if isinstance(found, str):
            raise NotTestableError(found)
        try:
            binary = toolchain.build(found, source, launcher.ledger, launcher.session)
        except toolchain.CompileError as error:
            raise NotTestableError(str(error)) from error
        site.note("multiplexer", {"go": found.version})
        raw: dict[str, list[str]] = {}

        def bench(point: Point, roles: Sequence[Role], seconds: float) -> dict[str, Outcome]:
            (role,) = roles
            said = launch(launcher, binary, role, seconds)
            made = outcome(said, role.arguments["cell"], str(point.levels["op"]))
            raw.setdefault(point.id, []).append(said)
            if len(raw[point.id]) >= profile.least_launches:
                site.keep(f"multiplexer/{point.id}.txt", "".join(raw[point.id]).encode())
            return {PROGRAM: made}

        yield bench


def launch(launcher: Launcher, binary: Path, role: Role, seconds: float) -> str:
    """Run one cell and return what the binary said; raises `LaunchError` with its first message when it failed."""
    arguments = role.arguments
    flags = {"run": "^$", "bench": "^BenchmarkCell$", "count": COUNTS, "benchtime": arguments["benchtime"]}
    # Go's own deadline comes first: it says where the benchmark hung.
    command = [str(binary), "-test.benchmem", *(f"-test.{name}={value}" for name, value in flags.items())]
    command.append(f"-test.timeout={seconds:g}s")
    # The person's settings of Go's runtime would make it another one.
    env: dict[str, str | None] = {name: None for name in os.environ if name.startswith("GO")}
    env |= {"IPCLAB_CELL": arguments["cell"], PEER_CPUS: ",".join(map(str, arguments["peer"])) or None}
    try:
        done = launcher.launch([replace(role, command=tuple(command), env=env)], seconds + 1)
    except LaunchError as error:
        fix = f"see it alone, in native/multiplexer: IPCLAB_CELL={arguments['cell']} go test -run '^$' -bench Cell ."
        if "Permission denied" in error.said:
            fix = "set TMPDIR to a folder whose files may be executed"
        what = error.what.replace(f"worker {PROGRAM!r}", "the Go benchmark")
        raise LaunchError(what, output.reason(error.said), fix) from error
    return str(done[PROGRAM].facts["said"])


def outcome(said: str, name: str, op: str) -> Outcome:
    """Return the samples and counters of cell `name` in what the binary `said`; raises `LabError` when it is odd."""
    counts = output.read(said, name, COUNTS)
    made = Outcome(samples={op: array("q", output.nanoseconds(counts, PER))})

    def mean(unit: str) -> float:
        return fmean(float(count.metrics[unit]) for count in counts)

    counters = {"allocations": mean(output.ALLOCATIONS), "bytes_allocated": mean(output.BYTES)}
    if output.FAR_BYTES in counts[0].metrics:
        far = {"receiver_allocations": mean(output.FAR_ALLOCATIONS), "receiver_bytes_allocated": mean(output.FAR_BYTES)}
        counters = {name: value + far[f"receiver_{name}"] for name, value in counters.items()} | far
    if output.FAIRNESS in counts[0].metrics:
        counters["fairness"] = mean(output.FAIRNESS)
    made.counters[op] = counters
    made.facts["operations"] = sum(count.operations for count in counts)
    return made
