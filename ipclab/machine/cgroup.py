"""The control groups of this process, both versions, from its own folder up to the mount."""

from ipclab.machine.source import AbsentError, Source

MOUNT = "/sys/fs/cgroup"


def _folders(source: Source, controller: str) -> list[str]:
    """Return what governs `controller`, innermost first. A group's path may name a container: no
    raw file is kept.
    """
    try:
        lines = source.once("cgroups", lambda: source.read("/proc/self/cgroup").splitlines())
    except AbsentError:
        return []
    folders: list[str] = []
    for number, controllers, path in (line.split(":", 2) for line in lines):
        mounts: list[str] = []
        if number == "0" and not controllers:
            mounts = (
                [MOUNT] if source.exists(f"{MOUNT}/cgroup.controllers") else [f"{MOUNT}/unified"]
            )
        elif controller in controllers.split(","):
            mounts = [f"{MOUNT}/{controllers}", f"{MOUNT}/{controller}"]
        parts = [part for part in path.split("/") if part and part != ".."]
        upwards = [parts[:depth] for depth in range(len(parts), -1, -1)]
        folders += ["/".join([mount, *part]) for mount in mounts for part in upwards]
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
    """Return how many CPUs' time the tightest group grants; raise `AbsentError` (`unlimited` if
    none).
    """
    quotas = []
    for folder in _folders(source, "cpu"):
        quota, _, period = _read(source, folder, "cpu.max").partition(" ")
        if not quota:
            quota, period = (
                _read(source, folder, f"cpu.cfs_{name}_us") for name in ("quota", "period")
            )
        if quota and period:
            quotas.append(float("inf") if quota in {"max", "-1"} else int(quota) / int(period))
    return _tightest(quotas)


def memory_limit(source: Source) -> int:
    """Return the tightest group's memory limit in bytes; raise `AbsentError` (`unlimited` if none)."""
    names = ("memory.max", "memory.limit_in_bytes")
    limits = filter(
        None,
        (_read(source, folder, name) for folder in _folders(source, "memory") for name in names),
    )
    # Version 1 writes the largest number of pages for "no limit".
    return int(
        _tightest(
            [
                float("inf") if text == "max" or int(text) >= 1 << 62 else float(text)
                for text in limits
            ]
        )
    )


def throttled_ns(source: Source) -> int:
    """Return for how long this process's group was held back by its CPU quota, in ns; raise
    `AbsentError`.
    """
    for folder in source.once("cpu groups", lambda: _folders(source, "cpu")):
        words = dict(line.split() for line in _read(source, folder, "cpu.stat").splitlines())
        for name, factor in (("throttled_usec", 1000), ("throttled_time", 1)):
            if name in words:
                return int(words[name]) * factor
    raise AbsentError
