"""The control groups of this process, both versions, from its own folder up to the mount."""

from ipclab.machine.source import AbsentError, Source

MOUNT = "/sys/fs/cgroup"


def _folders(source: Source, controller: str) -> list[str]:
    """Return what governs `controller`, innermost first.

    A group's path may name a container: no raw file is kept.
    """
    try:
        lines = source.once("cgroups", lambda: source.read("/proc/self/cgroup").splitlines())
    except AbsentError:
        return []
    folders: list[str] = []
    for number, controllers, path in (line.split(":", 2) for line in lines):
        if number == "0" and not controllers:
            alone = source.exists(f"{MOUNT}/cgroup.controllers")
            mounts = [MOUNT if alone else f"{MOUNT}/unified"]
        elif controller in controllers.split(","):
            mounts = [f"{MOUNT}/{controllers}", f"{MOUNT}/{controller}"]
        else:
            continue
        parts = [part for part in path.split("/") if part and part != ".."]
        mount = next(filter(source.exists, mounts), mounts[0])  # others are links to it
        for depth in range(len(parts), -1, -1):
            folders.append("/".join([mount, *parts[:depth]]))
    return [folder for folder in dict.fromkeys(folders) if source.exists(folder)]


def _read(source: Source, folder: str, name: str) -> str:
    try:
        return source.read(f"{folder}/{name}").strip()
    except AbsentError:
        return ""


def _tightest(limits: list[float]) -> float:
    if not limits or min(limits) == float("inf"):
        raise AbsentError("unlimited" if limits else "absent")
    return min(limits)


def cpu_quota(source: Source) -> float:
    """Return how many CPUs' time the tightest group grants; `AbsentError` if unlimited."""
    quotas = []
    for folder in _folders(source, "cpu"):
        quota, _, period = _read(source, folder, "cpu.max").partition(" ")
        if not quota:
            quota = _read(source, folder, "cpu.cfs_quota_us")
            period = _read(source, folder, "cpu.cfs_period_us")
        if quota and period:
            quotas.append(float("inf") if quota in {"max", "-1"} else int(quota) / int(period))
    return _tightest(quotas)


def memory_limit(source: Source) -> int:
    """Return the tightest group's memory limit in bytes; `AbsentError` if unlimited."""
    limits = []
    for folder in _folders(source, "memory"):
        for name in ("memory.max", "memory.limit_in_bytes"):
            if limit := _read(source, folder, name):
                # Version 1 writes the largest number of pages for "no limit".
                endless = limit == "max" or int(limit) >= 1 << 62
                limits.append(float("inf") if endless else float(limit))
    return int(_tightest(limits))


def throttled_ns(source: Source) -> int:
    """Return for how many ns CPU quotas held groups back, each its own; or `AbsentError`."""
    held = []
    for folder in source.once("cpu groups", lambda: _folders(source, "cpu")):
        words = dict(line.split() for line in _read(source, folder, "cpu.stat").splitlines())
        for name, factor in (("throttled_usec", 1000), ("throttled_time", 1)):
            if name in words:
                held.append(int(words[name]) * factor)
    if not held:
        raise AbsentError
    return sum(held)
