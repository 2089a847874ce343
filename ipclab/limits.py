"""The limits of the hardware: what is measured natively at the start of a run, and under which name.

Must be called in a fresh worker process: the native code forks and pins its own measuring processes.
"""

import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

from ipclab.errors import LabError, UsageError

MEMCPY_SIZES = (4_000, 16_000, 64_000, 256_000, 1_000_000, 4_000_000, 16_000_000, 64_000_000, 256_000_000)
"""Sizes in bytes at which memcpy is always measured, beside those of the study."""

SAMPLES = 20_000
"""The most samples of one limit; a preallocated array of this size is filled, or the time is spent."""

SHARE = 0.75
"""Of the time that is given, this much is measured; the rest is for forks, faulting-in and warm-up."""

DEADLINE_NS = 5_000_000_000
"""What one limit may take beyond its share of the time before it fails."""


@dataclass(frozen=True)
class Limit:
    """One limit: its name (the key up to a size or placement), what a sample in ns is, its passes over the data.

    `passes` is how often the payload is copied within one sample: 0 where there is none.
    """

    name: str
    sample: str
    passes: int = 0
    unit: str = "ns"


LIMITS: tuple[Limit, ...] = (
    Limit("clock", "one read of CLOCK_MONOTONIC"),
    Limit("syscall", "one getppid system call"),
    Limit("memcpy", "one copy by one core", passes=1),
    Limit("cache-line", "round trip over two lines by store and load"),
    Limit("cache-line-cas", "round trip over one line by compare-and-swap"),
    Limit("futex-wake", "one-way wake of a process proven asleep"),
    *(
        Limit(f"echo/{kind}", f"round trip over {name}, copied in and out", passes=4)
        for kind, name in {
            "shm-spin": "shared memory by spinning",
            "shm-futex": "shared memory by futex",
            "pipe": "two pipes",
            "unix": "a Unix stream socket",
            "tcp": "loopback TCP without delay",
        }.items()
    ),
)
"""Every limit, in the order of measuring."""


class Native(Protocol):
    """What is used of the module `ipclab_native`; every call returns ns as little-endian int64 bytes."""

    def clock_cost(self, n: int) -> bytes:
        """Return differences of back-to-back clock reads."""

    def syscall_cost(self, n: int) -> bytes:
        """Return times of system calls."""

    def memcpy(self, size: int, n: int, budget_ns: int) -> bytes:
        """Return times of copies of `size` bytes."""

    def cache_line(self, cpus: tuple[int, int], n: int, budget_ns: int, timeout_ns: int) -> bytes:
        """Return round trips over two cache lines."""

    def cache_line_cas(self, cpus: tuple[int, int], n: int, budget_ns: int, timeout_ns: int) -> bytes:
        """Return round trips over one cache line."""

    def futex_wake(self, cpus: tuple[int, int], n: int, budget_ns: int, timeout_ns: int) -> bytes:
        """Return one-way wakes."""

    def echo(self, kind: str, size: int, n: int, cpus: tuple[int, int], budget_ns: int, timeout_ns: int) -> bytes:
        """Return round trips of `size` bytes."""


def limit_of(key: str) -> Limit:
    """Return the limit that a key of `measure` belongs to; raises UsageError for a key of none."""
    for limit in sorted(LIMITS, key=lambda limit: len(limit.name), reverse=True):
        if key == limit.name or key.startswith(f"{limit.name}/"):
            return limit
    raise UsageError(f"limit {key}", "there is none of this name", f"use one of {_names()}")


def measure(
    placements: Mapping[str, tuple[int, int]],
    sizes: Sequence[int],
    seconds: float,
    native: Native | None = None,
    progress: Callable[[str], None] = lambda key: None,
) -> dict[str, "array[int]"]:
    """Measure every limit in about `seconds` and return its samples in ns (int64), in the order taken.

    `placements` maps a name to the CPUs of the two processes (-1: not pinned); `sizes` are bytes. Keys are
    `clock`, `syscall`, `memcpy/<size>`, `cache-line/<placement>`, `cache-line-cas/<placement>`,
    `futex-wake/<placement>` and `echo/<kind>/<placement>/<size>`. A cache line does not travel within one
    CPU, so those two are absent there. `progress` gets each key before it is measured. Raises UsageError for
    a bad size or time, LabError without the native package or when a measurement fails.
    """
    if seconds <= 0 or any(size <= 0 for size in sizes):
        raise UsageError("limits", "sizes and seconds must be above 0", "give positive numbers")
    steps = _plan(native or load_native(), placements, sizes)
    budget_ns = max(1, int(seconds * SHARE * 1e9 / len(steps)))
    result = {}
    for key, step in steps.items():
        progress(key)
        try:
            result[key] = _samples(step(budget_ns))
        except (OSError, ValueError) as error:  # TimeoutError and BrokenPipeError are OSErrors
            raise LabError(f"limit {key}", str(error), "measure again on a quieter machine") from error
    return result


def load_native() -> Native:
    """Return the module `ipclab_native`; raises LabError when it is not installed."""
    try:
        import ipclab_native
    except ImportError as error:
        raise LabError("native package", str(error), "install cargo and run make setup") from error
    return cast(Native, ipclab_native)


_Step = Callable[[int], bytes]


def _plan(native: Native, placements: Mapping[str, tuple[int, int]], sizes: Sequence[int]) -> dict[str, _Step]:
    """Return for each key a call that gets its share of the time in ns."""
    steps: dict[str, _Step] = {
        "clock": lambda _: native.clock_cost(SAMPLES),
        "syscall": lambda _: native.syscall_cost(SAMPLES),
    }
    for size in sorted({*MEMCPY_SIZES, *sizes}):
        steps[f"memcpy/{size}"] = _bound(native.memcpy, size, SAMPLES)
    for name, cpus in placements.items():
        if cpus[0] != cpus[1] or cpus[0] < 0:
            steps[f"cache-line/{name}"] = _supervised(native.cache_line, cpus, SAMPLES)
            steps[f"cache-line-cas/{name}"] = _supervised(native.cache_line_cas, cpus, SAMPLES)
        steps[f"futex-wake/{name}"] = _supervised(native.futex_wake, cpus, SAMPLES)
        for size in sorted(set(sizes)):
            for limit in LIMITS:
                kind = limit.name.removeprefix("echo/")
                if kind != limit.name:
                    key = f"{limit.name}/{name}/{size}"
                    steps[key] = _supervised(native.echo, kind, size, SAMPLES, cpus)
    return steps


def _bound(call: Callable[..., bytes], *fixed: Any) -> _Step:
    return lambda budget_ns: call(*fixed, budget_ns)


def _supervised(call: Callable[..., bytes], *fixed: Any) -> _Step:
    return lambda budget_ns: call(*fixed, budget_ns, 2 * budget_ns + DEADLINE_NS)


def _samples(raw: bytes) -> "array[int]":
    samples = array("q")
    samples.frombytes(raw)
    if sys.byteorder == "big":
        samples.byteswap()
    return samples


def _names() -> str:
    return ", ".join(limit.name for limit in LIMITS)
