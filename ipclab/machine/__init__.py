"""The facts that identify a machine, those that merely vary, and its topology."""

from ipclab.machine.conditions import Conditions, conditions, disturbance
from ipclab.machine.facts import Machine, collect
from ipclab.machine.source import AbsentError, Source, System
from ipclab.machine.topology import Topology

__all__ = [
    "AbsentError", "Conditions", "Machine", "Source", "System", "Topology", "collect", "conditions", "disturbance",
]  # fmt: skip
