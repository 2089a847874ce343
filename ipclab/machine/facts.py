"""What is known of a machine: a table with one line for each fact."""

import platform
import resource
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

# isort: off
from ipclab import __version__
from ipclab.machine.cgroup import cpu_quota, memory_limit
from ipclab.machine.hardware import (
    DMI, FREQUENCY, boost, cache, cache_sharing, container, cpuinfo, features, frequency_now, idle_states,
    init_manages, installed, meminfo, model, sharing, topology, vendor, virtualisation,
)  # fmt: skip
from ipclab.machine.parse import bounded, chosen, cpu_list, kilo, number, numbers, size
from ipclab.machine.privacy import scrub
from ipclab.machine.software import (
    TICKLESS, built, condition, config, debug, first_set, gil, here, io_uring, libc, limit, lock_digest,
    mitigations, options, os_name, package, packages, preemption, system, tool,
)  # fmt: skip
from ipclab.machine.source import AbsentError, Source
from ipclab.machine.storage import disk, filesystem, mount, mount_options, scheduler, scratch, shm, space
from ipclab.machine.topology import CPUS
# isort: on

Value: TypeAlias = bool | int | float | str | list["Value"] | dict[str, "Value"] | None
Told: TypeAlias = str | Callable[[Source], Any]  # a file, or what asks for more than one or for none
Row: TypeAlias = tuple[str, Told, Callable[[Any], object], str, str, str, str]

CLOCK = "/sys/devices/system/clocksource/clocksource0"
DEBUG, THP = "/sys/kernel/debug", "/sys/kernel/mm/transparent_hugepage"
HALT_GUEST, HALT_HOST = "/sys/module/haltpoll/parameters/guest_halt_poll_ns", "/sys/module/kvm/parameters/halt_poll_ns"
FS, KERNEL, VM, NET, TCP = (f"/proc/sys/{name}" for name in ("fs", "kernel", "vm", "net", "net/ipv4"))
REALTIME = f"{KERNEL}/sched_rt_runtime_us"

# What a difference in a fact affects (msgids); "" where it merely varies (load, free room) or is far above use.
CODE = "all code: the processor and its clock"
COPYING = "copying: caches, memory and pages"
WAKING = "waking another process: idling, scheduling, host"
ENTERING = "entering the kernel: its release, mitigations, clock"
PIPES = "sockets and pipes: their buffers"
FILES = "files: file systems and disks"
ALLOWED = "what this process may use"
SOFTWARE = "software: system, interpreter, packages"
TOPICS = (CODE, COPYING, WAKING, ENTERING, PIPES, FILES, ALLOWED, SOFTWARE)

