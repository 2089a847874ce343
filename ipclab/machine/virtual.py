"""Facts about what stands between this process and the hardware: hypervisor, container, user."""

from ipclab.machine.parse import fields
from ipclab.machine.registry import Group
from ipclab.machine.source import AbsentError, Source

GROUP = Group("virtual", "Virtualisation")
DMI = "/sys/class/dmi/id"
# In what the firmware calls itself; the first that occurs.
FIRMWARE = {
    "kvm": "kvm", "qemu": "kvm", "amazon ec2": "kvm", "google compute": "kvm", "openstack": "kvm",
    "vmware": "vmware", "virtualbox": "virtualbox", "innotek": "virtualbox", "xen": "xen",
    "virtual machine": "hyper-v", "bochs": "bochs", "parallels": "parallels",
    "apple virtualization": "apple",
}  # fmt: skip
CLOCKS = {"kvm-clock": "kvm", "hyperv_clocksource": "hyper-v", "xen": "xen"}
CONTAINERS = {"/.dockerenv": "docker", "/run/.containerenv": "podman", "/run/systemd/container": "systemd"}
CGROUP_WORDS = {
    "docker": "docker",
    "kubepods": "kubernetes",
    "lxc": "lxc",
    "libpod": "podman",
    "slurm": "slurm",
}


def _firmware(source: Source, name: str) -> str:
    return source.text(f"{DMI}/{name}").strip()


@GROUP.fact("Virtualisation", str, identifies=True)
def _virtualisation(source: Source) -> str:
    """Return the hypervisor's kind, `unnamed` for one that hides its name, `none` on bare metal."""
    if source.exists("/sys/hypervisor/type"):
        return source.text("/sys/hypervisor/type").strip()
    # Bare metal of a cloud carries the words too: the processor's flag decides, where there is one.
    info = fields(source.text("/proc/cpuinfo"))
    if "flags" in info and "hypervisor" not in info["flags"].split():
        return "none"
    told = " ".join(_try(source, f"{DMI}/{name}") for name in ("sys_vendor", "product_name", "bios_vendor"))
    clock = _try(source, "/sys/devices/system/clocksource/clocksource0/available_clocksource")
    for words, text in ((FIRMWARE, told.lower()), (CLOCKS, clock)):
        for word, kind in words.items():
            if word in text:
                return kind
    return "unnamed" if "flags" in info else "none"


def _try(source: Source, name: str) -> str:
    try:
        return source.text(name).strip()
    except AbsentError:
        return ""


GROUP.add("maker", "System maker", str, lambda source: _firmware(source, "sys_vendor"), identifies=True)
GROUP.add("product", "System product", str, lambda source: _firmware(source, "product_name"), identifies=True)


@GROUP.fact("Container", str)
def _container(source: Source) -> str:
    """Return the kind of container by its marks, `none` when there are none."""
    for name, kind in CONTAINERS.items():
        if source.exists(name):
            return kind
    groups = source.read("/proc/1/cgroup")  # carries container ids: not kept
    return next((kind for word, kind in CGROUP_WORDS.items() if word in groups), "none")


@GROUP.fact("Init is a system manager", bool)
def _init_manages(source: Source) -> bool:
    """Tell whether process 1 is a usual init; in a container it is the application."""
    return source.read("/proc/1/comm").strip() in {"systemd", "init", "runit", "openrc-init", "s6-svscan"}


GROUP.add("superuser", "Runs as superuser", bool, lambda source: source.system.superuser())
