"""The facts that identify a machine, those that merely vary, and its topology."""

from ipclab_measure.machine.conditions import Conditions, conditions, disturbance
from ipclab_measure.machine.facts import Machine, collect
from ipclab_measure.machine.source import AbsentError, Source, System
from ipclab_measure.machine.topology import Topology

__all__ = [
    "AbsentError", "Conditions", "Machine", "Source", "System", "Topology", "collect", "conditions", "disturbance",
]  # fmt: skip
