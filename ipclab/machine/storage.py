"""Facts about file systems: shared memory's and the one that holds the data folder."""

import os
from dataclasses import dataclass

from ipclab.machine.registry import Group
from ipclab.machine.source import AbsentError, Source

GROUP = Group("storage", "Storage")
SHM = "/dev/shm"
NETWORK = {"nfs", "nfs4", "cifs", "smb3", "lustre", "gpfs", "beegfs", "ceph", "9p", "virtiofs", "glusterfs"}
MEMORY = {"tmpfs", "ramfs"}
VIRTUAL_MODELS = ("qemu", "vbox", "virtual", "vmware", "msft", "persistentdisk", "elastic block")


@dataclass(frozen=True)
class Mount:
    """One line of mountinfo: device number, mount point, options, file system, device."""

    number: str
    point: str
    options: str
    filesystem: str
    device: str


def _mount(line: str) -> Mount:
    before, _, after = line.partition(" - ")
    first, second = before.split(), after.split()
    point = first[4].encode().decode("unicode_escape")  # blanks are written \040
    return Mount(first[2], point, f"{first[5]},{second[2]}", second[0], second[1])


def mount_of(source: Source, path: str) -> Mount:
    """Return the mount that holds `path`; raise `AbsentError`. The table may name hosts: it is not kept."""
    table = source.once("mounts", lambda: source.read("/proc/self/mountinfo").splitlines())
    best = None
    for mount in map(_mount, table):
        inside = path == mount.point or path.startswith(mount.point.rstrip("/") + "/")
        if inside and (best is None or len(mount.point) >= len(best.point)):  # a later mount covers an earlier
            best = mount
    if best is None:
        raise AbsentError
    return best


def _scratch(source: Source) -> str:
    """Return the data folder, or its nearest parent that is there already."""
    folder = source.paths.data.resolve()
    return str(next(place for place in (folder, *folder.parents) if place.exists()))


def _options(mount: Mount) -> list[str]:
    """Return the options that say how files behave; others may carry addresses, users and their folders."""
    told = dict.fromkeys(mount.options.split(","))
    plain = (
        "rw",
        "ro",
        "noatime",
        "relatime",
        "strictatime",
        "lazytime",
        "sync",
        "discard",
        "noexec",
        "nobarrier",
        "dax",
    )
    keyed = ("size=", "huge=", "data=", "compress", "mpol=", "commit=", "nr_inodes=")
    return [word for word in told if word in plain or word.startswith(keyed)]


def _space(source: Source, path: str) -> tuple[int, int]:
    return source.once(f"space {path}", lambda: source.system.space(path))


GROUP.add("shm_size", "Shared memory file system", int, lambda s: _space(s, SHM)[0], unit="bytes")
GROUP.add("shm_free", "Shared memory file system, free", int, lambda s: _space(s, SHM)[1], unit="bytes")
GROUP.add("shm_filesystem", "Shared memory file system type", str, lambda s: mount_of(s, SHM).filesystem)
GROUP.add("shm_options", "Shared memory mount options", list, lambda s: _options(mount_of(s, SHM)))
GROUP.add("scratch_size", "Data folder's file system", int, lambda s: _space(s, _scratch(s))[0], unit="bytes")
GROUP.add("scratch_free", "Data folder's file system, free", int, lambda s: _space(s, _scratch(s))[1], unit="bytes")
GROUP.add("scratch_filesystem", "Data folder's file system type", str, lambda s: mount_of(s, _scratch(s)).filesystem)
GROUP.add("scratch_options", "Data folder's mount options", list, lambda s: _options(mount_of(s, _scratch(s))))


@GROUP.fact("Kind of disk under the data folder", str)
def _scratch_disk(source: Source) -> str:
    """Return `nvme`, `solid-state`, `rotating`, `virtual`, `card`, `memory` or `network`."""
    mount = mount_of(source, _scratch(source))
    if mount.filesystem in MEMORY:
        return "memory"
    if mount.filesystem in NETWORK:
        return "network"
    return _kind(source, _device(source, mount))


@GROUP.fact("Disk scheduler under the data folder", str)
def _scratch_scheduler(source: Source) -> str:
    device = _device(source, mount_of(source, _scratch(source)))
    words = source.text(f"{device}/queue/scheduler").split()
    return next((word.strip("[]") for word in words if word.startswith("[")), "none")


def _device(source: Source, mount: Mount) -> str:
    """Return the /sys folder of a mount's whole disk, through partitions and the first slave of layers."""
    top = os.path.realpath(source.path("/sys"))
    name = os.path.basename(os.path.realpath(source.path(mount.device)))  # noqa: PTH119 - /dev/mapper/x -> ../dm-0
    for link in (f"/sys/dev/block/{mount.number}", f"/sys/class/block/{name}"):
        if source.exists(link):
            real = os.path.realpath(source.path(link))
            break
    else:
        raise AbsentError
    folder = "/sys" + real.removeprefix(top)
    while slaves := source.names(f"{folder}/slaves"):  # LUKS, LVM and RAID lie on something
        real = os.path.realpath(source.path(f"{folder}/slaves/{slaves[0]}"))
        folder = "/sys" + real.removeprefix(top)
    if not source.exists(f"{folder}/queue"):
        folder = folder.rpartition("/")[0]
    return folder


def _kind(source: Source, device: str) -> str:
    name = device.rpartition("/")[2]
    try:
        model = source.text(f"{device}/device/model").lower()
    except AbsentError:
        model = ""
    if name.startswith(("vd", "xvd")) or any(word in model for word in VIRTUAL_MODELS):
        return "virtual"
    if name.startswith("nvme"):
        return "nvme"
    if name.startswith("mmcblk"):
        return "card"
    return "rotating" if source.text(f"{device}/queue/rotational").strip() == "1" else "solid-state"
