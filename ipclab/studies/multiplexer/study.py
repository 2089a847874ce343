"""The multiplexer study: its points, and the compiled Go program that measures them."""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from ipclab.errors import UsageError
from ipclab.machine.answers import memory_available
from ipclab.machine.source import Source
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.studies.interface import (
    Bench,
    NotTestableError,
    Outcome,
    Placement,
    Profile,
    Role,
    Site,
    Study,
    Sweep,
)
from ipclab.studies.multiplexer import CALLS, NODES, output, toolchain
from ipclab.studies.multiplexer.program import NAME, Program

FACTORS = {
    "streams": (1, 8, 64),
    "threshold": (1024, 2048, 4096, 8192, 16_384, 65_536),
    "sinks": (1, 64),
}
KEYS = ("arm", "node", "op", "medium", "size", "streams", "threshold", "pool", "chunk", "sinks")
SIZES, PUBLISHED, AROUND = (1024, 8192, 65_536, 1_048_576), (1024, 65_536, 1_048_576), (2048, 8192)
LONGEST = 64 << 20  # bytes of a message: the nodes' own limit (limits.go)
SHORTER = 2  # a published benchmark than another study's launches: its own start is long beside what it samples
MS = 1_000_000


def cell(point: Point) -> str:
    """Return the point as the Go benchmark names it: `arm=main/node=adaptive/...`."""
    values = {**point.levels, "node": point.backend, "size": point.size_bytes}
    return "/".join(f"{key}={values[key]}" for key in KEYS)


class MultiplexerStudy(Study):
    """Four nodes on one wire format: write, receive, both, streams, threshold, pool x chunk.

    Factor `sinks` is how many messages and buffers are taken in turn: 1, which stays in the cache,
    in arm `published`, and in `threshold` and `factorial`, which take that method apart; otherwise
    the most, for writing both. Arm `check` has the op `call` of the backends `direct`,
    `direct-again` and `checked` on a node that sends nothing: `checked` over `direct` is the cost
    of looking at the threshold, `direct-again` over `direct` the noise of identical code. Arm
    `published` has the op `write` of the same three.

    What one size will do for is measured at the shortest message (the calls), the longest (pool x
    chunk), or the middle one (one CPU, streams): of the usual sizes those of the text.
    """

    name = "multiplexer"
    mechanisms = (*NODES, *CALLS, "factorial")
    factors: ClassVar = FACTORS
    payloads_shared = 0  # pipes and sockets are the kernel's

    def points(self, effort: Profile, sweep: Sweep) -> list[Point]:
        asked = sweep.of(self.backends())
        levels = {name: sweep.numbers(name, usual) for name, usual in FACTORS.items()}
        own = sorted(set(sweep.sizes or ()))
        if own and own[-1] > LONGEST:
            fix = f"give {LONGEST:,} bytes or less, or name another --study"
            what = f"the multiplexer takes no message of {own[-1]:,} bytes"
            raise UsageError(what, "its nodes bound what they hold", fix)
        sizes = own or SIZES
        middle = (len(sizes) - 1) // 2
        return self.of_arms(
            asked,
            nodes=NODES,
            calls=CALLS,
            varied=levels["sinks"][-1:],
            sizes=sizes,
            published=own or PUBLISHED,
            around=own or AROUND,
            shortest=sizes[:1],
            middle=sizes[middle : middle + 1],
            longest=sizes[-1:],
            **levels,
        )

    def roles(self, point: Point, effort: Profile, placement: Placement, seed: int) -> list[Role]:
        """Return the Go program; the CPUs of a peer that it starts elsewhere are an argument."""
        near = placement.role(0)
        far = placement.role(1)
        peer = sorted(far) if point.levels["op"] == "end-to-end" and far != near else []
        arguments = {
            "cell": cell(point),
            "cpus": ",".join(map(str, peer)),
            "benchtime": f"{max(1, effort.budget_ns // SHORTER // MS)}ms",
            "turn_ns": effort.turn_ns,
            "least": effort.least_samples,
        }
        return [Role(NAME, "", arguments, near)]

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        made = super().collect(point, outcomes, seed)
        return replace(made, per=dict.fromkeys(made.samples, output.PER))

    def missing(self, point: Point, scratch: Path) -> str | None:
        go = toolchain.go_toolchain()
        return go if isinstance(go, str) else _no_memory(point)

    @contextmanager
    def open(
        self, site: Site, points: Sequence[Point], effort: Profile, seed: int
    ) -> Iterator[Bench]:
        """Compile the program into the session's folder; give what runs its heats."""
        go = toolchain.go_toolchain()
        if isinstance(go, str):
            raise NotTestableError(go)
        binary = toolchain.build(go, toolchain.MODULE, site.launcher)
        site.note("multiplexer", {"go": go.version})
        program = Program(site.launcher, binary)
        try:
            yield program.run
        finally:
            if program.raw:  # a file of this session's own: one before it may have left others
                site.keep(f"multiplexer/{secrets.token_hex(4)}.txt", "".join(program.raw).encode())


def _no_memory(point: Point) -> str | None:
    """Return why memory cannot hold what all nodes of a heat take in turn; None when it can."""
    need = 2 * len(NODES) * int(point.levels["sinks"]) * point.size_bytes
    free = memory_available(Source())
    if need <= free:
        return None
    why = f"its messages and buffers take {need:,} bytes of memory and {free:,} are available"
    return f"{why}; take fewer of them: --level sinks=1"
