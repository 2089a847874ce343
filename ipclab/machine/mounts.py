"""Where /dev/shm and the data folder lie: mounts, their file systems, and the disk under them."""

import os
from pathlib import Path
from typing import NamedTuple

from ipclab.machine.parse import KNOWN
from ipclab.machine.source import Source, present

SHM = "/dev/shm"


class Mount(NamedTuple):
    """One line of mountinfo: device number, mount point, options, file system, device."""

    number: str
    point: str
    options: str
    filesystem: str
    device: str


def _mount(line: str) -> Mount:
    before, _, after = line.partition(" - ")
    first = before.split()
    second = after.split()
    point = first[4].encode().decode("unicode_escape")  # blanks are written \040
    return Mount(first[2], point, f"{first[5]},{second[2]}", second[0], second[1])


def mount_of(source: Source, path: str) -> Mount:
    """Return the mount that holds `path`, or `AbsentError`; its table is not kept: hosts' names."""
    table = source.once("mounts", lambda: source.read("/proc/self/mountinfo").splitlines())
    mounts = map(_mount, reversed(table))  # a later mount covers an earlier
    holding = [mount for mount in mounts if f"{path}/".startswith(f"{mount.point.rstrip('/')}/")]
    return max(present(holding), key=lambda mount: len(mount.point))


def mount(source: Source, place: str) -> Mount:
    """Return the mount of `shm` or `scratch`."""
    return mount_of(source, folder(source, place))


def folder(source: Source, place: str) -> str:
    """Return the folder of `shm`, or of `scratch`: data, or its nearest existing parent."""
    return SHM if place == "shm" else str(existing(source.paths.data.resolve()))


def space(source: Source, place: str) -> tuple[int, int]:
    """Return size and free bytes of the file system of `shm` or `scratch`."""
    return source.system.space(folder(source, place))


def mount_options(source: Source) -> list[str]:
    """Return how files behave by the data folder's mount options; others may name users."""
    words = mount(source, "scratch").options.split(",")
    keys = tuple(KNOWN["mount_keys"])
    kept = [word for word in words if word in KNOWN["mount_options"] or word.startswith(keys)]
    return list(dict.fromkeys(kept))


def disk(source: Source) -> str:
    """Return what lies under the data folder.

    It is nvme, solid-state, rotating, virtual, card, memory or network.
    """
    place = mount(source, "scratch")
    for kind in ("memory", "network"):
        if place.filesystem in KNOWN[kind]:
            return kind
    device = _device(source, place)
    model = source.parsed(f"{device}/device/model", str.lower, "")
    if any(word in model for word in KNOWN["virtual_models"]):
        return "virtual"
    for start, kind in KNOWN["disks"].items():
        if device.rpartition("/")[2].startswith(start):
            return str(kind)
    return "rotating" if source.text(f"{device}/queue/rotational").strip() == "1" else "solid-state"


def scheduler(source: Source) -> str:
    """Return how the disk under the data folder orders requests."""
    device = _device(source, mount(source, "scratch"))
    words = source.text(f"{device}/queue/scheduler").split()
    return next((word.strip("[]") for word in words if word.startswith("[")), "none")


def _device(source: Source, mount: Mount) -> str:
    """Return the /sys folder of a mount's whole disk, through partitions and layers."""

    sys = os.path.realpath(source.path("/sys"))

    def real(link: str) -> str:
        return "/sys" + os.path.realpath(source.path(link)).removeprefix(sys)

    # /dev/mapper/x leads to ../dm-0
    name = os.path.basename(os.path.realpath(source.path(mount.device)))  # noqa: PTH119
    links = (f"/sys/dev/block/{mount.number}", f"/sys/class/block/{name}")
    folder = real(present(next(filter(source.exists, links), "")))
    while slaves := source.names(f"{folder}/slaves"):  # LUKS, LVM and RAID lie on something
        folder = real(f"{folder}/slaves/{slaves[0]}")
    return folder if source.exists(f"{folder}/queue") else folder.rpartition("/")[0]


def existing(folder: Path) -> Path:
    """Return `folder`, or its nearest parent that is there already."""
    return next(place for place in (folder, *folder.parents) if place.exists())
