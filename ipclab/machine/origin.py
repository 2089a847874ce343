"""Was a run measured here? A reader is told of another machine in the first line."""

from ipclab.machine.here import is_here
from ipclab.store.run import RunFolder

LONGEST = 80  # characters of a processor's name


def elsewhere(run: RunFolder) -> bool:
    """Tell whether `run` is of another machine: its facts say it, wherever the run lies."""
    return not is_here(run.facts)


def processor(run: RunFolder) -> str:
    """Return what the processor of a run's machine is called."""
    name = " ".join(str(run.facts.get("cpu_model") or "").split())
    return name[:LONGEST] or "an unknown processor"
