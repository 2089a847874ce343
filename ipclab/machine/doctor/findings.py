"""What each observation means: fit, a note, or a reservation with its effect, where that is known from, the fix."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ipclab.machine.doctor.noise import Noise
from ipclab.facts.fact import Fact
from ipclab.machine import Value
from ipclab.machine.conditions import QUEUE_SHARE, STEAL_SHARE

FIT, NOTE, RESERVATION = "fit", "note", "reservation"
INTERRUPT_NS = 2_000
INTERRUPT_SHARE = 0.01
MIB, GIB = 1 << 20, 1 << 30
LEAST_FILES, LEAST_LOCKED, LEAST_MEMORY, LEAST_ROOM = 1_024, 8 * MIB, 2 * GIB, GIB
THRESHOLDS = "ipclab/machine/conditions.py"


@dataclass(frozen=True)
class Finding:
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

    `facts` are the machine's (`ipclab.machine.FACTS`), `present` tells which parts of the software are there,
    `need` is the shared memory (bytes) of the largest point, and `measured` the facts of a run on this machine, or of
    the reference run when there is none (`measured_on` says which).
    """

    facts: Mapping[str, Value]
    noise: Noise
    present: Mapping[str, bool]
    need: int
    measured: Mapping[str, Fact]
    measured_on: str


Check = Callable[[Observed], Iterator[Finding]]


def examine(seen: Observed) -> list[Finding]:
    """Return every finding, in a fixed order; what the machine does not tell gives none."""
    return [finding for check in CHECKS for finding in check(seen)]


def _steal(seen: Observed) -> Iterator[Finding]:
    share = seen.noise.steal
    if share is not None:
        effect = f"launches in which the host takes more than {STEAL_SHARE:.0%} are flagged and repeated"
        fix = "measure when the host is quiet, or ask for CPUs of your own"
        yield _judge("steal", share > STEAL_SHARE, f"{share:.1%} of the CPUs' time", effect, THRESHOLDS, fix)


def _queue(seen: Observed) -> Iterator[Finding]:
    queue, busy = seen.noise.queue, seen.noise.busy
    if queue is None:
        return
    used = "" if busy is None else f", {busy:.0%} of the CPUs' time used"
    effect = (
        f"a worker that waits for a CPU more than {QUEUE_SHARE:.0%} of its time is flagged; a busy CPU also stays "
        "awake: pipe round trips took 5.2 us on a busy machine and 41 us on a quiet one"
    )
    told = f"{queue:.2f} other tasks a CPU{used}"
    source = f"{THRESHOLDS}; docs/machines.md"
    yield _judge("run queue", queue > QUEUE_SHARE, told, effect, source, "end what else runs: top -o %CPU")


def _interrupts(seen: Observed) -> Iterator[Finding]:
    rate = seen.noise.interrupts
    if rate is not None:
        share = rate * INTERRUPT_NS / 1e9
        effect = f"at about {INTERRUPT_NS / 1000:g} us each they take {share:.1%} of a CPU"
        fix = "see who makes them (cat /proc/interrupts) and move them: echo CPU > /proc/irq/N/smp_affinity_list"
        yield _judge("interrupts", share > INTERRUPT_SHARE, f"{rate:,.0f} a second and CPU", effect, "estimate", fix)


def _governor(seen: Observed) -> Iterator[Finding]:
    governor = seen.facts.get("frequency_governor")
    low, high = (seen.facts.get(f"frequency_{end}") for end in ("min", "max"))
    if governor is not None:
        times = f"{high / low:.1f} times" if isinstance(low, int) and isinstance(high, int) and low else "several times"
        effect = f"the clock may be {times} slower when a launch begins"
        fix = "cpupower frequency-set -g performance"
        yield _judge("governor", governor != "performance", str(governor), effect, "frequency_min, frequency_max", fix)


def _turbo(seen: Observed) -> Iterator[Finding]:
    boost = seen.facts.get("boost")
    if boost is not None:
        effect = "the clock then depends on heat and on what other cores do, by some ten per cent"
        fix = "echo 0 > /sys/devices/system/cpu/cpufreq/boost (intel_pstate: echo 1 > .../intel_pstate/no_turbo)"
        yield _judge("turbo", bool(boost), "on" if boost else "off", effect, "estimate", fix, NOTE)


def _smt(seen: Observed) -> Iterator[Finding]:
    threads = seen.facts.get("threads_per_core")
    if isinstance(threads, int):
        effect = "siblings share a core; points on two CPUs use two cores, points on siblings are named cross-smt"
        fix = "echo off > /sys/devices/system/cpu/smt/control"
        yield _judge("SMT", threads > 1, f"{threads} threads a core", effect, "ipclab/machine/topology.py", fix, NOTE)


def _cpus(seen: Observed) -> Iterator[Finding]:
    allowed = str(seen.facts.get("cpus_allowed") or "")
    if allowed:
        effect = "what needs two CPUs is not testable here"
        fix = "give two or more: taskset, docker run --cpuset-cpus, AllowedCPUs="
        yield _judge("CPUs", allowed.isdigit(), allowed, effect, "ipclab/placement.py", fix)


def _waking(seen: Observed) -> Iterator[Finding]:
    kind, governor = seen.facts.get("virtualisation"), seen.facts.get("idle_governor")
    if kind is None:
        return
    same, cross = (_micros(seen, f"limit.futex-wake.{place}") for place in ("same", "cross"))
    effect = (
        f"an idle virtual CPU halts, and the host decides when it runs: a wake takes {same} on one CPU, {cross} on two"
    )
    fix = "in the guest: modprobe cpuidle_haltpoll; on the host: qemu -overcommit cpu-pm=on"
    wrong = kind != "none" and governor != "haltpoll"
    yield _judge("virtual machine", wrong, str(kind), effect, f"limit.futex-wake of {seen.measured_on}", fix)


