"""The facts that identify a machine, those that merely vary, and its topology."""

from ipclab.machine.conditions import Conditions, conditions, disturbance
from ipclab.machine.record import FACTS, GROUPS, Machine, Row, collect, describe, digest_of, label
from ipclab.machine.registry import FactSpec, Value
from ipclab.machine.source import AbsentError, Source, System
from ipclab.machine.topology import RELATIONS, Cache, Topology, pairs

__all__ = [
    "FACTS",
    "GROUPS",
    "RELATIONS",
    "AbsentError",
    "Cache",
    "Conditions",
    "FactSpec",
    "Machine",
    "Row",
    "Source",
    "System",
    "Topology",
    "Value",
    "collect",
    "conditions",
    "describe",
    "digest_of",
    "disturbance",
    "label",
    "pairs",
]
