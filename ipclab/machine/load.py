"""Facts about the machine's momentary load; none identifies it."""

from ipclab.machine.conditions import sample
from ipclab.machine.registry import Group
from ipclab.machine.source import AbsentError, Source

GROUP = Group("load", "Load")


def _condition(name: str, label: str, key: str, kind: type = int, unit: str = "") -> None:
    def read(source: Source) -> int | float:
        value = source.once("conditions", lambda: sample(source, source.text))[key]
        if value is None:
            raise AbsentError
        return value

    GROUP.add(name, label, kind, read, unit=unit)


GROUP.add(
    "uptime",
    "Time since start",
    int,
    lambda source: round(float(source.text("/proc/uptime").split()[0]) * 1e9),
    unit="ns",
)
_condition("load_one", "Load, over a minute", "load_1", float)
_condition("load_five", "Load, over five minutes", "load_5", float)
_condition("load_fifteen", "Load, over fifteen minutes", "load_15", float)
_condition("running", "Tasks running or ready", "running")
_condition("tasks", "Tasks", "tasks")
_condition("forks", "Processes made since start", "forks")
_condition("context_switches", "Context switches since start", "context_switches")
_condition("busy", "CPU time used since start", "busy_ns", unit="ns")
_condition("steal", "CPU time stolen by the host since start", "steal_ns", unit="ns")
_condition("throttled", "Time held back by the CPU quota", "throttled_ns", unit="ns")
for _name, _label in (("cpu", "CPU"), ("memory", "Memory"), ("io", "Storage")):
    _condition(f"pressure_{_name}", f"{_label} pressure, recent", f"pressure_{_name}_percent", float, "%")
    _condition(f"pressure_{_name}_total", f"{_label} pressure since start", f"pressure_{_name}_ns", unit="ns")
