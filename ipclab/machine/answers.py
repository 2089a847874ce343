"""What one file alone does not tell of processor, memory, kernel and software."""

import gzip
import hashlib
import os
import resource
from collections import defaultdict
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from ipclab.machine.parse import KNOWN, choice, cpu_list, key_values, size
from ipclab.machine.source import AbsentError, Source, present
from ipclab.machine.topology import CPUS, Cache, Topology
from ipclab.plugins import code_files
from ipclab.store.files import sha256
from ipclab.store.schema import LARGEST

CODE = (".py", ".toml", ".go", ".rs")  # the files by which a package does what it does
CPUINFO, DMI = "/proc/cpuinfo", "/sys/class/dmi/id"
CLOCKSOURCES = "/sys/devices/system/clocksource/clocksource0/available_clocksource"


def field(source: Source, name: str, *keys: str) -> str:
    """Return a file's first value of the first of `keys` it has, in `key: value` lines.

    Such a file is /proc/cpuinfo.
    """
    values = source.once(f"{name} fields", lambda: key_values(source.text(name)))
    return present(next((values[key] for key in keys if values.get(key)), ""))


def memory_available(source: Source) -> int:
    """Return the bytes that programs can still take; `LARGEST` where it is not told."""
    try:
        return size(field(source, "/proc/meminfo", "MemAvailable"))
    except AbsentError:
        return LARGEST


def cpu_vendor(source: Source) -> str:
    """Return who made the processor; of an ARM core, who designed it."""
    try:
        return field(source, CPUINFO, "vendor_id", "vendor", "mvendorid")
    except AbsentError:
        number = hex(int(field(source, CPUINFO, "CPU implementer"), 0))
        return str(KNOWN["implementers"].get(number, number))


def cpu_model(source: Source) -> str:
    """Return the processor's name; ARM numbers its cores, and they may be of several kinds."""
    try:
        return " ".join(field(source, CPUINFO, "model name", "cpu model", "uarch").split())
    except AbsentError:
        parts = [line for line in source.text(CPUINFO).splitlines() if line.startswith("CPU part")]
        kinds = dict.fromkeys(line.partition(":")[2].strip() for line in parts)
        return f"{cpu_vendor(source)} {' + '.join(present(kinds))}"


def cpu_features(source: Source) -> list[str]:
    """Return the features of the processor that decide copying, waiting and reading the clock."""
    flags = field(source, CPUINFO, "flags", "Features").split()
    return [name for name in KNOWN["features"] if name in flags]


def topology(source: Source) -> Topology:
    """Return which CPUs share a core, a cache, a node; read once."""
    return source.once("topology", lambda: Topology.read(source))


def cache_sharing(source: Source) -> dict[str, str]:
    """Return level and type of each kind of cache -> the CPUs of each."""
    shared = defaultdict(list)
    for cache in topology(source).caches:
        shared[f"L{cache.level} {cache.type}"].append(cpu_list(cache.cpus))
    return present({kind: " ".join(cpus) for kind, cpus in shared.items()})


def cache(source: Source, level: int, kind: str = "Data") -> Cache:
    """Return the first cache of a level that is of `kind` or unified; raise `AbsentError`."""
    for cache in topology(source).caches:
        if cache.level == level and cache.type in (kind, "Unified"):
            return cache
    raise AbsentError


def boost(source: Source) -> bool:
    """Tell whether the clock may rise above its nominal frequency."""
    try:
        return source.text(f"{CPUS}/cpufreq/boost").strip() == "1"
    except AbsentError:
        return source.text(f"{CPUS}/intel_pstate/no_turbo").strip() == "0"


def idle_states(source: Source) -> dict[str, int]:
    """Return state name -> exit latency in ns."""
    folder = f"{CPUS}/cpu0/cpuidle"
    latencies = {}
    for state in source.names(folder):
        name = source.text(f"{folder}/{state}/name").strip()
        latencies[name] = int(source.text(f"{folder}/{state}/latency")) * 1000
    return present(latencies)


