"""Was a run measured here? Its facts are compared, all that identify a machine but the kernel.

A reader is told of another machine in the first line.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from ipclab.machine.facts import FACTS, take_fact
from ipclab.machine.source import Source
from ipclab.store.run import RunFolder

# tells machines apart where two are compared; over time it is what may have changed
UPDATED = "kernel_release"
IDENTITY = tuple(fact.name for fact in FACTS if fact.identifies and fact.name != UPDATED)
LONGEST = 80  # characters of a processor's name


def elsewhere(run: RunFolder) -> bool:
    """Tell whether `run` is of another machine: a fact of it that both have differs.

    It does not matter where the run lies.
    """
    theirs, ours = run.facts, _facts()
    shared = (name for name in IDENTITY if None not in (theirs.get(name), ours.get(name)))
    return any(theirs[name] != ours[name] for name in shared)


def processor(run: RunFolder) -> str:
    """Return what the processor of a run's machine is called."""
    name = " ".join(str(run.facts.get("cpu_model") or "").split())
    return name[:LONGEST] or "an unknown processor"


def origin_lines(runs: Iterable[RunFolder]) -> list[str]:
    """Return a line for each run that was not measured here: its machine, its date, its name."""
    return [
        f"not measured here, but on {processor(run)} (machine {run.machine})"
        f" on {run.about['begun'][:10]}: {run.id}"
        for run in runs
        if elsewhere(run)
    ]


@cache
def _facts() -> Mapping[str, Any]:
    source = Source()
    return {fact.name: take_fact(fact, source)[0] for fact in FACTS if fact.name in IDENTITY}
