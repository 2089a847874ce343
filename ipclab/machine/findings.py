"""What makes a machine unfit to measure: each finding with its effect, its source and its fix."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ipclab.machine.conditions import QUEUE_SHARE, STEAL_SHARE
from ipclab.machine.readers import Value
from ipclab.paths import typed

FIT, NOTE, RESERVATION = "fit", "note", "reservation"
US, MIB, GIB = 1_000, 1 << 20, 1 << 30
MOST_INTERRUPTS = 5_000  # a second and CPU
INTERRUPT_SECONDS = 2e-6  # what one takes, about
LEAST_FILES = 1_024
ISOLATION_GAIN = 1.1  # from which a better isolation is worth a note
# What isolates two processes from one that computes on their CPU, and the command for it.
ISOLATED = {
    "own-cpu/nice": ("that process at the lowest priority", "renice -n 19 -p PID"),
    "own-cpu/sched-idle": ("that process in SCHED_IDLE", "chrt -i -p 0 PID"),
    "own-cpu/sched-fifo": ("SCHED_FIFO for both ends", "chrt -f 1 COMMAND"),
    "other-cpu/plain": ("CPUs apart", "taskset -c CPU COMMAND"),
}

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


def _judged(
    name: str, wrong: Any, seen: str, effect: str, source: str, fix: str, state: str = RESERVATION
) -> Finding:  # fmt: skip
    """Return the finding if something is wrong, else that what was `seen` is fit."""
    return Finding(name, state, seen, effect, source, fix) if wrong else Finding(name, FIT, seen)


def _noise(machine: Observed) -> Iterator[Finding]:
    """Look at the host, at the other tasks, and at the interrupts."""
    noise = machine.noise
    if (share := noise.get("steal")) is not None:
        seen = f"{share:.1%} of the CPUs' time"
        effect = (
            f"launches in which the host takes more than {STEAL_SHARE:.0%} are flagged and repeated"
        )
        fix = "measure when the host is quiet, or ask for CPUs of your own"
        yield _judged(
            "steal", share > STEAL_SHARE, seen, effect, "ipclab/machine/conditions.py", fix
        )
    if (tasks := noise.get("queue")) is not None:
        busy = noise.get("busy")
        used = "" if busy is None else f", {busy:.0%} of the CPUs' time used"
        seen = f"{tasks:.2f} other tasks a CPU{used}"
        effect = (
            f"a worker that waits for a CPU more than {QUEUE_SHARE:.0%} of its time is flagged; a"
            " busy CPU also stays awake: pipe round trips took 5.2 us on a busy machine and 41 us"
            " on a quiet one"
        )
        source, fix = (
            "ipclab/machine/conditions.py; docs/machines.md",
            "end what else runs: top -o %CPU",
        )
        yield _judged("run queue", tasks > QUEUE_SHARE, seen, effect, source, fix)
    if (rate := noise.get("interrupts")) is not None:
        seen = f"{rate:,.0f} a second and CPU"
        effect = f"at about 2 us each they take {rate * INTERRUPT_SECONDS:.1%} of a CPU"
        fix = (
            "see who makes them (cat /proc/interrupts) and move them: echo CPU >"
            " /proc/irq/N/smp_affinity_list"
        )
        yield _judged("interrupts", rate > MOST_INTERRUPTS, seen, effect, "estimate", fix)


def _processor(machine: Observed) -> Iterator[Finding]:
    """Look at the clock's frequency, the CPUs, how they idle, and the clock that is read."""
    if name := machine.fact("frequency_governor"):
        slowest, fastest = machine.fact("frequency_min"), machine.fact("frequency_max")
        times = f"{fastest / slowest:.1f} times" if slowest and fastest else "several times"
        effect = f"the clock may be {times} slower when a launch begins"
        source, fix = "frequency_min, frequency_max", "cpupower frequency-set -g performance"
        yield _judged("governor", name != "performance", name, effect, source, fix)
    if (boost := machine.fact("boost")) is not None:
        effect = "the clock then depends on heat and on what other cores do, by some ten per cent"
        fix = (
            "echo 0 > /sys/devices/system/cpu/cpufreq/boost (intel_pstate: echo 1 >"
            " .../intel_pstate/no_turbo)"
        )
        yield _judged("turbo", boost, "on" if boost else "off", effect, "estimate", fix, NOTE)
    if threads := machine.fact("threads_per_core"):
        effect = (
            "siblings share a core; points on two CPUs use two cores, points on siblings are named"
            " cross-smt"
        )
        source, fix = "ipclab/machine/topology.py", "echo off > /sys/devices/system/cpu/smt/control"
        yield _judged("SMT", threads > 1, f"{threads} threads a core", effect, source, fix, NOTE)
    if cpus := machine.fact("cpus_allowed"):
        effect = "what needs two CPUs is not testable here"
        source = "ipclab/machine/placement.py"
        fix = "give two or more: taskset, docker run --cpuset-cpus, AllowedCPUs="
        yield _judged("CPUs", cpus.isdigit(), cpus, effect, source, fix)
    if kind := machine.fact("virtualisation"):
        same, cross = machine.took("futex-wake same"), machine.took("futex-wake cross")
        effect = (
            "an idle virtual CPU halts, and the host decides when it runs: "
            f"a wake takes {same} on one CPU, {cross} on two"
        )
        fix = "in the guest: modprobe cpuidle_haltpoll; on the host: qemu -overcommit cpu-pm=on"
        source = f"limit futex-wake of {machine.measured_on}"
        wrong = kind != "none" and machine.fact("idle_governor") != "haltpoll"
        yield _judged("virtual machine", wrong, kind, effect, source, fix)
    if clock := machine.fact("clocksource"):
        syscall, plain = machine.took("syscall same"), machine.took("clock same")
        effect = f"reading another clock may enter the kernel: {syscall} instead of {plain}"
        fix = "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"
        source = f"limits syscall and clock of {machine.measured_on}"
        wrong = clock != "tsc" and "tsc" in (machine.fact("clocksources") or [])
        yield _judged("clock", wrong, clock, effect, source, fix)


