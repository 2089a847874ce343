"""Was a run measured here? A reader is told of another machine in the first line."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from ipclab.paths import Paths
from ipclab.plugins import part
from ipclab.store.facts import FACTS
from ipclab.store.run import RunFolder

LONGEST = 80  # characters of a processor's name
# tells machines apart where two are compared; over time it is what may have changed
UPDATED = "kernel_release"
IDENTITY = tuple(fact.name for fact in FACTS if fact.identifies and fact.name != UPDATED)


def same_machine(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Tell whether two runs' facts are of one machine: all but the kernel, where both have it."""
    shared = (
        name for name in IDENTITY if one.get(name) is not None and other.get(name) is not None
    )
    return all(one[name] == other[name] for name in shared)


def elsewhere(paths: Paths, run: RunFolder) -> bool:
    """Tell whether `run` was brought here, or is one made here but of another machine."""
    made_here = paths.runs.resolve() in run.path.resolve().parents
    return not made_here or not same_machine(run.facts, _facts())


def lines(paths: Paths, runs: Iterable[RunFolder]) -> list[str]:
    """Return a line for each run that was not measured here: its machine, its date, its name."""
    return [_line(run) for run in runs if elsewhere(paths, run)]


def processor(run: RunFolder) -> str:
    """Return what the processor of a run's machine is called."""
    name = " ".join(str(run.facts.get("cpu_model") or "").split())
    return name[:LONGEST] or "an unknown processor"


def _line(run: RunFolder) -> str:
    day = run.about["begun"][:10]
    return f"not measured here, but on {processor(run)} (machine {run.machine}) on {day}: {run.id}"


@cache
def _facts() -> Mapping[str, Any]:
    facts: Mapping[str, Any] = part("facts")().facts
    return facts
