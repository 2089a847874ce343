"""What makes a machine unfit to measure: each finding with its effect, its source and its fix.

What is looked at stands here, what is said of it in `findings.toml`.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from ipclab.machine.conditions import QUEUE_SHARE, STEAL_SHARE
from ipclab.machine.readers import Value
from ipclab.paths import typed

SAID = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
FIT, NOTE, RESERVATION = "fit", "note", "reservation"
US, MIB, GIB = 1_000, 1 << 20, 1 << 30
MOST_INTERRUPTS = 5_000  # a second and CPU
INTERRUPT_SECONDS = 2e-6  # what one takes, about
LEAST_FILES = 1_024
ISOLATION_GAIN = 1.1  # from which a better isolation is worth a note
SOFTWARE = ("native", "MPI", "Go", "fonts")  # without which something is missing

Noise = dict[str, float | None]


class Finding(NamedTuple):
    """One observation: its `state`, what was `seen`; for all but fit the `effect` with its
    `source`, and the `fix`.
    """

    name: str
    state: str
    seen: str
    effect: str = ""
    source: str = ""
    fix: str = ""


@dataclass(frozen=True)
class Observed:
    """What a finding may look at.

    `facts` are the machine's, `present` tells which parts of the software are there, `need` is the
    shared memory (bytes) of the largest point, `shm_fault` why /dev/shm cannot be used, `alone`
    whether MPI's daemon can have a network of its own (None: unknown), and `times` (ns) are limits
    measured in a run, which `measured_on` names. `isolation` has median round trips (ns) of unix
    beside a process that computes, by neighbour and what isolates it.
    """

    facts: Mapping[str, Value]
    noise: Noise
    present: Mapping[str, bool]
    need: int = 0
    shm_fault: str = ""
    alone: bool | None = None
    times: Mapping[str, float] = field(default_factory=dict)
    measured_on: str = "no run"
    isolation: Mapping[str, float] = field(default_factory=dict)

    def fact(self, name: str) -> Any:
        """Return a fact of the machine, None where it is not told."""
        return self.facts.get(name)

    def took(self, limit: str) -> str:
        """Return how long a limit took, in words."""
        ns = self.times.get(limit)
        if ns is None:
            return "an unknown time"
        return f"{ns / US:.1f} us" if ns >= US else f"{ns:.0f} ns"


def examine(machine: Observed) -> list[Finding]:
    """Return every finding in its order; what the machine does not tell gives none."""
    parts = (_noise, _processor, _groups, _room, _rights, _software, _isolation)
    return [finding for part in parts for finding in part(machine)]


def _judged(name: str, wrong: Any, seen: str, **values: Any) -> Finding:
    """Return what is said of a finding, with its `values`, if something is wrong; else it is fit."""
    if not wrong:
        return Finding(name, FIT, seen)
    said = {"state": RESERVATION, **SAID[name]}
    return Finding(name, seen=seen, **{key: text.format(**values) for key, text in said.items()})


def _noise(machine: Observed) -> Iterator[Finding]:
    """Look at the host, at the other tasks, and at the interrupts."""
    noise = machine.noise
    if (share := noise.get("steal")) is not None:
        seen = f"{share:.1%} of the CPUs' time"
        yield _judged("steal", share > STEAL_SHARE, seen, most=STEAL_SHARE)
    if (tasks := noise.get("queue")) is not None:
        busy = noise.get("busy")
        used = "" if busy is None else f", {busy:.0%} of the CPUs' time used"
        seen = f"{tasks:.2f} other tasks a CPU{used}"
        yield _judged("run queue", tasks > QUEUE_SHARE, seen, most=QUEUE_SHARE)
    if (rate := noise.get("interrupts")) is not None:
        seen = f"{rate:,.0f} a second and CPU"
        share = rate * INTERRUPT_SECONDS
        yield _judged("interrupts", rate > MOST_INTERRUPTS, seen, share=share)


def _processor(machine: Observed) -> Iterator[Finding]:
    """Look at the clock's frequency, the CPUs, how they idle, and the clock that is read."""
    if name := machine.fact("frequency_governor"):
        slowest = machine.fact("frequency_min")
        fastest = machine.fact("frequency_max")
        times = f"{fastest / slowest:.1f} times" if slowest and fastest else "several times"
        yield _judged("governor", name != "performance", name, times=times)
    if (boost := machine.fact("boost")) is not None:
        yield _judged("turbo", boost, "on" if boost else "off")
    if threads := machine.fact("threads_per_core"):
        yield _judged("SMT", threads > 1, f"{threads} threads a core")
    if cpus := machine.fact("cpus_allowed"):
        yield _judged("CPUs", cpus.isdigit(), cpus)
    if kind := machine.fact("virtualisation"):
        same = machine.took("futex-wake same")
        cross = machine.took("futex-wake cross")
        wrong = kind != "none" and machine.fact("idle_governor") != "haltpoll"
        run = machine.measured_on
        yield _judged("virtual machine", wrong, kind, same=same, cross=cross, run=run)
    if clock := machine.fact("clocksource"):
        syscall = machine.took("syscall same")
        plain = machine.took("clock same")
        wrong = clock != "tsc" and "tsc" in (machine.fact("clocksources") or [])
        run = machine.measured_on
        yield _judged("clock", wrong, clock, syscall=syscall, plain=plain, run=run)


