"""What differs between machines, and what does not: their facts, grouped by what they affect."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ipclab.machine import Value
from ipclab.lab.catalogue import N_

# What each fact affects. Facts that merely vary (load, free room, counters) and limits far above use are left out.
AFFECTS: dict[str, tuple[str, ...]] = {
    N_("all code: the processor and its clock"): (
        *("cpu_vendor", "cpu_model", "cpu_family", "cpu_model_number", "cpu_stepping", "cpu_features"),
        *("architecture", "sockets", "cores", "threads", "threads_per_core", "smt_control"),
        *("frequency_min", "frequency_max", "frequency_driver", "frequency_governor", "energy_preference", "boost"),
    ),
    N_("copying: caches, memory and pages"): (
        *("cache_l1d", "cache_l1i", "cache_l2", "cache_l3", "cache_line", "memory_installed", "numa_nodes"),
        *("node_sharing", "cache_sharing", "page_size", "thp_enabled", "thp_shmem", "numa_balancing", "fault_around"),
    ),
    N_("waking another process: idling, scheduling, host"): (
        *("core_sharing", "idle_driver", "idle_governor", "idle_states", "halt_polling_guest", "halt_polling_host"),
        *("virtualisation", "maker", "product", "preemption", "timer_frequency", "tickless", "autogroup"),
        *("scheduler_extension", "kernel_options", "cpus_isolated", "cpus_tickless", "cpus_allowed"),
    ),
    N_("entering the kernel: its release, mitigations, clock"): (
        *("kernel_release", "mitigations", "cpu_microcode", "clocksource", "clock_resolution"),
    ),
    N_("sockets and pipes: their buffers"): (
        *("socket_receive_default", "socket_receive_max", "socket_send_default", "socket_send_max"),
        *("tcp_receive", "tcp_send", "tcp_congestion", "tcp_autocorking", "busy_polling", "loopback_mtu"),
        *("unix_queue", "pipe_size_max"),
    ),
    N_("files: file systems and disks"): (
        *("shm_filesystem", "scratch_filesystem", "scratch_options", "scratch_disk"),
        *("scratch_scheduler", "dirty_ratio", "swap_total", "io_uring"),
    ),
    N_("what this process may use"): (
        *("container", "cpu_quota", "memory_limit", "open_files_soft", "locked_memory", "realtime_priority"),
    ),
    N_("software: system, interpreter, packages"): (
        *("os_name", "libc", "python", "python_implementation", "python_profiled", "python_linked", "python_gil"),
        *("numpy", "pyzmq", "lmdb", "posix_ipc", "pyarrow", "go", "mpi", "lock_digest", "ipclab", "git_commit"),
    ),
}


@dataclass(frozen=True)
class Difference:
    """One fact that is not the same in all runs: its values (None where absent) and the reasons of absence."""

    affects: str
    name: str
    values: tuple[Value, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class Differences:
    """What differs, in the order of `AFFECTS`, and how many facts of each group do not."""

    different: list[Difference]
    same: dict[str, int]


def differences(runs: Sequence[Mapping[str, Any]]) -> Differences:
    """Return what differs between the machines of `runs` (each a `run.json`).

    A fact that no run has is neither the same nor different.
    """
    different, same = [], dict.fromkeys(AFFECTS, 0)
    for affects, names in AFFECTS.items():
        for name in names:
            values = tuple(run["machine"]["facts"].get(name) for run in runs)
            if all(value is None for value in values):
                continue
            if all(value == values[0] for value in values):
                same[affects] += 1
            else:
                reasons = tuple(str(run["machine"].get("reasons", {}).get(name, "absent")) for run in runs)
                different.append(Difference(affects, name, _apart(values), reasons))
    return Differences(different, same)


def _apart(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """Return lists and mappings without what all of them share; other values as they are."""
    lists = [value for value in values if isinstance(value, list)]
    if len(lists) == len(values):
        shared = set.intersection(*(set(map(str, value)) for value in lists))
        return tuple([item for item in value if str(item) not in shared] for value in lists)
    tables = [value for value in values if isinstance(value, dict)]
    if len(tables) == len(values):
        keys = sorted({key for value in tables for key in value})
        odd = [key for key in keys if len({str(value.get(key)) for value in tables}) > 1]
        return tuple({key: value[key] for key in odd if key in value} for value in tables)
    return values
