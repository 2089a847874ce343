"""Facts about the processor: what it is, how its CPUs are joined, how fast it may run, how it idles."""

from ipclab.machine.parse import cpu_list, fields
from ipclab.machine.registry import Group
from ipclab.machine.source import AbsentError, Source
from ipclab.machine.topology import CPUS, Cache, Topology

GROUP = Group("cpu", "Processor")
CPUINFO = "/proc/cpuinfo"
FREQUENCY = f"{CPUS}/cpu0/cpufreq"

# Who designed an ARM core, by the number that MIDR_EL1 carries.
IMPLEMENTERS = {
    0x41: "ARM", 0x42: "Broadcom", 0x43: "Cavium", 0x46: "Fujitsu", 0x48: "HiSilicon", 0x4E: "NVIDIA",
    0x50: "APM", 0x51: "Qualcomm", 0x53: "Samsung", 0x61: "Apple", 0x6D: "Microsoft", 0xC0: "Ampere",
}  # fmt: skip
# What decides copying, waiting and reading the clock.
FEATURES = (
    "avx2", "avx512f", "erms", "fsrm", "movdir64b", "clflushopt", "clwb", "clzero", "rdtscp", "constant_tsc",
    "nonstop_tsc", "tsc_known_freq", "monitor", "waitpkg", "pcid", "invpcid", "rtm", "hypervisor",
    "asimd", "sve", "sve2", "atomics", "lrcpc", "dcpop", "wfxt", "mops", "ecv",
)  # fmt: skip


def topology(source: Source) -> Topology:
    """Return the topology, read once for each source."""
    return source.once("topology", lambda: Topology.read(source))


def _info(source: Source, *keys: str) -> str:
    found = source.once("cpuinfo fields", lambda: fields(source.text(CPUINFO)))
    for key in keys:
        if found.get(key):
            return found[key]
    raise AbsentError


@GROUP.fact("Processor vendor", str, identifies=True)
def _cpu_vendor(source: Source) -> str:
    try:
        return _info(source, "vendor_id", "vendor", "mvendorid")
    except AbsentError:
        number = int(_info(source, "CPU implementer"), 0)
        return IMPLEMENTERS.get(number, hex(number))


@GROUP.fact("Processor model", str, identifies=True)
def _cpu_model(source: Source) -> str:
    try:
        return " ".join(_info(source, "model name", "cpu model", "uarch").split())
    except AbsentError:  # ARM numbers its cores only; a mixed machine has several kinds
        lines = source.text(CPUINFO).splitlines()
        kinds = dict.fromkeys(line.partition(":")[2].strip() for line in lines if line.startswith("CPU part"))
        if not kinds:
            raise
        return f"{_cpu_vendor(source)} " + " + ".join(kinds)


@GROUP.fact("Processor family", int, identifies=True)
def _cpu_family(source: Source) -> int:
    return int(_info(source, "cpu family", "CPU architecture"))


@GROUP.fact("Processor model number", int, identifies=True)
def _cpu_model_number(source: Source) -> int:
    return int(_info(source, "model", "CPU variant"), 0)


@GROUP.fact("Processor stepping", int, identifies=True)
def _cpu_stepping(source: Source) -> int:
    return int(_info(source, "stepping", "CPU revision"))


@GROUP.fact("Microcode revision", str)
def _cpu_microcode(source: Source) -> str:
    return _info(source, "microcode")


@GROUP.fact("Processor features that matter here", list)
def _cpu_features(source: Source) -> list[str]:
    present = set(_info(source, "flags", "Features").split())
    return [name for name in FEATURES if name in present]


GROUP.add("sockets", "Sockets", int, lambda s: len(topology(s).packages), identifies=True)
GROUP.add("cores", "Cores", int, lambda s: len(topology(s).cores), identifies=True)
GROUP.add("threads", "Hardware threads", int, lambda s: len(topology(s).online), identifies=True)
GROUP.add("threads_per_core", "Threads a core", int, lambda s: max(map(len, topology(s).cores)), identifies=True)
GROUP.add("numa_nodes", "Memory nodes", int, lambda s: len(topology(s).nodes), identifies=True)
GROUP.file("smt_control", "Simultaneous multithreading", f"{CPUS}/smt/control", str, str)
GROUP.add("cpus_online", "CPUs online", str, lambda s: cpu_list(topology(s).online))
GROUP.add("cpus_allowed", "CPUs allowed for this process", str, lambda s: cpu_list(topology(s).allowed))