def _groups(machine: Observed) -> Iterator[Finding]:
    """Look at what this process's control group is granted."""
    quota = machine.fact("cpu_quota")
    limit = machine.fact("memory_limit")
    seen = "none"
    if quota is not None:
        seen = f"{quota:g} CPUs, held back {machine.noise.get('throttled') or 0:.1%} of the time"
    yield _judged("CPU quota", quota is not None, seen)
    seen = "none" if limit is None else f"{limit / GIB:.1f} GiB"
    yield _judged("memory limit", limit is not None and limit < 2 * GIB, seen)


def _room(machine: Observed) -> Iterator[Finding]:
    """Look at the room in /dev/shm and in the data folder."""
    free = machine.fact("shm_free")
    fault = machine.shm_fault
    if fault or free is not None:
        seen = f"{fault or f'{free / MIB:,.0f} MiB free'}, {machine.need / MIB:,.1f} MiB needed"
        yield _judged("/dev/shm", fault or free < machine.need, seen)
    if (free := machine.fact("scratch_free")) is not None:
        yield _judged("data folder", free < GIB, f"{free / GIB:,.1f} GiB free")


def _rights(machine: Observed) -> Iterator[Finding]:
    """Look at what this process may do."""
    if (files := machine.fact("open_files_soft")) is not None:
        yield _judged("open files", files < LEAST_FILES, f"{files:,}")
    if (locked := machine.fact("locked_memory")) is not None:
        yield _judged("locked memory", locked < 8 * MIB, f"{locked / MIB:,.1f} MiB")
    if container := machine.fact("container"):
        yield _judged("container", container != "none", container)
    if (allowed := machine.fact("io_uring")) is not None:
        yield _judged("io_uring", not allowed, "allowed" if allowed else "forbidden")
    if machine.present.get("MPI") and machine.alone is not None:
        yield _judged(
            "MPI network", not machine.alone, "of its own" if machine.alone else "the host's"
        )


def _software(machine: Observed) -> Iterator[Finding]:
    for name in SOFTWARE:
        if (ready := machine.present.get(name)) is not None:
            yield _judged(name, not ready, "ready" if ready else "absent", setup=typed("setup"))


def _isolation(machine: Observed) -> Iterator[Finding]:
    """Look at what would isolate two ends from a process that computes on their CPU."""
    plain = machine.isolation.get("own-cpu/plain")
    if plain is not None:
        best = min(machine.isolation, key=machine.isolation.__getitem__)
        least = machine.isolation[best]
        seen = f"{plain:,.0f} ns for a unix round trip beside a process that computes on its CPU"
        way = SAID["ways"].get(best, {"what": "", "command": ""})
        worse = plain > ISOLATION_GAIN * least
        yield _judged("isolation", worse, seen, times=plain / least, least=least, **way)