def _micros(seen: Observed, name: str) -> str:
    fact = seen.measured.get(name)
    return f"{fact.value / 1000:.1f} us" if fact and isinstance(fact.value, int | float) else "an unknown time"


def _clock(seen: Observed) -> Iterator[Finding]:
    source, known = seen.facts.get("clocksource"), seen.facts.get("clocksources")
    if source is not None:
        effect = (
            f"reading another clock may enter the kernel: {_nanos(seen, 'syscall')} instead of {_nanos(seen, 'clock')}"
        )
        fix = "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"
        wrong = source != "tsc" and isinstance(known, list) and "tsc" in known
        yield _judge("clock", wrong, str(source), effect, f"limit.syscall, limit.clock of {seen.measured_on}", fix)


def _nanos(seen: Observed, name: str) -> str:
    fact = seen.measured.get(f"limit.{name}")
    return f"{fact.value:.0f} ns" if fact and isinstance(fact.value, int | float) else "an unknown time"


def _quota(seen: Observed) -> Iterator[Finding]:
    quota, throttled = seen.facts.get("cpu_quota"), seen.noise.throttled or 0.0
    told = "none" if quota is None else f"{quota:g} CPUs, held back {throttled:.1%} of the time"
    effect = "once the quota is used, every process of the group stands still for the rest of its period (100 ms)"
    fix = "docker run without --cpus; systemctl set-property UNIT CPUQuota="
    yield _judge("CPU quota", quota is not None, told, effect, "Linux: cgroup v2, cpu.max", fix)


def _memory(seen: Observed) -> Iterator[Finding]:
    limit = seen.facts.get("memory_limit")
    small = isinstance(limit, int) and limit < LEAST_MEMORY
    told = f"{limit / GIB:.1f} GiB" if isinstance(limit, int) else "none"
    effect = "below 2 GiB the largest payloads and the reports may be killed"
    yield _judge("memory limit", small, told, effect, "benchmarks/samples.py", "docker run --memory=4g; MemoryMax=")


def _shared(seen: Observed) -> Iterator[Finding]:
    free = seen.facts.get("shm_free")
    if isinstance(free, int):
        told = f"{free / MIB:,.0f} MiB free, {seen.need / MIB:,.1f} needed"
        fix = "docker run --shm-size=1g; mount -o remount,size=1G /dev/shm"
        yield _judge("/dev/shm", free < seen.need, told, "nothing is measured", "ipclab/measuring.py", fix)


def _room(seen: Observed) -> Iterator[Finding]:
    free = seen.facts.get("scratch_free")
    if isinstance(free, int):
        effect = "files on disk and raw samples may not fit"
        fix = "free some, or move the data: IPCLAB_DATA=/other/folder"
        told = f"{free / GIB:,.1f} GiB free"
        yield _judge("data folder", free < LEAST_ROOM, told, effect, "ipclab/studies", fix)


def _limits(seen: Observed) -> Iterator[Finding]:
    files, locked = seen.facts.get("open_files_soft"), seen.facts.get("locked_memory")
    if isinstance(files, int):
        effect = "many readers or streams at once run out of descriptors: those points fail"
        yield _judge("open files", files < LEAST_FILES, f"{files:,}", effect, "getrlimit(2)", "ulimit -n 4096")
    if isinstance(locked, int):
        effect = "io_uring on older kernels and locked buffers are refused"
        told = f"{locked / MIB:,.1f} MiB"
        yield _judge("locked memory", locked < LEAST_LOCKED, told, effect, "getrlimit(2)", "ulimit -l unlimited", NOTE)


def _container(seen: Observed) -> Iterator[Finding]:
    kind = seen.facts.get("container")
    if kind is not None:
        effect = "none on time by itself; its limits stand above, and it may forbid io_uring and the counters"
        fix = "docker run --security-opt seccomp=unconfined, or measure outside"
        yield _judge("container", kind != "none", str(kind), effect, "container", fix, NOTE)


def _ring(seen: Observed) -> Iterator[Finding]:
    allowed = seen.facts.get("io_uring")
    if allowed is not None:
        effect = "reading files by io_uring is not testable here"
        told = "allowed" if allowed else "forbidden"
        yield _judge("io_uring", not allowed, told, effect, "io_uring", "sysctl kernel.io_uring_disabled=0")


SOFTWARE = {
    "native": (
        "the hardware's limits and the native mechanisms are not testable here",
        "install Rust, then: make setup",
    ),
    "MPI": ("arms between nodes are not testable here", "make setup"),
    "Go": ("the stream multiplexer is not testable here", "make setup"),
    "fonts": ("figures in Korean and Chinese cannot be drawn, so no report is made", "make setup"),
}


def _software(seen: Observed) -> Iterator[Finding]:
    for name, (effect, fix) in SOFTWARE.items():
        if name in seen.present:
            there = seen.present[name]
            yield _judge(name, not there, "ready" if there else "absent", effect, "ipclab backends", fix)


def _judge(name: str, wrong: bool, seen: str, effect: str, source: str, fix: str, state: str = RESERVATION) -> Finding:
    return Finding(name, state, seen, effect, source, fix) if wrong else Finding(name, FIT, seen)


CHECKS: tuple[Check, ...] = (
    *(_steal, _queue, _interrupts, _governor, _turbo, _smt, _cpus, _waking, _clock),
    *(_quota, _memory, _shared, _room, _limits, _container, _ring, _software),
)
