"""What was observed of a machine, and what makes it unfit to measure: with effect, source, fix."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ipclab.machine.conditions import QUEUE_SHARE, STEAL_SHARE
from ipclab.machine.facts import Value
from ipclab.paths import typed

FIT, NOTE, RESERVATION = "fit", "note", "reservation"
Noise = dict[str, float | None]
US, MIB, GIB = 1_000, 1 << 20, 1 << 30
MOST_INTERRUPTS = 5_000  # a second and CPU
INTERRUPT_SECONDS = 2e-6  # what one takes, about
LEAST_FILES = 1_024
# What is lost without a part of the software.
LOST = {
    "native": "the hardware's limits and the native mechanisms are not testable here",
    "MPI": "arms between nodes are not testable here",
    "Go": "the stream multiplexer is not testable here",
    "fonts": "figures in Korean and Chinese cannot be drawn, so no report is made",
}


class Diagnosis(NamedTuple):
    """One observation: what was `seen`; if it is `wrong`, its `grade`, `effect` and `fix`."""

    name: str
    wrong: Any
    seen: str
    effect: str
    source: str
    fix: str
    grade: str = RESERVATION

    @property
    def state(self) -> str:
        """Return how fit the machine is in this: `FIT`, `NOTE` or `RESERVATION`."""
        return self.grade if self.wrong else FIT


@dataclass(frozen=True)
class Observed:
    """What a diagnosis may look at.

    `present` tells which parts of the software are there, `need` is the shared memory (bytes) of
    the largest point, `shm_fault` why /dev/shm cannot be used, `alone` whether MPI's daemon can have
    a network of its own (None: unknown), `times` (ns) are limits of the run `measured_on`.
    """

    facts: Mapping[str, Value]
    noise: Noise
    present: Mapping[str, bool]
    need: int = 0
    shm_fault: str = ""
    alone: bool | None = None
    times: Mapping[str, float] = field(default_factory=dict)
    measured_on: str = "no run"

    def fact(self, name: str) -> Any:
        """Return a fact of the machine, None where it is not told."""
        return self.facts.get(name)

    def took(self, limit: str) -> str:
        """Return how long a limit took, in words."""
        ns = self.times.get(limit)
        if ns is None:
            return "an unknown time"
        return f"{ns / US:.1f} us" if ns >= US else f"{ns:.0f} ns"


def examine(machine: Observed) -> list[Diagnosis]:
    """Return every diagnosis in its order; what the machine does not tell gives none."""
    parts = (_noise, _clock_rate, _processor, _groups, _room, _rights, _software)
    return [diagnosis for part in parts for diagnosis in part(machine)]


def _noise(machine: Observed) -> Iterator[Diagnosis]:
    noise = machine.noise
    if (share := noise.get("steal")) is not None:
        yield Diagnosis(
            "steal",
            share > STEAL_SHARE,
            f"{share:.1%} of the CPUs' time",
            effect=f"launches in which the host takes more than {STEAL_SHARE:.0%} are flagged and"
            " repeated",
            source="ipclab/machine/conditions.py",
            fix="measure when the host is quiet, or ask for CPUs of your own",
        )
    if (tasks := noise.get("queue")) is not None:
        busy = noise.get("busy")
        used = "" if busy is None else f", {busy:.0%} of the CPUs' time used"
        yield Diagnosis(
            "run queue",
            tasks > QUEUE_SHARE,
            f"{tasks:.2f} other tasks a CPU{used}",
            effect=f"a worker that waits for a CPU more than {QUEUE_SHARE:.0%} of its time is"
            " flagged; a busy CPU also stays awake: pipe round trips took 5.2 us on a busy machine"
            " and 41 us on a quiet one",
            source="ipclab/machine/conditions.py; docs/machines.md",
            fix="end what else runs: top -o %CPU",
        )
    if (rate := noise.get("interrupts")) is not None:
        yield Diagnosis(
            "interrupts",
            rate > MOST_INTERRUPTS,
            f"{rate:,.0f} a second and CPU",
            effect=f"at about 2 us each they take {rate * INTERRUPT_SECONDS:.1%} of a CPU",
            source="estimate",
            fix="see who makes them (cat /proc/interrupts) and move them: echo CPU >"
            " /proc/irq/N/smp_affinity_list",
        )


def _clock_rate(machine: Observed) -> Iterator[Diagnosis]:
    if name := machine.fact("frequency_governor"):
        slowest = machine.fact("frequency_min")
        fastest = machine.fact("frequency_max")
        times = f"{fastest / slowest:.1f} times" if slowest and fastest else "several times"
        yield Diagnosis(
            "governor",
            name != "performance",
            name,
            effect=f"the clock may be {times} slower when a launch begins",
            source="frequency_min, frequency_max",
            fix="cpupower frequency-set -g performance",
        )
    if (boost := machine.fact("boost")) is not None:
        yield Diagnosis(
            "turbo",
            boost,
            "on" if boost else "off",
            grade=NOTE,
            effect="the clock then depends on heat and on what other cores do, by some ten per cent",
            source="estimate",
            fix="echo 0 > /sys/devices/system/cpu/cpufreq/boost (intel_pstate: echo 1 >"
            " .../intel_pstate/no_turbo)",
        )


def _processor(machine: Observed) -> Iterator[Diagnosis]:
    if threads := machine.fact("threads_per_core"):
        yield Diagnosis(
            "SMT",
            threads > 1,
            f"{threads} threads a core",
            grade=NOTE,
            effect="siblings share a core; points on two CPUs use two cores, points on siblings are"
            " named cross-smt",
            source="ipclab/machine/topology.py",
            fix="echo off > /sys/devices/system/cpu/smt/control",
        )
    if cpus := machine.fact("cpus_allowed"):
        yield Diagnosis(
            "CPUs",
            cpus.isdigit(),
            cpus,
            effect="what needs two CPUs is not testable here",
            source="ipclab/machine/placement.py",
            fix="give two or more: taskset, docker run --cpuset-cpus, AllowedCPUs=",
        )
    if kind := machine.fact("virtualisation"):
        same = machine.took("futex-wake same")
        cross = machine.took("futex-wake cross")
        yield Diagnosis(
            "virtual machine",
            kind != "none" and machine.fact("idle_governor") != "haltpoll",
            kind,
            effect="an idle virtual CPU halts, and the host decides when it runs: a wake takes"
            f" {same} on one CPU, {cross} on two",
            source=f"limit futex-wake of {machine.measured_on}",
            fix="in the guest: modprobe cpuidle_haltpoll; on the host: qemu -overcommit cpu-pm=on",
        )
    if clock := machine.fact("clocksource"):
        syscall = machine.took("syscall same")
        plain = machine.took("clock same")
        yield Diagnosis(
            "clock",
            clock != "tsc" and "tsc" in (machine.fact("clocksources") or []),
            clock,
            effect=f"reading another clock may enter the kernel: {syscall} instead of {plain}",
            source=f"limits syscall and clock of {machine.measured_on}",
            fix="echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource",
        )


def _groups(machine: Observed) -> Iterator[Diagnosis]:
    quota = machine.fact("cpu_quota")
    held_back = f"{machine.noise.get('throttled') or 0:.1%} of the time"
    yield Diagnosis(
        "CPU quota",
        quota is not None,
        "none" if quota is None else f"{quota:g} CPUs, held back {held_back}",
        effect="once the quota is used, every process of the group stands still for the rest of its"
        " period (100 ms)",
        source="Linux: cgroup v2, cpu.max",
        fix="docker run without --cpus; systemctl set-property UNIT CPUQuota=",
    )
    limit = machine.fact("memory_limit")
    yield Diagnosis(
        "memory limit",
        limit is not None and limit < 2 * GIB,
        "none" if limit is None else f"{limit / GIB:.1f} GiB",
        effect="below 2 GiB the largest payloads and the reports may be killed",
        source="docs/machines.md",
        fix="docker run --memory=4g; MemoryMax=",
    )


def _room(machine: Observed) -> Iterator[Diagnosis]:
    free = machine.fact("shm_free")
    fault = machine.shm_fault
    if fault or free is not None:
        yield Diagnosis(
            "/dev/shm",
            fault or free < machine.need,
            f"{fault or f'{free / MIB:,.0f} MiB free'}, {machine.need / MIB:,.1f} MiB needed",
            effect="nothing is measured",
            source="ipclab/session/room.py",
            fix="docker run --shm-size=1g; mount -o remount,rw,size=1G /dev/shm; where there is"
            " none: mkdir /dev/shm && mount -t tmpfs -o mode=1777 tmpfs /dev/shm",
        )
    if (free := machine.fact("scratch_free")) is not None:
        yield Diagnosis(
            "data folder",
            free < GIB,
            f"{free / GIB:,.1f} GiB free",
            effect="files on disk and raw samples may not fit",
            source="ipclab/studies",
            fix="free some, or move the data: IPCLAB_DATA=/other/folder",
        )


def _rights(machine: Observed) -> Iterator[Diagnosis]:
    if (files := machine.fact("open_files_soft")) is not None:
        yield Diagnosis(
            "open files",
            files < LEAST_FILES,
            f"{files:,}",
            effect="many readers or streams at once run out of descriptors: those points fail",
            source="getrlimit(2)",
            fix="ulimit -n 4096",
        )
    if (locked := machine.fact("locked_memory")) is not None:
        yield Diagnosis(
            "locked memory",
            locked < 8 * MIB,
            f"{locked / MIB:,.1f} MiB",
            grade=NOTE,
            effect="io_uring on older kernels and locked buffers are refused",
            source="getrlimit(2)",
            fix="ulimit -l unlimited",
        )
    if container := machine.fact("container"):
        yield Diagnosis(
            "container",
            container != "none",
            container,
            grade=NOTE,
            effect="none on time by itself; its limits stand above, and it may forbid io_uring and"
            " the counters",
            source="container",
            fix="docker run --security-opt seccomp=unconfined, or measure outside",
        )
    if (allowed := machine.fact("io_uring")) is not None:
        yield Diagnosis(
            "io_uring",
            not allowed,
            "allowed" if allowed else "forbidden",
            effect="reading files by io_uring is not testable here",
            source="io_uring",
            fix="sysctl kernel.io_uring_disabled=0",
        )
    if machine.present.get("MPI") and machine.alone is not None:
        yield Diagnosis(
            "MPI network",
            not machine.alone,
            "of its own" if machine.alone else "the host's",
            grade=NOTE,
            effect="while ranks run, Open MPI's daemon listens on all addresses of this host",
            source="unshare -Urn true",
            fix="run as root, or allow namespaces to users: sysctl user.max_user_namespaces=1000"
            " kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0; or"
            " keep a firewall around it",
        )


def _software(machine: Observed) -> Iterator[Diagnosis]:
    for name, effect in LOST.items():
        if (ready := machine.present.get(name)) is not None:
            yield Diagnosis(
                name,
                not ready,
                "ready" if ready else "absent",
                effect=effect,
                source="ipclab backends",
                fix="install Rust, then: make setup" if name == "native" else typed("setup"),
            )
