"""What the hardware allows, measured natively at the start of every run: the floor under every other figure."""

import importlib.util
from array import array
from dataclasses import replace
from typing import Any

import numpy as np

from ipclab.machine.placement import Placement
from ipclab.spawn.launcher import Role
from ipclab.spawn.worker import Outcome, Worker
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.studies.interface import OnForkServer, Sweep
from ipclab.studies.profile import Profile

MEMCPY_SIZES = (4_000, 16_000, 64_000, 256_000, 1_000_000, 4_000_000, 16_000_000, 64_000_000, 256_000_000)
PAYLOADS = (84, 13_824, 88, 14_152, 1_382_400, 1_384_120)
MESSAGES = (100, 10_000, 500_000, 2_000_000)
ECHOES = ("shm-spin", "shm-futex", "pipe", "unix", "tcp")
ALONE = {"clock": "read", "syscall": "call"}
PAIRED = {"cache-line": "round-trip", "cache-line-cas": "round-trip", "futex-wake": "wake"}
PASSES = 4  # an echo copies each message out and in, both ways
MOST_LAUNCHES = 4
BUDGET_NS = 10_000_000
MOST_SAMPLES = 20_000
DEADLINE_NS = 10_000_000_000


class LimitsStudy(OnForkServer):
    """Clock, system call, memcpy, cache line, futex wake, and native echoes."""

    name = "limits"

    def shared_memory(self, point: Point) -> int:
        """Return nothing: the limits copy in memory of their own."""
        return 0

    def backends(self) -> tuple[str, ...]:
        """Return the names of the limits, none without the native package."""
        if importlib.util.find_spec("ipclab_native") is None:
            return ()
        return (*ALONE, "memcpy", *PAIRED, *(f"echo-{kind}" for kind in ECHOES))

    def effort(self, profile: Profile) -> Profile:
        """Return a part of the profile: a floor is found in a few launches, and is read against in every run."""
        least, most = (min(count, MOST_LAUNCHES) for count in (profile.least_launches, profile.most_launches))
        return replace(profile, least_launches=least, most_launches=most, budget_ns=min(profile.budget_ns, BUDGET_NS))

    def points(self, profile: Profile, sweep: Sweep) -> list[Point]:
        """Return all limits: memcpy at the sizes of every study and of `sweep`, echoes at those of messages or `sweep`."""
        if not self.backends():
            return []
        found = [self._point(name, 0, "same") for name in ALONE]
        sizes = sorted({*MEMCPY_SIZES, *PAYLOADS, *MESSAGES, *(sweep.sizes or ())})
        found += [self._point("memcpy", size, "same") for size in sizes]
        for placement in (name for name in ("same", "cross") if name in profile.placements):
            # A cache line does not travel within one CPU.
            paired = PAIRED if placement != "same" else ("futex-wake",)
            found += [self._point(name, 0, placement) for name in paired]
            messages = sorted(set(sweep.sizes or MESSAGES))
            found += [self._point(f"echo-{kind}", size, placement) for size in messages for kind in ECHOES]
        return found

    def _point(self, backend: str, size: int, placement: str) -> Point:
        return Point(self.name, backend, size, placement, {}, "limits", (self._op(backend),))

    @staticmethod
    def _op(backend: str) -> str:
        return {**ALONE, **PAIRED, "memcpy": "copy"}.get(backend, "round-trip")

    def roles(self, point: Point, profile: Profile, placement: Placement, seed: int) -> list[Role]:
        """Return one worker, from which the native code forks its own two."""
        ends = [min(placement.role(0)), min(placement.role(1))]
        arguments = {"limit": point.backend, "size": point.size_bytes, "cpus": ends, "budget_ns": profile.budget_ns}
        cpus = placement.role(0) | placement.role(1)
        return [Role("native", "ipclab.studies.limits:run", {**arguments, "op": self._op(point.backend)}, cpus)]

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        """Return the samples; the native code has checked what it moved."""
        samples = {op: np.frombuffer(values, np.int64) for op, values in outcomes["native"].samples.items()}
        return Launch(samples, {})


def run(worker: Worker, limit: str, size: int, cpus: list[int], budget_ns: int, op: str) -> None:
    """Measure one limit in a process of its own and keep its samples as `op`."""
    import ipclab_native as native

    pair, deadline = tuple(cpus), 2 * budget_ns + DEADLINE_NS
    calls: dict[str, Any] = {
        "clock": lambda: native.clock_cost(MOST_SAMPLES),
        "syscall": lambda: native.syscall_cost(MOST_SAMPLES),
        "memcpy": lambda: native.memcpy(size, MOST_SAMPLES, budget_ns),
        "cache-line": lambda: native.cache_line(pair, MOST_SAMPLES, budget_ns, deadline),
        "cache-line-cas": lambda: native.cache_line_cas(pair, MOST_SAMPLES, budget_ns, deadline),
        "futex-wake": lambda: native.futex_wake(pair, MOST_SAMPLES, budget_ns, deadline),
    }
    kind = limit.removeprefix("echo-")
    call = calls.get(limit) or (lambda: native.echo(kind, size, MOST_SAMPLES, pair, budget_ns, deadline))
    worker.outcome.samples[op] = array("q", call())
