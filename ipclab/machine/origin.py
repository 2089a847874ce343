"""Was a run measured here? A reader is told of another machine in the first line."""

from ipclab.plugins import offered
from ipclab.store.run import RunFolder

LONGEST = 80  # characters of a processor's name


def elsewhere(run: RunFolder) -> bool:
    """Tell whether `run` is of another machine: its facts say it, wherever the run lies.

    Who cannot measure cannot tell, and names the machine of each run.
    """
    return not offered("is_here", lambda _facts: False)(run.facts)


def processor(run: RunFolder) -> str:
    """Return what the processor of a run's machine is called."""
    name = " ".join(str(run.facts.get("cpu_model") or "").split())
    return name[:LONGEST] or "an unknown processor"
