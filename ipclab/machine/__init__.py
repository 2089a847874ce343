"""The facts that identify a machine, those that merely vary, and its topology."""

from ipclab.machine.conditions import Conditions, conditions, disturbance
from ipclab.machine.facts import (
    FACTS,
    REASONS,
    TOPICS,
    Fact,
    Machine,
    affects,
    collect,
    digest_of,
    shown,
)
from ipclab.machine.readers import Value
from ipclab.machine.source import AbsentError, Source, System
from ipclab.machine.topology import Topology

__all__ = [
    "FACTS", "REASONS", "TOPICS", "AbsentError", "Conditions", "Fact", "Machine", "Source", "System", "Topology",
    "Value", "affects", "collect", "conditions", "digest_of", "disturbance", "shown",
]  # fmt: skip