def _groups(machine: Observed) -> Iterator[Finding]:
    """Look at what this process's control group is granted."""
    quota, limit = machine.fact("cpu_quota"), machine.fact("memory_limit")
    seen = "none"
    if quota is not None:
        seen = f"{quota:g} CPUs, held back {machine.noise.get('throttled') or 0:.1%} of the time"
    effect = (
        "once the quota is used, every process of the group stands still for the rest of its period"
        " (100 ms)"
    )
    fix = "docker run without --cpus; systemctl set-property UNIT CPUQuota="
    yield _judged("CPU quota", quota is not None, seen, effect, "Linux: cgroup v2, cpu.max", fix)
    seen = "none" if limit is None else f"{limit / GIB:.1f} GiB"
    effect = "below 2 GiB the largest payloads and the reports may be killed"
    wrong = limit is not None and limit < 2 * GIB
    fix = "docker run --memory=4g; MemoryMax="
    yield _judged("memory limit", wrong, seen, effect, "benchmarks/samples.py", fix)


def _room(machine: Observed) -> Iterator[Finding]:
    """Look at the room in /dev/shm and in the data folder."""
    free, fault = machine.fact("shm_free"), machine.shm_fault
    if fault or free is not None:
        seen = f"{fault or f'{free / MIB:,.0f} MiB free'}, {machine.need / MIB:,.1f} MiB needed"
        fix = (
            "docker run --shm-size=1g; mount -o remount,rw,size=1G /dev/shm; "
            "where there is none: mkdir /dev/shm && mount -t tmpfs -o mode=1777 tmpfs /dev/shm"
        )
        wrong = fault or free < machine.need
        yield _judged(
            "/dev/shm", wrong, seen, "nothing is measured", "ipclab/measure/session.py", fix
        )
    if (free := machine.fact("scratch_free")) is not None:
        effect = "files on disk and raw samples may not fit"
        fix = "free some, or move the data: IPCLAB_DATA=/other/folder"
        yield _judged(
            "data folder", free < GIB, f"{free / GIB:,.1f} GiB free", effect, "ipclab/studies", fix
        )


def _rights(machine: Observed) -> Iterator[Finding]:
    """Look at what this process may do."""
    if (files := machine.fact("open_files_soft")) is not None:
        effect = "many readers or streams at once run out of descriptors: those points fail"
        yield _judged(
            "open files",
            files < LEAST_FILES,
            f"{files:,}",
            effect,
            "getrlimit(2)",
            "ulimit -n 4096",
        )
    if (locked := machine.fact("locked_memory")) is not None:
        effect, fix = (
            "io_uring on older kernels and locked buffers are refused",
            "ulimit -l unlimited",
        )
        seen = f"{locked / MIB:,.1f} MiB"
        yield _judged("locked memory", locked < 8 * MIB, seen, effect, "getrlimit(2)", fix, NOTE)
    if container := machine.fact("container"):
        effect = (
            "none on time by itself; its limits stand above, and it may forbid io_uring and the"
            " counters"
        )
        fix = "docker run --security-opt seccomp=unconfined, or measure outside"
        yield _judged("container", container != "none", container, effect, "container", fix, NOTE)
    if (allowed := machine.fact("io_uring")) is not None:
        effect, fix = (
            "reading files by io_uring is not testable here",
            "sysctl kernel.io_uring_disabled=0",
        )
        yield _judged(
            "io_uring", not allowed, "allowed" if allowed else "forbidden", effect, "io_uring", fix
        )
    if machine.present.get("MPI") and machine.alone is not None:
        effect = "while ranks run, Open MPI's daemon listens on all addresses of this host"
        fix = (
            "run as root, or allow namespaces to users: sysctl user.max_user_namespaces=1000 "
            "kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0; "
            "or keep a firewall around it"
        )
        seen = "of its own" if machine.alone else "the host's"
        yield _judged(
            "MPI network", not machine.alone, seen, effect, "unshare -Urn true", fix, NOTE
        )


# What is missing without a part of the software.
MISSING = {
    "native": "the hardware's limits and the native mechanisms are not testable here",
    "MPI": "arms between nodes are not testable here",
    "Go": "the stream multiplexer is not testable here",
    "fonts": "figures in Korean and Chinese cannot be drawn, so no report is made",
}


def _software(machine: Observed) -> Iterator[Finding]:
    for name, effect in MISSING.items():
        ready = machine.present.get(name)
        if ready is not None:
            fix = "install Rust, then: make setup" if name == "native" else typed("setup")
            yield _judged(
                name, not ready, "ready" if ready else "absent", effect, "ipclab backends", fix
            )


def _isolation(machine: Observed) -> Iterator[Finding]:
    """Look at what would isolate two ends from a process that computes on their CPU."""
    plain = machine.isolation.get("own-cpu/plain")
    if plain is not None:
        best = min(machine.isolation, key=machine.isolation.__getitem__)
        least = machine.isolation[best]
        what, fix = ISOLATED.get(best, ("", ""))
        seen = f"{plain:,.0f} ns for a unix round trip beside a process that computes on its CPU"
        effect = f"{what} would gain {plain / least:.1f} times: {least:,.0f} ns"
        source = "study neighbours, newest run with it"
        yield _judged("isolation", plain > ISOLATION_GAIN * least, seen, effect, source, fix, NOTE)
