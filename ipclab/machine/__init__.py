"""The facts that identify a machine, those that merely vary, and its topology."""

from ipclab.machine.conditions import Conditions, conditions, disturbance
from ipclab.machine.facts import FACTS, TOPICS, Fact, Value
from ipclab.machine.record import REASONS, Machine, Row, affects, collect, digest_of, label, shown
from ipclab.machine.source import AbsentError, Source, System
from ipclab.machine.topology import RELATIONS, Cache, Topology, pairs

__all__ = [
    "FACTS", "REASONS", "RELATIONS", "TOPICS", "AbsentError", "Cache", "Conditions", "Fact", "Machine",
    "Row", "Source", "System", "Topology", "Value", "affects", "collect", "conditions", "digest_of", "disturbance",
    "label", "pairs", "shown",
]  # fmt: skip
