"""The multiplexer study: its points, and one launch of the Go benchmark for each."""

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from ipclab.spawn.launcher import Launcher, LaunchError
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.studies.interface import Bench, NotTestableError, Outcome, Placement, Profile, Role, Site, Study, Sweep
from ipclab.studies.multiplexer import CALLS, NODES, output, toolchain

FACTORS = {"streams": (1, 8, 64), "threshold": (1024, 2048, 4096, 8192, 16_384, 65_536), "sinks": (1, 64)}
KEYS = ("arm", "node", "op", "medium", "size", "streams", "threshold", "pool", "chunk", "sinks")
SHORTER = 2  # than another study's launches
MS = 1_000_000
PROGRAM = "program"
PEER_CPUS = "IPCLAB_PEER_CPUS"


def cell(point: Point) -> str:
    """Return the point as the Go benchmark names it: `arm=main/node=adaptive/...`."""
    values = {**point.levels, "node": point.backend, "size": point.size_bytes}
    return "/".join(f"{key}={values[key]}" for key in KEYS)


class MultiplexerStudy(Study):
    """Four nodes on one wire format: writing, receiving, both ends, streams, threshold, and pool x chunk.

    Factor `sinks` is how many messages and buffers are taken in turn: 1, which stays in the cache, in arm `published`,
    and in `threshold` and `factorial`, which take that method apart; otherwise the most, for writing both. Arm `check`
    has the op `call` of the backends `direct`, `direct-again` and `checked` on a node that sends nothing: `checked`
    over `direct` is the cost of looking at the threshold, `direct-again` over `direct` the noise of identical code.
    Arm `published` has the op `write` of the same three.
    """

    name = "multiplexer"
    mechanisms = (*NODES, *CALLS, "factorial")
    sized = False
    factors: ClassVar = FACTORS
    payloads_shared = 0  # pipes and sockets are the kernel's

    def effort(self, profile: Profile) -> Profile:
        """Return launches of half the time: a benchmark's own start is long beside what it samples."""
        return replace(profile, budget_ns=profile.budget_ns // SHORTER)

    def points(self, profile: Profile, sweep: Sweep) -> list[Point]:
        asked = [name for name in self.backends() if sweep.wants(name)]
        levels = {name: sweep.numbers(name, usual) for name, usual in FACTORS.items()}
        return self.of_arms(asked, dict, nodes=NODES, calls=CALLS, varied=levels["sinks"][-1:], **levels)

    def roles(self, point: Point, profile: Profile, placement: Placement, seed: int) -> list[Role]:
        """Return the test binary; where it starts a peer on other CPUs, the peer's CPUs are an argument."""
        near, far = placement.role(0), placement.role(1)
        peer = sorted(far) if point.levels["op"] == "end-to-end" and far != near else []
        time = f"{max(1, profile.budget_ns // MS)}ms"
        return [Role(PROGRAM, "", {"cell": cell(point), "benchtime": time, "peer": peer}, near)]

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        made = super().collect(point, outcomes, seed)
        return replace(made, per=dict.fromkeys(made.samples, output.PER))

    def missing(self, point: Point, scratch: Path) -> str | None:
        found = toolchain.find(toolchain.module(), toolchain.candidates())
        return found if isinstance(found, str) else None

    @contextmanager
    def open(self, site: Site, points: Sequence[Point], profile: Profile, seed: int) -> Iterator[Bench]:
        """Compile the benchmarks into the session's folder and give what runs a cell and keeps what it said."""
        found = toolchain.find(toolchain.module(), toolchain.candidates())
        if isinstance(found, str):
            raise NotTestableError(found)
        binary = toolchain.build(found, toolchain.module(), site.launcher)
        site.note("multiplexer", {"go": found.version})
        raw: list[str] = []

        def bench(point: Point, roles: Sequence[Role], seconds: float) -> dict[str, Outcome]:
            said = launch(site.launcher, binary, roles[0], seconds)
            made = output.outcome(said, roles[0].arguments["cell"], point.primary[0])
            raw.append(said)
            return {PROGRAM: made}

        try:
            yield bench
        finally:
            if raw:  # a file of this session's own: one before it may have left others
                site.keep(f"multiplexer/{secrets.token_hex(4)}.txt", "".join(raw).encode())


def launch(launcher: Launcher, binary: Path, role: Role, seconds: float) -> str:
    """Run one cell and return what the binary said; raises `LaunchError` with its first message when it failed."""
    arguments = role.arguments
    # Go's own deadline comes first: it says where the benchmark hung.
    flags = {"run": "^$", "bench": "^BenchmarkCell$", "count": 1, "benchtime": arguments["benchtime"]}
    flags |= {"timeout": f"{seconds:g}s"}
    command = (str(binary), "-test.benchmem", *(f"-test.{name}={value}" for name, value in flags.items()))
    # The person's settings of Go's runtime would make it another one.
    env: dict[str, str | None] = {name: None for name in os.environ if name.startswith("GO")}
    env |= {"IPCLAB_CELL": arguments["cell"], PEER_CPUS: ",".join(map(str, arguments["peer"])) or None}
    try:
        done = launcher.launch([replace(role, command=command, env=env)], seconds + 1)
    except LaunchError as error:
        fix = f"see it alone, in native/multiplexer: IPCLAB_CELL={arguments['cell']} go test -run '^$' -bench Cell ."
        if "Permission denied" in error.said:
            fix = "set TMPDIR to a folder whose files may be executed"
        what = error.what.replace(f"worker {PROGRAM!r}", "the Go benchmark")
        raise LaunchError(what, output.reason(error.said), fix) from error
    return str(done[PROGRAM].facts["said"])
