"""What varies from launch to launch, sampled before and after each; and what of it disturbs."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

from ipclab.machine import cgroup
from ipclab.machine.source import AbsentError, Source

# A launch is flagged above these; it is repeated, and both are kept.
STEAL_SHARE = 0.01  # of the launch's time, summed over CPUs
STEAL_TICKS = 2  # less than this cannot be told from rounding
PRESSURES = ("cpu", "memory", "io")  # that are read
PRESSURE_SHARE = {"memory": 0.01, "io": 0.05}  # of the launch's time some task waited for it
QUEUE_SHARE = 0.05  # of its measured time a worker was ready but another task had its CPU
STAT = {"context_switches": "ctxt", "forks": "processes", "running": "procs_running"}
# Counted by x86 kernels (Documentation/ABI/testing/sysfs-devices-system-cpu), seldom by virtual
# machines.
HOT = "/sys/devices/system/cpu/cpu{cpu}/thermal_throttle/{part}_throttle_count"
LOAD = ("load_1", "load_5", "load_15", "tasks")
READINGS = ["cpus", "steal_ns", "busy_ns", *STAT, *LOAD, "throttled_ns", "clock_throttles"]
READINGS += [f"pressure_{name}_{unit}" for name in PRESSURES for unit in ("percent", "ns")]

Conditions = dict[str, int | float | None]
Readings = Mapping[str, int | float | None]


def conditions(source: Source) -> Conditions:
    """Sample the machine (under 1 ms); None where absent.

    Keys: `tick_ns`, `cpus`, `steal_ns`, `busy_ns`, `context_switches`, `forks`, `running`,
    `load_1`, `load_5`, `load_15`, `tasks`, `throttled_ns`, `clock_throttles`, and for cpu, memory
    and io `pressure_*_ns` (total time) and `pressure_*_percent` (of the last 10 s).
    """
    tick_ns = 1_000_000_000 // source.system.sysconf("SC_CLK_TCK")
    parts: list[Callable[[], Conditions]] = [
        lambda: _stat(source.read("/proc/stat"), tick_ns),
        lambda: _load(source.read("/proc/loadavg").split()),
        lambda: {"throttled_ns": cgroup.throttled_ns(source)},
        lambda: {"clock_throttles": _clock_throttles(source)},
        *(partial(_pressure, source, name) for name in PRESSURES),
    ]
    result: Conditions = {"tick_ns": tick_ns, **dict.fromkeys(READINGS)}
    for part in parts:
        with suppress(AbsentError, ValueError, IndexError, KeyError):
            result |= part()
    return result


def _stat(text: str, tick_ns: int) -> Conditions:
    lines = [line.split(None, 10) for line in text.splitlines()]
    total = [int(word) for word in lines[0][1:9]]  # user nice system idle iowait irq softirq steal
    counts = {words[0]: words[1] for words in lines if len(words) > 1}
    readings: Conditions = {key: int(counts[word]) for key, word in STAT.items() if word in counts}
    names = [words[0] for words in lines if words]
    readings["cpus"] = sum(name.startswith("cpu") and name != "cpu" for name in names)
    readings["steal_ns"] = total[7] * tick_ns
    readings["busy_ns"] = (sum(total[:3]) + total[5] + total[6]) * tick_ns
    return readings


def _clock_throttles(source: Source) -> int:
    """Return how often our CPUs' clocks were lowered for heat; `AbsentError` if uncounted."""
    counts = list[int]()
    for cpu in sorted(source.system.affinity()):
        for part in ("core", "package"):
            with suppress(AbsentError):
                counts.append(int(source.read(HOT.format(cpu=cpu, part=part))))
        if not counts:  # then no other CPU has them either
            raise AbsentError
    return sum(counts)


def _load(words: list[str]) -> Conditions:
    averages = map(float, words[:3])
    tasks = int(words[3].partition("/")[2])
    return dict(zip(LOAD, (*averages, tasks), strict=True))


def _pressure(source: Source, name: str) -> Conditions:
    """Parse a pressure file's first line, `some avg10=0.01 avg60=... total=<us>`."""
    words = source.read(f"/proc/pressure/{name}").splitlines()[0].split()[1:]
    values = dict(word.split("=") for word in words)
    return {
        f"pressure_{name}_percent": float(values["avg10"]),
        f"pressure_{name}_ns": int(values["total"]) * 1000,
    }


def disturbance(
    before: Readings, after: Readings, elapsed_ns: int, *, queued_share: float | None = None
) -> list[str]:
    """Return what disturbed a launch: steal, throttling, pressure, or a run queue.

    The words are `steal`, `throttled`, `clock-throttled`, `pressure-{memory,io}` and
    `run-queue`.

    Pure. `queued_share` is the largest share of its measured time for which a worker was ready but
    waited for a CPU; leave it out where the roles share a CPU by intent. CPU pressure of the whole
    machine is not judged: starting and ending our own workers makes it. What is None is not judged.
    """
    steal = grown(before, after, "steal_ns") or 0
    disturbed = {
        "steal": (
            steal > STEAL_SHARE * elapsed_ns and steal >= STEAL_TICKS * (after.get("tick_ns") or 0)
        ),
        "throttled": (grown(before, after, "throttled_ns") or 0) > 0,
        "clock-throttled": (grown(before, after, "clock_throttles") or 0) > 0,
    }
    for name, most in PRESSURE_SHARE.items():
        waited = grown(before, after, f"pressure_{name}_ns") or 0
        disturbed[f"pressure-{name}"] = waited > most * elapsed_ns
    disturbed["run-queue"] = (queued_share or 0) > QUEUE_SHARE
    return [flag for flag, disturbs in disturbed.items() if disturbs]


def grown(before: Readings, after: Readings, key: str) -> int | float | None:
    """Return by how much a reading grew; None where it is not told."""
    first = before.get(key)
    last = after.get(key)
    return None if first is None or last is None else last - first