def memory_sold(total_text: str) -> int:
    """Return MemTotal's bytes rounded up to a quarter of a power of two, as memory is sold.

    Firmware and kernel take 1 to 6 %, some MiB more or less at each boot; an edge is an eighth
    below every size sold.
    """
    total = size(total_text)
    step = max(1, (1 << max(total - 1, 0).bit_length()) >> 3)
    return -(-total // step) * step


def virtualisation(source: Source) -> str:
    """Return the hypervisor's kind, `unnamed` for one that hides its name, `none` on bare metal."""
    if source.exists("/sys/hypervisor/type"):
        return source.text("/sys/hypervisor/type").strip()
    # Bare metal of a cloud carries the words too: the processor's flag decides, where there is one.
    info = key_values(source.text(CPUINFO))
    if "flags" in info and "hypervisor" not in info["flags"].split():
        return "none"
    names = ("sys_vendor", "product_name", "bios_vendor")
    firmware = " ".join(source.parsed(f"{DMI}/{name}", str.lower, "") for name in names)
    for name, text in (("firmware", firmware), ("clocks", source.parsed(CLOCKSOURCES, str, ""))):
        for word, kind in KNOWN[name].items():
            if word in text:
                return str(kind)
    return "unnamed" if "flags" in info else "none"


def container(source: Source) -> str:
    """Return the kind of container by its marks, `none` when there are none."""
    if mark := next(filter(source.exists, KNOWN["containers"]), None):
        return str(KNOWN["containers"][mark])
    groups = source.read("/proc/1/cgroup")  # carries container ids: not kept
    return next((kind for word, kind in KNOWN["cgroups"].items() if word in groups), "none")


def options(source: Source) -> list[str]:
    """Return the options of the kernel command line that matter here, in their order."""
    words = source.read("/proc/cmdline").partition(" -- ")[0].split()
    kept = [word for word in words if word.partition("=")[0].startswith(tuple(KNOWN["options"]))]
    source.keep("/proc/cmdline", " ".join(kept))
    return kept


def config(source: Source) -> dict[str, str]:
    """Return the kernel's build options about ticks and preemption."""

    def read() -> dict[str, str]:
        name = "/proc/config.gz"
        try:
            text = gzip.decompress(source.bytes(name)).decode(errors="replace")
        except AbsentError:
            name = f"/boot/config-{source.text('/proc/sys/kernel/osrelease').strip()}"
            text = source.read(name)
        wanted = tuple(KNOWN["build_options"])
        lines = [line for line in text.splitlines() if line.startswith(wanted)]
        source.keep(name, "\n".join(lines))
        return dict(line.split("=", 1) for line in lines if "=" in line)

    return source.once("config", read)


def built_in(source: Source, kind: str) -> str:
    """Return the word for the first build option of a `kind` (tickless, preemption) that is set."""
    options = config(source)
    for name, word in KNOWN[kind].items():
        if options.get(name) == "y":
            return str(word)
    raise AbsentError


def preemption(source: Source) -> str:
    """Return the preemption model in force, or else as asked for at boot, or else as built in."""
    with suppress(AbsentError):
        return choice(source.text("/sys/kernel/debug/sched/preempt"))
    asked = [word.partition("=")[2] for word in options(source) if word.startswith("preempt=")]
    return asked[-1] if asked else built_in(source, "preemption")


def mitigations(source: Source) -> dict[str, str]:
    """Return vulnerability -> what the kernel does about it."""
    folder = f"{CPUS}/vulnerabilities"
    return present({name: source.text(f"{folder}/{name}").strip() for name in source.names(folder)})


def security(source: Source) -> dict[str, str]:
    """Return what may look at system calls: modules, AppArmor, SELinux, label and filter."""
    texts = {}
    for name, path in KNOWN["security"].items():
        texts[name] = source.parsed(path, str, "").rstrip("\0\n")
    seccomp = key_values(source.read("/proc/self/status")).get("Seccomp", "")
    texts["seccomp"] = KNOWN["seccomp"].get(seccomp, seccomp)
    return present({name: text for name, text in texts.items() if text})


def soft_limit(source: Source, which: int) -> int:
    """Return the soft limit of one of `resource.RLIMIT_*`."""
    value, _ = source.system.limit(which)
    if value == resource.RLIM_INFINITY:
        raise AbsentError("unlimited")
    return value


def io_uring(source: Source) -> bool:
    """Tell whether io_uring may be used; older kernels have it, but no switch that tells."""
    switch = source.text("/proc/sys/kernel/io_uring_disabled").strip()
    return switch == "0" or (switch == "1" and os.geteuid() == 0)


def os_name(source: Source) -> str:
    """Return the system's name from /etc/os-release."""
    lines = source.text("/etc/os-release").strip().splitlines()
    named = dict(line.split("=", 1) for line in lines if "=" in line)
    return (named.get("PRETTY_NAME") or named["NAME"]).strip("\"'")


def package_versions(source: Source) -> dict[str, str]:
    """Return the versions of the packages that are here."""
    versions = {}
    for name in KNOWN["packages"]:
        with suppress(AbsentError):
            versions[name] = source.system.package(name)
    return versions


def lock_digest(source: Source) -> str:
    """Return the beginning of the lock file's SHA-256."""
    try:
        return sha256(source.paths.lock)[:16]
    except OSError as error:
        raise AbsentError from error


def native_digest(source: Source) -> str:
    """Return the beginning of the SHA-256 of the native package's binary."""
    spec = find_spec("ipclab_native")
    binaries = sorted(Path(spec.origin).parent.glob("*.so")) if spec and spec.origin else []
    if not binaries:
        raise AbsentError("not built")
    return sha256(binaries[0])[:16]


def code_digest(_: Source) -> str:
    """Return the beginning of the SHA-256 of what measures: code and tables of ipclab and plug-ins."""
    files = [file for package in code_files(CODE).values() for file in package]
    return hashlib.sha256("".join(map(sha256, files)).encode()).hexdigest()[:16]


def tool(source: Source, name: str) -> str:
    """Return what a tool says of its version, or git of the checkout."""
    command = KNOWN["tools"][name].split()
    if command[0] != "git":
        return source.system.run(*command)
    if source.paths.user:
        raise AbsentError("no checkout")  # the environment may lie in one of another project
    return source.system.run(*command, cwd=source.paths.root)
