"""What makes a machine unfit to measure: one function for each finding, with its effect, its source and its fix."""

from collections.abc import Mapping
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
    """One observation: its `state`, what was `seen`; for all but fit the `effect` with its `source`, and the `fix`."""

    name: str
    state: str
    seen: str
    effect: str = ""
    source: str = ""
    fix: str = ""


@dataclass(frozen=True)
class Observed:
    """What a finding may look at.

    `facts` are the machine's, `present` tells which parts of the software are there, `need` is the shared memory
    (bytes) of the largest point, `shm_fault` why /dev/shm cannot be used, `alone` whether MPI's daemon can have a
    network of its own (None: unknown), and `times` (ns) are limits measured in a run, which `measured_on` names.
    `isolation` has median round trips (ns) of unix beside a process that computes, by neighbour and what isolates it.
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
    findings = (check(machine) for check in CHECKS)
    software = (_software(machine, *row) for row in SOFTWARE)
    return [finding for finding in (*findings, *software, isolation(machine)) if finding]


def judged(wrong: bool, finding: Finding) -> Finding:
    """Return the finding if something is wrong, else that its observation is fit."""
    return finding if wrong else Finding(finding.name, FIT, finding.seen)


def steal(machine: Observed) -> Finding | None:
    """Look at what the host takes of the CPUs' time."""
    share = machine.noise.get("steal")
    if share is None:
        return None
    seen = f"{share:.1%} of the CPUs' time"
    effect = f"launches in which the host takes more than {STEAL_SHARE:.0%} are flagged and repeated"
    fix = "measure when the host is quiet, or ask for CPUs of your own"
    return judged(share > STEAL_SHARE, Finding("steal", RESERVATION, seen, effect, "ipclab/machine/conditions.py", fix))


def run_queue(machine: Observed) -> Finding | None:
    """Look at the other tasks that run."""
    tasks, busy = machine.noise.get("queue"), machine.noise.get("busy")
    if tasks is None:
        return None
    used = "" if busy is None else f", {busy:.0%} of the CPUs' time used"
    effect = (
        f"a worker that waits for a CPU more than {QUEUE_SHARE:.0%} of its time is flagged; "
        "a busy CPU also stays awake: pipe round trips took 5.2 us on a busy machine and 41 us on a quiet one"
    )
    source, fix = "ipclab/machine/conditions.py; docs/machines.md", "end what else runs: top -o %CPU"
    seen = f"{tasks:.2f} other tasks a CPU{used}"
    return judged(tasks > QUEUE_SHARE, Finding("run queue", RESERVATION, seen, effect, source, fix))


def interrupts(machine: Observed) -> Finding | None:
    """Look at the interrupts that the CPUs serve."""
    rate = machine.noise.get("interrupts")
    if rate is None:
        return None
    effect = f"at about 2 us each they take {rate * INTERRUPT_SECONDS:.1%} of a CPU"
    fix = "see who makes them (cat /proc/interrupts) and move them: echo CPU > /proc/irq/N/smp_affinity_list"
    seen = f"{rate:,.0f} a second and CPU"
    return judged(rate > MOST_INTERRUPTS, Finding("interrupts", RESERVATION, seen, effect, "estimate", fix))


def governor(machine: Observed) -> Finding | None:
    """Look at the frequency governor."""
    name = machine.fact("frequency_governor")
    if name is None:
        return None
    slowest, fastest = machine.fact("frequency_min"), machine.fact("frequency_max")
    times = f"{fastest / slowest:.1f} times" if slowest and fastest else "several times"
    effect = f"the clock may be {times} slower when a launch begins"
    fix = "cpupower frequency-set -g performance"
    finding = Finding("governor", RESERVATION, name, effect, "frequency_min, frequency_max", fix)
    return judged(name != "performance", finding)


def turbo(machine: Observed) -> Finding | None:
    """Look at whether the clock may rise."""
    boost = machine.fact("boost")
    if boost is None:
        return None
    effect = "the clock then depends on heat and on what other cores do, by some ten per cent"
    fix = "echo 0 > /sys/devices/system/cpu/cpufreq/boost (intel_pstate: echo 1 > .../intel_pstate/no_turbo)"
    return judged(boost, Finding("turbo", NOTE, "on" if boost else "off", effect, "estimate", fix))


