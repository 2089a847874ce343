"""The worker's side of a launch: meeting its peers, counters, and handing over the samples."""

import resource
import socket
import time
from array import array
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ipclab.errors import LabError
from ipclab.spawn.wire import Wire

COUNTERS = ("minor_faults", "major_faults", "voluntary_switches", "involuntary_switches", "cpu_ns")
QUEUED = "queued_share"


@dataclass
class Outcome:
    """What one worker hands back.

    `samples`: op -> int64 nanoseconds in the order taken. `counters`: op -> counter -> number per operation.
    `proof`: digests of what the far end saw, in order. `facts`: anything else worth keeping with the launch.
    """

    samples: dict[str, "array[int]"] = field(default_factory=dict)
    counters: dict[str, dict[str, float]] = field(default_factory=dict)
    proof: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    def message(self) -> dict[str, Any]:
        """Return what is told of it beside the samples."""
        return {"done": {"counters": self.counters, "proof": self.proof, "facts": self.facts}}

    @classmethod
    def of(cls, message: dict[str, Any], samples: "dict[str, array[int]]") -> "Outcome":
        """Return what `message` told."""
        return cls(samples=samples, **message["done"])


def failure(error: Exception) -> dict[str, str]:
    """Return what is told of a worker that cannot go on."""
    return {"failed": str(error) if isinstance(error, LabError) else f"{type(error).__name__}: {error}"}


def zeros(count: int) -> "array[int]":
    """Return a preallocated array of `count` int64 whose pages are already touched."""
    return array("q", bytes(8 * count))


def usage() -> tuple[float, ...]:
    """Return this process's counters in the order of `COUNTERS` (getrusage(2))."""
    use = resource.getrusage(resource.RUSAGE_SELF)
    return (use.ru_minflt, use.ru_majflt, use.ru_nvcsw, use.ru_nivcsw, (use.ru_utime + use.ru_stime) * 1e9)


def queued_ns() -> int:
    """Return how long this process has been ready without a CPU, in ns (proc(5), schedstat); 0 where not told."""
    try:
        return int(Path("/proc/self/schedstat").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0


class Worker:
    """One process of a launch: `role` among its peers, and the names and the folder it may use."""

    def __init__(self, sock: socket.socket, role: str, prefix: str, folder: str) -> None:
        """Serve role `role` over control socket `sock`; shared names start with `prefix`."""
        self.wire = Wire(sock)
        self.role, self.prefix, self.folder = role, prefix, folder
        self.outcome = Outcome()

    def name(self, tag: str) -> str:
        """Return the launch's own shared name for `tag`, the same in all its workers."""
        return f"{self.prefix}-{tag}"

    def meet(self, **published: Any) -> dict[str, dict[str, Any]]:
        """Wait until every peer has come to its meeting; return what each role published.

        The launching process holds the deadline: it kills the launch when a peer does not come.
        """
        self.wire.send({"meet": published})
        message, _ = self.wire.receive()
        roles: dict[str, dict[str, Any]] = message["met"]
        return roles

    @contextmanager
    def counting(self, op: str, operations: int) -> Iterator[None]:
        """Count faults, switches and CPU time per operation over the `operations` done inside.

        Beside them stands the share of the time for which this process was ready but waited for a CPU.
        """
        before, waited, start = usage(), queued_ns(), time.perf_counter_ns()
        yield
        elapsed = time.perf_counter_ns() - start
        queued, after = queued_ns() - waited, usage()
        rows = zip(COUNTERS, before, after, strict=True)
        counted = {name: (late - early) / operations for name, early, late in rows}
        self.outcome.counters[op] = {**counted, QUEUED: queued / max(1, elapsed)}

    def finish(self, outcome: Outcome | None) -> None:
        """Hand over `outcome` (or the one collected in the worker) as the launch's last message."""
        done = outcome or self.outcome
        self.wire.send(done.message(), done.samples)
        self.wire.close()

    def fail(self, error: Exception) -> None:
        """Say why this worker cannot go on, as its last message."""
        with suppress(OSError):
            self.wire.send(failure(error))


def clock_cost(reads: int = 201) -> int:
    """Return the median cost in ns of one clock read beside a store, as in the timed loops."""
    clock = time.perf_counter_ns
    stamps = zeros(reads)
    for i in range(reads):
        stamps[i] = clock()
    steps = sorted(stamps[i + 1] - stamps[i] for i in range(reads - 1))
    return steps[len(steps) // 2]
