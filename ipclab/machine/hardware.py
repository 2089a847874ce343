"""What one file alone does not tell of processor, memory and what stands between us and them."""

from collections.abc import Callable

from ipclab.machine.parse import cpu_list, fields, size
from ipclab.machine.source import AbsentError, Source
from ipclab.machine.topology import CPUS, Topology

CPUINFO, DMI, FREQUENCY = "/proc/cpuinfo", "/sys/class/dmi/id", f"{CPUS}/cpu0/cpufreq"
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
# In what the firmware calls itself, and by its clock; the first that occurs.
FIRMWARE = {
    "kvm": "kvm", "qemu": "kvm", "amazon ec2": "kvm", "google compute": "kvm", "openstack": "kvm",
    "vmware": "vmware", "virtualbox": "virtualbox", "innotek": "virtualbox", "xen": "xen",
    "virtual machine": "hyper-v", "bochs": "bochs", "parallels": "parallels",
    "apple virtualization": "apple",
}  # fmt: skip
CLOCKS = {"kvm-clock": "kvm", "hyperv_clocksource": "hyper-v", "xen": "xen"}
CONTAINERS = {"/.dockerenv": "docker", "/run/.containerenv": "podman", "/run/systemd/container": "systemd"}
CGROUPS = {"docker": "docker", "kubepods": "kubernetes", "lxc": "lxc", "libpod": "podman", "slurm": "slurm"}
INITS = {"systemd", "init", "runit", "openrc-init", "s6-svscan"}


def topology(source: Source) -> Topology:
    """Return the topology, read once for each source."""
    return source.once("topology", lambda: Topology.read(source))


def cpuinfo(*keys: str) -> Callable[[Source], str]:
    """Return what reads the first of `keys` that the first processor has."""

    def read(source: Source) -> str:
        found = source.once("cpuinfo fields", lambda: fields(source.text(CPUINFO)))
        if value := next((found[key] for key in keys if found.get(key)), ""):
            return value
        raise AbsentError

    return read


def meminfo(key: str) -> Callable[[Source], str]:
    """Return what reads a line of /proc/meminfo."""
    return lambda source: source.once("meminfo fields", lambda: fields(source.text("/proc/meminfo")))[key]


def vendor(source: Source) -> str:
    """Return the processor's vendor; of an ARM core its designer."""
    try:
        return cpuinfo("vendor_id", "vendor", "mvendorid")(source)
    except AbsentError:
        designer = int(cpuinfo("CPU implementer")(source), 0)
        return IMPLEMENTERS.get(designer, hex(designer))


def model(source: Source) -> str:
    """Return the processor's name; ARM numbers its cores only, and a mixed machine has several kinds."""
    try:
        return " ".join(cpuinfo("model name", "cpu model", "uarch")(source).split())
    except AbsentError:
        lines = source.text(CPUINFO).splitlines()
        kinds = dict.fromkeys(line.partition(":")[2].strip() for line in lines if line.startswith("CPU part"))
        if not kinds:
            raise
        return f"{vendor(source)} " + " + ".join(kinds)


def features(flags: str) -> list[str]:
    """Return those of the processor's flags that matter here."""
    return [name for name in FEATURES if name in flags.split()]


def sharing(part: str) -> Callable[[Topology], list[str]]:
    """Return what lists the CPUs of each of the `cores` or `nodes`."""
    return lambda found: [cpu_list(cpus) for cpus in getattr(found, part)]


def cache_sharing(found: Topology) -> dict[str, str]:
    """Return level and type of each kind of cache -> the CPUs of each."""
    shared: dict[str, str] = {}
    for each in found.caches:
        name = f"L{each.level} {each.type}"
        shared[name] = f"{shared.get(name, '')} {cpu_list(each.cpus)}".lstrip()
    if not shared:
        raise AbsentError
    return shared


def cache(level: int, kind: str, part: str = "size") -> Callable[[Topology], int]:
    """Return what finds `size` or `line` (bytes) of the first cache of a level that is of `kind` or unified."""

    def find(found: Topology) -> int:
        fitting = (each for each in found.caches if each.level == level and each.type in (kind, "Unified"))
        if number := getattr(next(fitting, None), part, 0):
            return int(number)
        raise AbsentError

    return find


def boost(source: Source) -> bool:
    """Tell whether the clock may exceed its nominal frequency."""
    try:
        return source.text(f"{CPUS}/cpufreq/boost").strip() == "1"
    except AbsentError:
        return source.text(f"{CPUS}/intel_pstate/no_turbo").strip() == "0"


def frequency_now(source: Source) -> int:
    """Return the clock frequency in Hz."""
    try:
        return int(source.text(f"{FREQUENCY}/scaling_cur_freq")) * 1000
    except AbsentError:
        return round(float(cpuinfo("cpu MHz")(source)) * 1e6)


def idle_states(source: Source) -> dict[str, int]:
    """Return state name -> exit latency in ns."""
    folder = f"{CPUS}/cpu0/cpuidle"
    if states := [f"{folder}/{name}" for name in source.names(folder)]:
        return {source.text(f"{s}/name").strip(): int(source.text(f"{s}/latency")) * 1000 for s in states}
    raise AbsentError


def installed(told: str) -> int:
    """Return the bytes of MemTotal rounded up to the next quarter of a power of two, as memory is sold.

    MemTotal is what firmware and kernel leave, typically 1 to 6 % below the modules, and moves by some MiB
    between boots. With steps of a sixteenth, 16 GiB that show as 15.5 would sit on an edge; here an edge is
    an eighth or more below every size sold.
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
    clock = source.told("/sys/devices/system/clocksource/clocksource0/available_clocksource", str, "")
    found = [kind for word, kind in FIRMWARE.items() if word in told]
    found += [kind for word, kind in CLOCKS.items() if word in clock]
    return next(iter(found), "unnamed" if "flags" in info else "none")


def container(source: Source) -> str:
    """Return the kind of container by its marks, `none` when there are none."""
    if mark := next(filter(source.exists, CONTAINERS), None):
        return CONTAINERS[mark]
    groups = source.read("/proc/1/cgroup")  # carries container ids: not kept
    return next((kind for word, kind in CGROUPS.items() if word in groups), "none")


def init_manages(source: Source) -> bool:
    """Tell whether process 1 is a usual init; in a container it is the application."""
    return source.read("/proc/1/comm").strip() in INITS
