"""Was a run measured here? A reader is told of another machine in the first line."""

from ipclab.paths import Paths
from ipclab.plugins import offered
from ipclab.store.run import RunFolder

LONGEST = 80  # characters of a processor's name


def elsewhere(paths: Paths, run: RunFolder) -> bool:
    """Tell whether `run` was brought here, or is one made here but of another machine.

    Who cannot measure takes a run made in this checkout for one of this machine.
    """
    made_here = paths.runs.resolve() in run.path.resolve().parents
    return not made_here or not offered("is_here", lambda _facts: True)(run.facts)


def processor(run: RunFolder) -> str:
    """Return what the processor of a run's machine is called."""
    name = " ".join(str(run.facts.get("cpu_model") or "").split())
    return name[:LONGEST] or "an unknown processor"
