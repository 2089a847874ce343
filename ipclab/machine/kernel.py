"""Facts about the kernel: release, scheduling, clock, virtualisation, mitigations."""

import gzip

from ipclab.machine.parse import chosen
from ipclab.machine.registry import Group
from ipclab.machine.source import AbsentError, Source
from ipclab.machine.topology import CPUS

GROUP = Group("kernel", "Kernel")
CLOCK = "/sys/devices/system/clocksource/clocksource0"
VULNERABILITIES = f"{CPUS}/vulnerabilities"
HALT_POLL = "/sys/module/haltpoll/parameters/guest_halt_poll_ns"
RELEASE = "/proc/sys/kernel/osrelease"

# Only these options of the command line are kept: others may name disks, hosts and addresses.
OPTIONS = (
    "mitigations", "isolcpus", "nohz", "rcu_nocb", "idle", "processor.max_cstate", "intel_idle",
    "intel_pstate", "amd_pstate", "cpufreq", "cpuidle", "haltpoll", "nosmt", "maxcpus", "nr_cpus", "mem",
    "hugepages", "hugepagesz", "default_hugepagesz", "transparent_hugepage", "preempt", "clocksource",
    "tsc", "psi", "cgroup", "numa", "spectre", "nospectre", "pti", "nopti", "retbleed",
    "spec_store_bypass_disable", "l1tf", "mds", "tsx", "threadirqs", "skew_tick", "nowatchdog",
    "nmi_watchdog", "irqaffinity", "audit", "init_on", "slub_debug", "page_alloc",
    "randomize_kstack_offset", "swiotlb", "sched", "nokaslr",
)  # fmt: skip
CONFIG = ("CONFIG_HZ", "CONFIG_NO_HZ_FULL", "CONFIG_NO_HZ_IDLE", "CONFIG_HZ_PERIODIC", "CONFIG_PREEMPT")


def options(source: Source) -> list[str]:
    """Return the options of the kernel command line that matter here, in their order."""
    words = source.read("/proc/cmdline").partition(" -- ")[0].split()
    kept = [word for word in words if word.partition("=")[0].startswith(OPTIONS)]
    source.keep("/proc/cmdline", " ".join(kept))
    return kept


def config(source: Source) -> dict[str, str]:
    """Return the build options about ticks and preemption; raise `AbsentError` when not told."""
    return source.once("config", lambda: _config(source))


def _config(source: Source) -> dict[str, str]:
    name = "/proc/config.gz"
    try:
        text = gzip.decompress(source.bytes(name)).decode(errors="replace")
    except AbsentError:
        name = f"/boot/config-{source.text(RELEASE).strip()}"
        text = source.read(name)
    lines = [line for line in text.splitlines() if line.startswith(CONFIG)]
    source.keep(name, "\n".join(lines))
    return dict(line.split("=", 1) for line in lines if "=" in line)


GROUP.add("kernel_release", "Kernel release", str, lambda source: source.text(RELEASE).strip(), identifies=True)
GROUP.file("kernel_version", "Kernel build", "/proc/sys/kernel/version", str, str)
GROUP.add("architecture", "Architecture", str, lambda source: source.system.uname()[1], identifies=True)
GROUP.add("kernel_options", "Kernel options that matter here", list, options)


@GROUP.fact("Preemption model", str)
def _preemption(source: Source) -> str:
    try:
        return chosen(source.text("/sys/kernel/debug/sched/preempt"))
    except AbsentError:
        pass
    asked = [word.partition("=")[2] for word in options(source) if word.startswith("preempt=")]
    if asked:
        return asked[-1]
    built = config(source)
    for name, model in (
        ("_RT", "rt"),
        ("_LAZY", "lazy"),
        ("_NONE", "none"),
        ("_VOLUNTARY", "voluntary"),
        ("", "full"),
    ):
        if built.get(f"CONFIG_PREEMPT{name}") == "y":
            return model
    raise AbsentError


GROUP.add("timer_frequency", "Timer tick", int, lambda s: int(config(s)["CONFIG_HZ"]), unit="Hz")


@GROUP.fact("When the timer tick stops", str)
def _tickless(source: Source) -> str:
    built = config(source)
    for name, mode in (("NO_HZ_FULL", "full"), ("NO_HZ_IDLE", "idle"), ("HZ_PERIODIC", "never")):
        if built.get(f"CONFIG_{name}") == "y":
            return mode
    raise AbsentError


GROUP.file("cpus_isolated", "Isolated CPUs", f"{CPUS}/isolated", str, str)
GROUP.file("cpus_tickless", "Tickless CPUs", f"{CPUS}/nohz_full", lambda text: text.replace("(null)", ""), str)
GROUP.file("clocksource", "Clock source", f"{CLOCK}/current_clocksource", str, str)
GROUP.file("clocksources", "Clock sources available", f"{CLOCK}/available_clocksource", str.split, list)
GROUP.add("clock_resolution", "Clock resolution", int, lambda s: s.system.clock_resolution(), unit="ns")
GROUP.file("halt_polling_guest", "Polling before halt, by the guest", HALT_POLL, unit="ns")
GROUP.file(
    "halt_polling_host",
    "Polling before halt, by the host",
    "/sys/module/kvm/parameters/halt_poll_ns",
    unit="ns",
)
GROUP.file("autogroup", "Scheduling by session", "/proc/sys/kernel/sched_autogroup_enabled")
GROUP.file("scheduler_features", "Scheduler features", "/sys/kernel/debug/sched/features", str.split, list)
GROUP.file("scheduler_extension", "Scheduler extension", "/sys/kernel/sched_ext/state", str, str)
GROUP.file(
    "realtime_runtime",
    "Microseconds of each period for real-time tasks",
    "/proc/sys/kernel/sched_rt_runtime_us",
)
GROUP.file("timer_migration", "Timer migration", "/proc/sys/kernel/timer_migration")


@GROUP.fact("Vulnerabilities and mitigations", dict)
def _mitigations(source: Source) -> dict[str, str]:
    names = source.names(VULNERABILITIES)
    if not names:
        raise AbsentError
    return {name: source.text(f"{VULNERABILITIES}/{name}").strip() for name in names}