def smt(machine: Observed) -> Finding | None:
    """Look at the threads that share a core."""
    threads = machine.fact("threads_per_core")
    if threads is None:
        return None
    effect = "siblings share a core; points on two CPUs use two cores, points on siblings are named cross-smt"
    source, fix = "ipclab/machine/topology.py", "echo off > /sys/devices/system/cpu/smt/control"
    return judged(threads > 1, Finding("SMT", NOTE, f"{threads} threads a core", effect, source, fix))


def cpus(machine: Observed) -> Finding | None:
    """Look at the CPUs that this process may use."""
    allowed = machine.fact("cpus_allowed")
    if allowed is None:
        return None
    effect = "what needs two CPUs is not testable here"
    fix = "give two or more: taskset, docker run --cpuset-cpus, AllowedCPUs="
    return judged(allowed.isdigit(), Finding("CPUs", RESERVATION, allowed, effect, "ipclab/machine/placement.py", fix))


def virtual_machine(machine: Observed) -> Finding | None:
    """Look at the hypervisor, and at how its guests idle."""
    kind = machine.fact("virtualisation")
    if kind is None:
        return None
    same, cross = machine.took("futex-wake same"), machine.took("futex-wake cross")
    effect = (
        f"an idle virtual CPU halts, and the host decides when it runs: a wake takes {same} on one CPU, {cross} on two"
    )
    fix = "in the guest: modprobe cpuidle_haltpoll; on the host: qemu -overcommit cpu-pm=on"
    source = f"limit futex-wake of {machine.measured_on}"
    wrong = kind != "none" and machine.fact("idle_governor") != "haltpoll"
    return judged(wrong, Finding("virtual machine", RESERVATION, kind, effect, source, fix))


def clock(machine: Observed) -> Finding | None:
    """Look at the clock source, where a better one is on offer."""
    name = machine.fact("clocksource")
    if name is None:
        return None
    syscall, plain = machine.took("syscall same"), machine.took("clock same")
    effect = f"reading another clock may enter the kernel: {syscall} instead of {plain}"
    fix = "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"
    source = f"limits syscall and clock of {machine.measured_on}"
    wrong = name != "tsc" and "tsc" in (machine.fact("clocksources") or [])
    return judged(wrong, Finding("clock", RESERVATION, name, effect, source, fix))


def cpu_quota(machine: Observed) -> Finding:
    """Look at the CPU time that this process's group is granted."""
    quota = machine.fact("cpu_quota")
    seen = "none"
    if quota is not None:
        seen = f"{quota:g} CPUs, held back {machine.noise.get('throttled') or 0:.1%} of the time"
    effect = "once the quota is used, every process of the group stands still for the rest of its period (100 ms)"
    fix = "docker run without --cpus; systemctl set-property UNIT CPUQuota="
    finding = Finding("CPU quota", RESERVATION, seen, effect, "Linux: cgroup v2, cpu.max", fix)
    return judged(quota is not None, finding)


def memory_limit(machine: Observed) -> Finding:
    """Look at the memory that this process's group is granted."""
    limit = machine.fact("memory_limit")
    seen = "none" if limit is None else f"{limit / GIB:.1f} GiB"
    effect = "below 2 GiB the largest payloads and the reports may be killed"
    fix = "docker run --memory=4g; MemoryMax="
    wrong = limit is not None and limit < 2 * GIB
    return judged(wrong, Finding("memory limit", RESERVATION, seen, effect, "benchmarks/samples.py", fix))


def shared_memory(machine: Observed) -> Finding | None:
    """Look at the room in /dev/shm."""
    free, fault = machine.fact("shm_free"), machine.shm_fault
    if not fault and free is None:
        return None
    seen = f"{fault or f'{free / MIB:,.0f} MiB free'}, {machine.need / MIB:,.1f} MiB needed"
    fix = (
        "docker run --shm-size=1g; mount -o remount,rw,size=1G /dev/shm; "
        "where there is none: mkdir /dev/shm && mount -t tmpfs -o mode=1777 tmpfs /dev/shm"
    )
    source = "ipclab/measure/session.py"
    wrong = bool(fault) or free < machine.need
    return judged(wrong, Finding("/dev/shm", RESERVATION, seen, "nothing is measured", source, fix))