@GROUP.fact("Which CPUs share a core", list, identifies=True)
def _core_sharing(source: Source) -> list[str]:
    return [cpu_list(core) for core in topology(source).cores]


@GROUP.fact("Which CPUs share a memory node", list, identifies=True)
def _node_sharing(source: Source) -> list[str]:
    return [cpu_list(node) for node in topology(source).nodes]


@GROUP.fact("Which CPUs share which cache", dict, identifies=True)
def _cache_sharing(source: Source) -> dict[str, str]:
    shared: dict[str, list[str]] = {}
    for cache in topology(source).caches:
        shared.setdefault(f"L{cache.level} {cache.type}", []).append(cpu_list(cache.cpus))
    if not shared:
        raise AbsentError
    return {name: " ".join(groups) for name, groups in shared.items()}


def _first_cache(source: Source, level: int, kinds: tuple[str, ...]) -> Cache:
    for cache in topology(source).caches:
        if cache.level == level and cache.type in kinds:
            return cache
    raise AbsentError


def _cache_fact(name: str, label: str, level: int, *kinds: str) -> None:
    def read(source: Source) -> int:
        found = _first_cache(source, level, kinds).size
        if not found:
            raise AbsentError
        return found

    GROUP.add(name, label, int, read, unit="bytes", identifies=True)


_cache_fact("cache_l1d", "First-level data cache", 1, "Data", "Unified")
_cache_fact("cache_l1i", "First-level instruction cache", 1, "Instruction", "Unified")
_cache_fact("cache_l2", "Second-level cache", 2, "Unified", "Data")
_cache_fact("cache_l3", "Third-level cache", 3, "Unified", "Data")


@GROUP.fact("Cache line", int, unit="bytes", identifies=True)
def _cache_line(source: Source) -> int:
    line = _first_cache(source, 1, ("Data", "Unified")).line
    if not line:
        raise AbsentError
    return line


def _khz(text: str) -> int:
    return int(text) * 1000


GROUP.file("frequency_min", "Lowest clock frequency", f"{FREQUENCY}/cpuinfo_min_freq", _khz, unit="Hz")
GROUP.file("frequency_max", "Highest clock frequency", f"{FREQUENCY}/cpuinfo_max_freq", _khz, unit="Hz")
GROUP.file("frequency_driver", "Frequency driver", f"{FREQUENCY}/scaling_driver", str, str)
GROUP.file("frequency_governor", "Frequency governor", f"{FREQUENCY}/scaling_governor", str, str)
GROUP.file("energy_preference", "Energy preference", f"{FREQUENCY}/energy_performance_preference", str, str)


@GROUP.fact("Turbo or boost allowed", bool)
def _boost(source: Source) -> bool:
    try:
        return source.text(f"{CPUS}/cpufreq/boost").strip() == "1"
    except AbsentError:
        return source.text(f"{CPUS}/intel_pstate/no_turbo").strip() == "0"


@GROUP.fact("Clock frequency now", int, unit="Hz")
def _frequency_now(source: Source) -> int:
    try:
        return int(source.text(f"{FREQUENCY}/scaling_cur_freq")) * 1000
    except AbsentError:
        return round(float(_info(source, "cpu MHz")) * 1e6)


GROUP.file("idle_driver", "Idle driver", f"{CPUS}/cpuidle/current_driver", str, str)
GROUP.file("idle_governor", "Idle governor", f"{CPUS}/cpuidle/current_governor", str, str)


@GROUP.fact("Idle states with exit latency", dict)
def _idle_states(source: Source) -> dict[str, int]:
    """Return state name -> exit latency in ns."""
    folder = f"{CPUS}/cpu0/cpuidle"
    states = [f"{folder}/{name}" for name in source.names(folder)]
    if not states:
        raise AbsentError
    return {source.text(f"{s}/name").strip(): int(source.text(f"{s}/latency")) * 1000 for s in states}
