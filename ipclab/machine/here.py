"""Is a run of this machine? Its facts are compared, all that identify one but the kernel."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from ipclab.machine.facts import collect
from ipclab.machine.table import FACTS

# tells machines apart where two are compared; over time it is what may have changed
UPDATED = "kernel_release"
IDENTITY = tuple(fact.name for fact in FACTS if fact.identifies and fact.name != UPDATED)


def same_machine(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Tell whether two runs' facts are of one machine: all but the kernel, where both have it."""
    shared = (
        name for name in IDENTITY if one.get(name) is not None and other.get(name) is not None
    )
    return all(one[name] == other[name] for name in shared)


def is_here(facts: Mapping[str, Any]) -> bool:
    """Tell whether a run's `facts` are those of this machine."""
    return same_machine(facts, _facts())


@cache
def _facts() -> Mapping[str, Any]:
    return collect().facts
