"""How each fact is read that is not simply the text of one file."""

import os
import platform
import re
import resource
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ipclab.machine import answers, cgroup, mounts
from ipclab.machine.answers import cache, soft_limit, tool, topology
from ipclab.machine.mounts import mount, space
from ipclab.machine.parse import cpu_list
from ipclab.machine.source import Source, present
from ipclab.version import __version__


def _built_with(option: str) -> bool:
    return option in (sysconfig.get_config_var("CONFIG_ARGS") or "")


def _preloaded() -> list[str]:
    """Return the names of what the loader puts before all libraries, without their folders."""
    asked = re.split(r"[ :]+", os.environ.get("LD_PRELOAD", ""))
    return [Path(name).name for name in asked if name]


READERS: dict[str, Callable[[Source], Any]] = {  # each returns a `Value`
    "cpu_vendor": answers.cpu_vendor,
    "cpu_model": answers.cpu_model,
    "cpu_features": answers.cpu_features,
    "sockets": lambda source: len(topology(source).packages),
    "cores": lambda source: len(topology(source).cores),
    "threads": lambda source: len(topology(source).online),
    "threads_per_core": lambda source: max(map(len, topology(source).cores)),
    "numa_nodes": lambda source: len(topology(source).nodes),
    "cpus_allowed": lambda source: cpu_list(topology(source).allowed),
    "core_sharing": lambda source: list(map(cpu_list, topology(source).cores)),
    "node_sharing": lambda source: list(map(cpu_list, topology(source).nodes)),
    "cache_sharing": answers.cache_sharing,
    "cache_l1d": lambda source: present(cache(source, 1).size),
    "cache_l1i": lambda source: present(cache(source, 1, "Instruction").size),
    "cache_l2": lambda source: present(cache(source, 2).size),
    "cache_l3": lambda source: present(cache(source, 3).size),
    "cache_line": lambda source: present(cache(source, 1).line),
    "boost": answers.boost,
    "idle_states": answers.idle_states,
    "page_size": lambda source: source.system.sysconf("SC_PAGE_SIZE"),
    "architecture": lambda source: source.system.uname()[1],
    "kernel_options": answers.options,
    "preemption": answers.preemption,
    "timer_frequency": lambda source: int(answers.config(source)["CONFIG_HZ"]),
    "tickless": lambda source: answers.built_in(source, "tickless"),
    "clock_resolution": lambda _: round(time.clock_getres(time.CLOCK_MONOTONIC) * 1e9),
    "mitigations": answers.mitigations,
    "security": answers.security,
    "virtualisation": answers.virtualisation,
    "container": answers.container,
    "shm_size": lambda source: space(source, "shm")[0],
    "shm_free": lambda source: space(source, "shm")[1],
    "shm_filesystem": lambda source: mount(source, "shm").filesystem,
    "scratch_free": lambda source: space(source, "scratch")[1],
    "scratch_filesystem": lambda source: mount(source, "scratch").filesystem,
    "scratch_options": mounts.mount_options,
    "scratch_disk": mounts.disk,
    "scratch_scheduler": mounts.scheduler,
    "open_files_soft": lambda source: soft_limit(source, resource.RLIMIT_NOFILE),
    "locked_memory": lambda source: soft_limit(source, resource.RLIMIT_MEMLOCK),
    "realtime_priority": lambda source: soft_limit(source, resource.RLIMIT_RTPRIO),
    "io_uring": answers.io_uring,
    "cpu_quota": cgroup.cpu_quota,
    "memory_limit": cgroup.memory_limit,
    "os_name": answers.os_name,
    "libc": lambda _: " ".join(platform.libc_ver()).strip() or "unknown",
    "python": lambda _: platform.python_version(),
    "python_implementation": lambda _: platform.python_implementation(),
    "python_profiled": lambda _: _built_with("--enable-optimizations"),
    "python_linked": lambda _: _built_with("--with-lto"),
    "python_gil": lambda _: getattr(sys, "_is_gil_enabled", lambda: True)(),
    "python_allocator": lambda _: present(os.environ.get("PYTHONMALLOC")),
    "python_development": lambda _: sys.flags.dev_mode,
    "preloaded": lambda _: present(_preloaded()),
    "ipclab": lambda _: __version__,
    "packages": answers.package_versions,
    "numpy": lambda source: source.system.package("numpy"),
    "pyzmq": lambda source: source.system.package("pyzmq"),
    "lmdb": lambda source: source.system.package("lmdb"),
    "posix_ipc": lambda source: source.system.package("posix-ipc"),
    "pyarrow": lambda source: source.system.package("pyarrow"),
    "lock_digest": answers.lock_digest,
    "native_digest": answers.native_digest,
    "code_digest": answers.code_digest,
    "git_commit": lambda source: tool(source, "git-commit").splitlines()[0].strip(),
    "git_dirty": lambda source: bool(tool(source, "git-status")),
    "cargo": lambda source: tool(source, "cargo").split()[1],
    "go": lambda source: tool(source, "go").split()[2].removeprefix("go"),
    "mpi": lambda source: tool(source, "mpiexec").splitlines()[0].strip(),
}
