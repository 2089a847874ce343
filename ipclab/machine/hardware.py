"""What one file alone does not tell of processor, memory and what stands between us and them."""

from collections import defaultdict

from ipclab.machine.parse import KNOWN, LARGEST, cpu_list, fields, size
from ipclab.machine.source import AbsentError, Source, present
from ipclab.machine.topology import CPUS, Topology

CPUINFO, DMI = "/proc/cpuinfo", "/sys/class/dmi/id"
CLOCKSOURCES = "/sys/devices/system/clocksource/clocksource0/available_clocksource"


def cpuinfo(source: Source, *keys: str) -> str:
    """Return the first of `keys` that the first processor has."""
    found = source.once("cpuinfo fields", lambda: fields(source.text(CPUINFO)))
    return present(next((found[key] for key in keys if found.get(key)), ""))


def meminfo(source: Source, key: str) -> str:
    """Return a line of /proc/meminfo; KeyError when it has none of that name."""
    return source.once("meminfo fields", lambda: fields(source.text("/proc/meminfo")))[key]


def memory_available(source: Source) -> int:
    """Return the bytes that programs can still take; `LARGEST` where it is not told."""
    try:
        return size(meminfo(source, "MemAvailable"))
    except (AbsentError, KeyError):
        return LARGEST


def vendor(source: Source) -> str:
    """Return the processor's vendor; of an ARM core its designer."""
    try:
        return cpuinfo(source, "vendor_id", "vendor", "mvendorid")
    except AbsentError:
        designer = hex(int(cpuinfo(source, "CPU implementer"), 0))
        return str(KNOWN["implementers"].get(designer, designer))


def model(source: Source) -> str:
    """Return the processor's name; ARM numbers its cores only, and a mixed machine has several kinds."""
    try:
        return " ".join(cpuinfo(source, "model name", "cpu model", "uarch").split())
    except AbsentError:
        lines = source.text(CPUINFO).splitlines()
        kinds = dict.fromkeys(line.partition(":")[2].strip() for line in lines if line.startswith("CPU part"))
        named = " + ".join(present(kinds))
        return f"{vendor(source)} {named}"


def cache_sharing(found: Topology) -> dict[str, str]:
    """Return level and type of each kind of cache -> the CPUs of each."""
    shared = defaultdict(list)
    for each in found.caches:
        shared[f"L{each.level} {each.type}"].append(cpu_list(each.cpus))
    return present({name: " ".join(each) for name, each in shared.items()})


def cache(found: Topology, level: str, kind: str, part: str = "size") -> int:
    """Return `size` or `line` (bytes) of the first cache of a level that is of `kind` or unified."""
    fitting = (each for each in found.caches if each.level == int(level) and each.type in (kind, "Unified"))
    return present(int(getattr(next(fitting, None), part, 0)))


def idle_states(source: Source) -> dict[str, int]:
    """Return state name -> exit latency in ns."""
    folder = f"{CPUS}/cpu0/cpuidle"
    states = [f"{folder}/{name}" for name in source.names(folder)]
    return present({source.text(f"{s}/name").strip(): int(source.text(f"{s}/latency")) * 1000 for s in states})


def installed(told: str) -> int:
    """Return the bytes of MemTotal rounded up to the next quarter of a power of two, as memory is sold.

    Firmware and kernel take 1 to 6 %, some MiB more or less at each boot; an edge is an eighth below every size sold.
    """
    total = size(told)
    step = max(1, (1 << max(total - 1, 0).bit_length()) >> 3)
    return -(-total // step) * step


def virtualisation(source: Source) -> str:
    """Return the hypervisor's kind, `unnamed` for one that hides its name, `none` on bare metal."""
    if source.exists("/sys/hypervisor/type"):
        return source.text("/sys/hypervisor/type").strip()
    # Bare metal of a cloud carries the words too: the processor's flag decides, where there is one.
    info = fields(source.text(CPUINFO))
    if "flags" in info and "hypervisor" not in info["flags"].split():
        return "none"
    names = ("sys_vendor", "product_name", "bios_vendor")
    told = " ".join(source.told(f"{DMI}/{name}", str.lower, "") for name in names)
    texts = {"firmware": told, "clocks": source.told(CLOCKSOURCES, str, "")}
    found = (kind for name, text in texts.items() for word, kind in KNOWN[name].items() if word in text)
    return str(next(found, "unnamed" if "flags" in info else "none"))


def container(source: Source) -> str:
    """Return the kind of container by its marks, `none` when there are none."""
    if mark := next(filter(source.exists, KNOWN["containers"]), None):
        return str(KNOWN["containers"][mark])
    groups = source.read("/proc/1/cgroup")  # carries container ids: not kept
    return next((kind for word, kind in KNOWN["cgroups"].items() if word in groups), "none")