def data_folder(machine: Observed) -> Finding | None:
    """Look at the room in the data folder."""
    free = machine.fact("scratch_free")
    if free is None:
        return None
    effect, fix = "files on disk and raw samples may not fit", "free some, or move the data: IPCLAB_DATA=/other/folder"
    finding = Finding("data folder", RESERVATION, f"{free / GIB:,.1f} GiB free", effect, "ipclab/studies", fix)
    return judged(free < GIB, finding)


def open_files(machine: Observed) -> Finding | None:
    """Look at the files that a process may have open."""
    limit = machine.fact("open_files_soft")
    if limit is None:
        return None
    effect = "many readers or streams at once run out of descriptors: those points fail"
    finding = Finding("open files", RESERVATION, f"{limit:,}", effect, "getrlimit(2)", "ulimit -n 4096")
    return judged(limit < LEAST_FILES, finding)


def locked_memory(machine: Observed) -> Finding | None:
    """Look at the memory that a process may lock."""
    limit = machine.fact("locked_memory")
    if limit is None:
        return None
    effect = "io_uring on older kernels and locked buffers are refused"
    seen = f"{limit / MIB:,.1f} MiB"
    finding = Finding("locked memory", NOTE, seen, effect, "getrlimit(2)", "ulimit -l unlimited")
    return judged(limit < 8 * MIB, finding)


def container(machine: Observed) -> Finding | None:
    """Look at whether this is a container."""
    kind = machine.fact("container")
    if kind is None:
        return None
    effect = "none on time by itself; its limits stand above, and it may forbid io_uring and the counters"
    fix = "docker run --security-opt seccomp=unconfined, or measure outside"
    return judged(kind != "none", Finding("container", NOTE, kind, effect, "container", fix))


def io_uring(machine: Observed) -> Finding | None:
    """Look at whether the kernel's rings may be used."""
    allowed = machine.fact("io_uring")
    if allowed is None:
        return None
    effect, fix = "reading files by io_uring is not testable here", "sysctl kernel.io_uring_disabled=0"
    seen = "allowed" if allowed else "forbidden"
    return judged(not allowed, Finding("io_uring", RESERVATION, seen, effect, "io_uring", fix))


def mpi_network(machine: Observed) -> Finding | None:
    """Look at whether MPI's daemon can have a network of its own."""
    if not machine.present.get("MPI") or machine.alone is None:
        return None
    effect = "while ranks run, Open MPI's daemon listens on all addresses of this host"
    fix = (
        "run as root, or allow namespaces to users: sysctl user.max_user_namespaces=1000 "
        "kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0; "
        "or keep a firewall around it"
    )
    seen = "of its own" if machine.alone else "the host's"
    return judged(not machine.alone, Finding("MPI network", NOTE, seen, effect, "unshare -Urn true", fix))


CHECKS = (
    steal, run_queue, interrupts, governor, turbo, smt, cpus, virtual_machine, clock, cpu_quota, memory_limit,
    shared_memory, data_folder, open_files, locked_memory, container, io_uring, mpi_network,
)  # fmt: skip
# Parts of the software, with what is missing without them and what brings them.
SOFTWARE = (
    (
        "native",
        "the hardware's limits and the native mechanisms are not testable here",
        "install Rust, then: make setup",
    ),
    ("MPI", "arms between nodes are not testable here", ""),
    ("Go", "the stream multiplexer is not testable here", ""),
    ("fonts", "figures in Korean and Chinese cannot be drawn, so no report is made", ""),
)


def _software(machine: Observed, name: str, effect: str, fix: str) -> Finding | None:
    ready = machine.present.get(name)
    if ready is None:
        return None
    seen = "ready" if ready else "absent"
    return judged(not ready, Finding(name, RESERVATION, seen, effect, "ipclab backends", fix or typed("setup")))


def isolation(machine: Observed) -> Finding | None:
    """Look at what would isolate two ends from a process that computes on their CPU."""
    plain = machine.isolation.get("own-cpu/plain")
    if plain is None:
        return None
    best = min(machine.isolation, key=lambda way: machine.isolation[way])
    least = machine.isolation[best]
    what, fix = ISOLATED.get(best, ("", ""))
    seen = f"{plain:,.0f} ns for a unix round trip beside a process that computes on its CPU"
    effect = f"{what} would gain {plain / least:.1f} times: {least:,.0f} ns"
    source = "study neighbours, newest run with it"
    return judged(plain > ISOLATION_GAIN * least, Finding("isolation", NOTE, seen, effect, source, fix))