# By group: name, source, parser of what it tells, unit, marks (i: identifies the machine, s: shown in reports), what a
# difference affects, label. Groups and labels are msgids.
# fmt: off
TABLE: dict[str, tuple[Row, ...]] = {
    "Processor": (
        ("cpu_vendor", vendor, str, "", "i", CODE, "Processor vendor"),
        ("cpu_model", model, str, "", "is", CODE, "Processor model"),
        ("cpu_family", cpuinfo("cpu family", "CPU architecture"), int, "", "i", CODE, "Processor family"),
        ("cpu_model_number", cpuinfo("model", "CPU variant"), number, "", "i", CODE, "Processor model number"),
        ("cpu_stepping", cpuinfo("stepping", "CPU revision"), int, "", "i", CODE, "Processor stepping"),
        ("cpu_microcode", cpuinfo("microcode"), str, "", "", ENTERING, "Microcode revision"),
        ("cpu_features", cpuinfo("flags", "Features"), features, "", "", CODE, "Processor features that matter here"),
        ("sockets", topology, lambda t: len(t.packages), "", "is", CODE, "Sockets"),
        ("cores", topology, lambda t: len(t.cores), "", "is", CODE, "Cores"),
        ("threads", topology, lambda t: len(t.online), "", "i", CODE, "Hardware threads"),
        ("threads_per_core", topology, lambda t: max(map(len, t.cores)), "", "is", CODE, "Threads a core"),
        ("numa_nodes", topology, lambda t: len(t.nodes), "", "is", COPYING, "Memory nodes"),
        ("smt_control", f"{CPUS}/smt/control", str, "", "", CODE, "Simultaneous multithreading"),
        ("cpus_online", topology, lambda t: cpu_list(t.online), "", "", "", "CPUs online"),
        ("cpus_allowed", topology, lambda t: cpu_list(t.allowed), "", "s", WAKING, "CPUs allowed for this process"),
        ("core_sharing", topology, sharing("cores"), "", "i", WAKING, "Which CPUs share a core"),
        ("node_sharing", topology, sharing("nodes"), "", "i", COPYING, "Which CPUs share a memory node"),
        ("cache_sharing", topology, cache_sharing, "", "i", COPYING, "Which CPUs share which cache"),
        ("cache_l1d", topology, cache(1, "Data"), "bytes", "is", COPYING, "First-level data cache"),
        ("cache_l1i", topology, cache(1, "Instruction"), "bytes", "i", COPYING, "First-level instruction cache"),
        ("cache_l2", topology, cache(2, "Data"), "bytes", "is", COPYING, "Second-level cache"),
        ("cache_l3", topology, cache(3, "Data"), "bytes", "is", COPYING, "Third-level cache"),
        ("cache_line", topology, cache(1, "Data", "line"), "bytes", "is", COPYING, "Cache line"),
        ("frequency_min", f"{FREQUENCY}/cpuinfo_min_freq", kilo, "Hz", "", CODE, "Lowest clock frequency"),
        ("frequency_max", f"{FREQUENCY}/cpuinfo_max_freq", kilo, "Hz", "s", CODE, "Highest clock frequency"),
        ("frequency_driver", f"{FREQUENCY}/scaling_driver", str, "", "", CODE, "Frequency driver"),
        ("frequency_governor", f"{FREQUENCY}/scaling_governor", str, "", "s", CODE, "Frequency governor"),
        ("energy_preference", f"{FREQUENCY}/energy_performance_preference", str, "", "", CODE, "Energy preference"),
        ("boost", boost, bool, "", "s", CODE, "Turbo or boost allowed"),
        ("frequency_now", frequency_now, int, "Hz", "", "", "Clock frequency now"),
        ("idle_driver", f"{CPUS}/cpuidle/current_driver", str, "", "", WAKING, "Idle driver"),
        ("idle_governor", f"{CPUS}/cpuidle/current_governor", str, "", "s", WAKING, "Idle governor"),
        ("idle_states", idle_states, dict, "", "", WAKING, "Idle states with exit latency"),
    ),
    "Memory": (
        ("memory_installed", meminfo("MemTotal"), installed, "bytes", "is", COPYING, "Memory, as installed"),
        ("memory_total", meminfo("MemTotal"), size, "bytes", "", "", "Memory the kernel manages"),
        ("memory_available", meminfo("MemAvailable"), size, "bytes", "", "", "Memory available"),
        ("memory_shared", meminfo("Shmem"), size, "bytes", "", "", "Memory in shared segments and memory file systems"),
        ("swap_total", meminfo("SwapTotal"), size, "bytes", "s", FILES, "Swap space"),
        ("swap_free", meminfo("SwapFree"), size, "bytes", "", "", "Swap space free"),
        ("hugepage_size", meminfo("Hugepagesize"), size, "bytes", "", "", "Huge page"),
        ("hugepages_total", meminfo("HugePages_Total"), int, "", "", "", "Huge pages reserved"),
        ("hugepages_free", meminfo("HugePages_Free"), int, "", "", "", "Huge pages free"),
        ("page_size", system("sysconf", "SC_PAGE_SIZE"), int, "bytes", "is", COPYING, "Page"),
        ("thp_enabled", f"{THP}/enabled", chosen, "", "s", COPYING, "Transparent huge pages"),
        ("thp_defrag", f"{THP}/defrag", chosen, "", "", "", "Transparent huge page defragmentation"),
        ("thp_shmem", f"{THP}/shmem_enabled", chosen, "", "s", COPYING, "Transparent huge pages in shared memory"),
        ("thp_size", f"{THP}/hpage_pmd_size", int, "bytes", "", "", "Transparent huge page"),
        ("fault_around", f"{DEBUG}/fault_around_bytes", int, "bytes", "s", COPYING, "Bytes mapped around a read fault"),
        ("overcommit_mode", f"{VM}/overcommit_memory", int, "", "", "", "Overcommit mode"),
        ("overcommit_ratio", f"{VM}/overcommit_ratio", int, "%", "", "", "Overcommit ratio"),
        ("swappiness", f"{VM}/swappiness", int, "", "", "", "Swappiness"),
        ("dirty_ratio", f"{VM}/dirty_ratio", int, "%", "", FILES, "Dirty page limit"),
        ("zone_reclaim", f"{VM}/zone_reclaim_mode", int, "", "", "", "Reclaim within a memory node first"),
        ("numa_balancing", f"{KERNEL}/numa_balancing", int, "", "", COPYING, "Automatic memory node balancing"),
        ("same_page_merging", "/sys/kernel/mm/ksm/run", int, "", "", "", "Same-page merging"),
    ),
    "Kernel": (
        ("kernel_release", f"{KERNEL}/osrelease", str, "", "is", ENTERING, "Kernel release"),
        ("kernel_version", f"{KERNEL}/version", str, "", "", "", "Kernel build"),
        ("architecture", system("uname"), lambda names: names[1], "", "is", CODE, "Architecture"),
        ("kernel_options", options, list, "", "", WAKING, "Kernel options that matter here"),
        ("preemption", preemption, str, "", "s", WAKING, "Preemption model"),
        ("timer_frequency", config, lambda c: int(c["CONFIG_HZ"]), "Hz", "s", WAKING, "Timer tick"),
        ("tickless", config, first_set(TICKLESS), "", "", WAKING, "When the timer tick stops"),
        ("cpus_isolated", f"{CPUS}/isolated", str, "", "", WAKING, "Isolated CPUs"),
        ("cpus_tickless", f"{CPUS}/nohz_full", lambda t: t.replace("(null)", ""), "", "", WAKING, "Tickless CPUs"),
        ("clocksource", f"{CLOCK}/current_clocksource", str, "", "s", ENTERING, "Clock source"),
        ("clocksources", f"{CLOCK}/available_clocksource", str.split, "", "", "", "Clock sources available"),
        ("clock_resolution", system("clock_resolution"), int, "ns", "s", ENTERING, "Clock resolution"),
        ("halt_polling_guest", HALT_GUEST, int, "ns", "s", WAKING, "Polling before halt, by the guest"),
        ("halt_polling_host", HALT_HOST, int, "ns", "s", WAKING, "Polling before halt, by the host"),
        ("autogroup", f"{KERNEL}/sched_autogroup_enabled", int, "", "", WAKING, "Scheduling by session"),
        ("scheduler_features", f"{DEBUG}/sched/features", str.split, "", "", "", "Scheduler features"),
        ("scheduler_extension", "/sys/kernel/sched_ext/state", str, "", "", WAKING, "Scheduler extension"),
        ("realtime_runtime", REALTIME, int, "", "", "", "Microseconds of each period for real-time tasks"),
        ("timer_migration", f"{KERNEL}/timer_migration", int, "", "", "", "Timer migration"),
        ("mitigations", mitigations, dict, "", "", ENTERING, "Vulnerabilities and mitigations"),
    ),
    "Virtualisation": (
        ("virtualisation", virtualisation, str, "", "is", WAKING, "Virtualisation"),
        ("maker", f"{DMI}/sys_vendor", str, "", "i", WAKING, "System maker"),
        ("product", f"{DMI}/product_name", str, "", "i", WAKING, "System product"),
        ("container", container, str, "", "s", ALLOWED, "Container"),
        ("init_manages", init_manages, bool, "", "", "", "Init is a system manager"),
        ("superuser", system("superuser"), bool, "", "", "", "Runs as superuser"),
    ),
    "Storage": (
        ("shm_size", space(shm), lambda total: total[0], "bytes", "s", "", "Shared memory file system"),
        ("shm_free", space(shm), lambda total: total[1], "bytes", "", "", "Shared memory file system, free"),
        ("shm_filesystem", mount(shm), filesystem, "", "s", FILES, "Shared memory file system type"),
        ("shm_options", mount(shm), mount_options, "", "", "", "Shared memory mount options"),
        ("scratch_size", space(scratch), lambda total: total[0], "bytes", "", "", "Data folder's file system"),
        ("scratch_free", space(scratch), lambda total: total[1], "bytes", "", "", "Data folder's file system, free"),
        ("scratch_filesystem", mount(scratch), filesystem, "", "s", FILES, "Data folder's file system type"),
        ("scratch_options", mount(scratch), mount_options, "", "", FILES, "Data folder's mount options"),
        ("scratch_disk", disk, str, "", "s", FILES, "Kind of disk under the data folder"),
        ("scratch_scheduler", scheduler, str, "", "", FILES, "Disk scheduler under the data folder"),
    ),
    "Network sockets": (
        ("socket_receive_default", f"{NET}/core/rmem_default", int, "bytes", "", PIPES, "Receive buffer, default"),
        ("socket_receive_max", f"{NET}/core/rmem_max", int, "bytes", "", PIPES, "Receive buffer, largest"),
        ("socket_send_default", f"{NET}/core/wmem_default", int, "bytes", "", PIPES, "Send buffer, default"),
        ("socket_send_max", f"{NET}/core/wmem_max", int, "bytes", "", PIPES, "Send buffer, largest"),
        ("tcp_receive", f"{TCP}/tcp_rmem", numbers, "bytes", "", PIPES, "TCP receive buffer: least, default, largest"),
        ("tcp_send", f"{TCP}/tcp_wmem", numbers, "bytes", "", PIPES, "TCP send buffer: least, default, largest"),
        ("tcp_congestion", f"{TCP}/tcp_congestion_control", str, "", "s", PIPES, "TCP congestion control"),
        ("tcp_autocorking", f"{TCP}/tcp_autocorking", int, "", "", PIPES, "TCP joins small writes"),
        ("tcp_fast_open", f"{TCP}/tcp_fastopen", int, "", "", "", "TCP fast open"),
        ("listen_backlog", f"{NET}/core/somaxconn", int, "", "", "", "Longest listen queue"),
        ("device_backlog", f"{NET}/core/netdev_max_backlog", int, "", "", "", "Longest device queue"),
        ("busy_polling", f"{NET}/core/busy_poll", int, "", "", PIPES, "Busy polling of sockets"),
        ("unix_queue", f"{NET}/unix/max_dgram_qlen", int, "", "", PIPES, "Datagrams queued on a local socket"),
        ("loopback_mtu", "/sys/class/net/lo/mtu", int, "bytes", "s", PIPES, "Loopback packet"),
    ),
    "Limits": (
        ("open_files_soft", limit(resource.RLIMIT_NOFILE), int, "", "s", ALLOWED, "Open files, soft limit"),
        ("open_files_hard", limit(resource.RLIMIT_NOFILE, hard=True), int, "", "", "", "Open files, hard limit"),
        ("locked_memory", limit(resource.RLIMIT_MEMLOCK), int, "bytes", "", ALLOWED, "Locked memory, soft limit"),
        ("file_size", limit(resource.RLIMIT_FSIZE), int, "bytes", "", "", "File size, soft limit"),
        ("processes_limit", limit(resource.RLIMIT_NPROC), int, "", "", "", "Processes of this user, soft limit"),
        ("realtime_priority", limit(resource.RLIMIT_RTPRIO), int, "", "", ALLOWED, "Real-time priority, soft limit"),
        ("threads_max", f"{KERNEL}/threads-max", int, "", "", "", "Threads, system-wide"),
        ("pid_max", f"{KERNEL}/pid_max", int, "", "", "", "Largest process number"),
        ("file_max", f"{FS}/file-max", int, "", "", "", "Open files, system-wide"),
        ("map_count_max", f"{VM}/max_map_count", int, "", "", "", "Mappings of a process"),
        ("pipe_size_max", f"{FS}/pipe-max-size", int, "bytes", "", PIPES, "Largest pipe buffer"),
        ("pipe_pages_soft", f"{FS}/pipe-user-pages-soft", int, "", "", "", "Pipe pages of a user, soft limit"),
        ("shm_segment_max", f"{KERNEL}/shmmax", bounded, "bytes", "", "", "Largest shared memory segment"),
        ("shm_segments_max", f"{KERNEL}/shmmni", int, "", "", "", "Shared memory segments"),
        ("semaphores", f"{KERNEL}/sem", numbers, "", "", "", "Semaphore limits"),
        ("message_max", f"{FS}/mqueue/msgsize_max", int, "bytes", "", "", "Largest queued message"),
        ("message_queue_max", f"{FS}/mqueue/msg_max", int, "", "", "", "Messages in a queue"),
        ("aio_max", f"{FS}/aio-max-nr", int, "", "", "", "Asynchronous requests, system-wide"),
        ("io_uring", io_uring, bool, "", "", FILES, "Asynchronous rings allowed"),
        ("cpu_quota", cpu_quota, float, "", "s", ALLOWED, "CPU time of this group, in CPUs"),
        ("memory_limit", memory_limit, int, "bytes", "s", ALLOWED, "Memory limit of this group"),
    ),
    "Load": (
        ("uptime", "/proc/uptime", lambda t: round(float(t.split()[0]) * 1e9), "ns", "", "", "Time since start"),
        ("load_one", condition("load_1"), float, "", "", "", "Load, over a minute"),
        ("load_five", condition("load_5"), float, "", "", "", "Load, over five minutes"),
        ("load_fifteen", condition("load_15"), float, "", "", "", "Load, over fifteen minutes"),
        ("running", condition("running"), int, "", "", "", "Tasks running or ready"),
        ("tasks", condition("tasks"), int, "", "", "", "Tasks"),
        ("forks", condition("forks"), int, "", "", "", "Processes made since start"),
        ("context_switches", condition("context_switches"), int, "", "", "", "Context switches since start"),
        ("busy", condition("busy_ns"), int, "ns", "", "", "CPU time used since start"),
        ("steal", condition("steal_ns"), int, "ns", "", "", "CPU time stolen by the host since start"),
        ("throttled", condition("throttled_ns"), int, "ns", "", "", "Time held back by the CPU quota"),
        ("pressure_cpu", condition("pressure_cpu_percent"), float, "%", "", "", "CPU pressure, recent"),
        ("pressure_cpu_total", condition("pressure_cpu_ns"), int, "ns", "", "", "CPU pressure since start"),
        ("pressure_memory", condition("pressure_memory_percent"), float, "%", "", "", "Memory pressure, recent"),
        ("pressure_memory_total", condition("pressure_memory_ns"), int, "ns", "", "", "Memory pressure since start"),
        ("pressure_io", condition("pressure_io_percent"), float, "%", "", "", "Storage pressure, recent"),
        ("pressure_io_total", condition("pressure_io_ns"), int, "ns", "", "", "Storage pressure since start"),
    ),
    "Software": (
        ("os_name", "/etc/os-release", os_name, "", "s", SOFTWARE, "Operating system"),
        ("libc", here(libc), str, "", "s", SOFTWARE, "C library"),
        ("python", here(platform.python_version), str, "", "s", SOFTWARE, "Python version"),
        ("python_implementation", here(platform.python_implementation), str, "", "", SOFTWARE, "Python implementation"),
        ("python_compiler", here(platform.python_compiler), str, "", "", "", "Python compiler"),
        ("python_debug", here(debug), bool, "", "", "", "Python debug build"),
        ("python_profiled", built("--enable-optimizations"), bool, "", "", SOFTWARE, "Python optimised by profile"),
        ("python_linked", built("--with-lto"), bool, "", "", SOFTWARE, "Python optimised at linking"),
        ("python_gil", here(gil), bool, "", "", SOFTWARE, "Python global lock"),
        ("ipclab", here(lambda: __version__), str, "", "s", SOFTWARE, "ipclab version"),
        ("packages", packages, dict, "", "", "", "Package versions"),
        ("numpy", package("numpy"), str, "", "s", SOFTWARE, "numpy version"),
        ("pyzmq", package("pyzmq"), str, "", "", SOFTWARE, "pyzmq version"),
        ("lmdb", package("lmdb"), str, "", "", SOFTWARE, "lmdb version"),
        ("posix_ipc", package("posix-ipc"), str, "", "s", SOFTWARE, "posix-ipc version"),
        ("pyarrow", package("pyarrow"), str, "", "", SOFTWARE, "pyarrow version"),
        ("lock_digest", lock_digest, str, "", "s", SOFTWARE, "Digest of the lock file"),
        ("git_commit", tool("git-commit"), str.strip, "", "s", SOFTWARE, "Commit of the checkout"),
        ("git_dirty", tool("git-status"), bool, "", "s", "", "Checkout altered since"),
        ("cargo", tool("cargo"), lambda t: t.split()[1], "", "", "", "Cargo version"),
        ("go", tool("go"), lambda t: t.split()[2].removeprefix("go"), "", "", SOFTWARE, "Go version"),
        ("mpi", tool("mpiexec"), lambda t: t.splitlines()[0].strip(), "", "", SOFTWARE, "MPI launcher version"),
    ),
}
# fmt: on


class Fact(NamedTuple):
    """One line of the table."""

    group: str
    name: str
    source: Told
    parser: Callable[[Any], object]
    unit: str
    marks: str
    affects: str
    label: str

    @property
    def identifies(self) -> bool:
        """Tell whether the machine's digest holds it."""
        return "i" in self.marks

    @property
    def shown(self) -> bool:
        """Tell whether reports list it."""
        return "s" in self.marks

    def take(self, source: Source) -> tuple[Value, str]:
        """Return the value and "", or None and the reason why there is none; never raises for bad input."""
        try:
            told = source.text(self.source).strip() if isinstance(self.source, str) else self.source(source)
            value: Any = self.parser(told)
        except AbsentError as absent:
            return None, absent.reason
        except (ValueError, KeyError, IndexError, OSError, ArithmeticError):
            return None, "unparsable"
        # An owner may have put his name into free text, such as the product's.
        return scrub(value, source.system.uname()[0]) if isinstance(value, str) else value, ""


FACTS = tuple(Fact(group, *row) for group, rows in TABLE.items() for row in rows)
