"""What the hardware allows, measured natively at the start of every run: the floor under every other figure."""

from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any

from ipclab.backends.native_shm import missing
from ipclab.spawn.worker import Outcome, Worker
from ipclab.store.launch import Launch
from ipclab.store.point import Point
from ipclab.studies.arms import table
from ipclab.studies.interface import Placement, Profile, Role, Study, Sweep

MEMCPY_SIZES = (4_000, 16_000, 64_000, 256_000, 1_000_000, 4_000_000, 16_000_000, 64_000_000, 256_000_000)
PAYLOADS = (84, 13_824, 88, 14_152, 1_382_400, 1_384_120)
MESSAGES = (100, 10_000, 500_000, 2_000_000)
STREAMED = (64, 1_024, 16_384, 1_048_576)
RING = "hand-over"
BATCH = "batch"
CALLS = table(Path(__file__).with_name("arms.toml"))["native"]  # limit -> what measures it, and its arguments in order
LAUNCHES = 7  # of a limit at least, in every profile that has them: the best of fewer is luck
BUDGET_NS = 10_000_000
MOST_SAMPLES = 20_000
DEADLINE_NS = 10_000_000_000


class LimitsStudy(Study):
    """Clock, system call, memcpy, cache line, futex wake, native echoes, and messages one way over a native ring."""

    name = "limits"
    payloads_shared = 0  # the limits copy in memory of their own

    def backends(self) -> tuple[str, ...]:
        return tuple(CALLS) if not missing() else ()

    def effort(self, profile: Profile) -> Profile:
        """Return a part of the profile: a floor is the best of a few launches, and `measure.rounds` adds to them."""
        launches, budget = min(LAUNCHES, profile.most_launches), min(profile.budget_ns, BUDGET_NS)
        return replace(profile, least_launches=launches, most_launches=launches, budget_ns=budget)

    def points(self, profile: Profile, sweep: Sweep) -> list[Point]:
        """Return all limits: memcpy at the sizes of every study too, echoes at those of `sweep` or of messages."""
        pairs = [name for name in ("same", "cross") if name in profile.placements]
        copied = sorted({*MEMCPY_SIZES, *PAYLOADS, *MESSAGES, *(sweep.sizes or ())})
        messages, cross = sorted(set(sweep.sizes or MESSAGES)), [name for name in pairs if name == "cross"]
        streamed = sorted(set(sweep.sizes or STREAMED))
        known = {"copied": copied, "messages": messages, "streamed": streamed}
        return self.of_arms(self.backends(), dict, pairs=pairs, cross=cross, **known)

    def roles(self, point: Point, profile: Profile, placement: Placement, seed: int) -> list[Role]:
        """Return one worker, from which the native code forks its own two."""
        ends = placement.role(0), placement.role(1)
        arguments = {"limit": point.backend, "size": point.size_bytes, "cpus": [min(end) for end in ends]}
        arguments |= {"budget_ns": profile.budget_ns, "op": point.primary[0]}
        return [Role("native", "ipclab.studies.limits:run", arguments, ends[0] | ends[1])]

    def collect(self, point: Point, outcomes: dict[str, Outcome], seed: int) -> Launch:
        """Return the samples; one of a ring stands for as many messages as the worker says."""
        made = super().collect(point, outcomes, seed)
        batch = made.facts.pop(BATCH, 1)
        return replace(made, per={point.primary[0]: int(str(batch))})


def run(worker: Worker, limit: str, size: int, cpus: list[int], budget_ns: int, op: str) -> None:
    """Measure one limit in a process of its own and keep its samples as `op`."""
    import ipclab_native as native

    given: dict[str, Any] = {"size": size, "most": MOST_SAMPLES, "pair": tuple(cpus), "budget": budget_ns}
    given |= {"kind": limit.removeprefix("echo-"), "deadline": 2 * budget_ns + DEADLINE_NS}
    name, *wanted = CALLS[limit]
    found = getattr(native, name)(*(given[each] for each in wanted))
    if limit == RING:
        worker.outcome.facts[BATCH], found = found
    worker.outcome.samples[op] = array("q", found)
