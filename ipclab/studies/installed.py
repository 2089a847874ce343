"""The studies that are installed, ours and other packages'."""

from functools import cache

from ipclab.backends.installed import load
from ipclab.plugins import chosen, installed
from ipclab.studies.interface import Study

GROUP = "ipclab.studies"
# The order of measuring: the limits first, for every run is read against them; `stream` is of our
# plug-in. What is not named here follows by name.
ORDER = (
    "limits",
    "payload",
    "shared_dict",
    "multiplexer",
    "round_trip",
    "file_io",
    "stream",
    "calibration",
)


@cache
def studies() -> dict[str, Study]:
    """Return every registered study by name, limits first; `UsageError` for one not loadable."""
    registered = installed(GROUP, "study", Study)  # type: ignore[type-abstract]
    ordered = [name for name in ORDER if name in registered]
    return {name: registered[name] for name in dict.fromkeys([*ordered, *registered])}


def study(name: str) -> Study:
    """Return the study called `name`; `UsageError` with the nearest name when there is none."""
    return chosen("study", name, studies())


def preload() -> None:
    """Import what the workers need, so that a forked worker starts in milliseconds."""
    import numpy as np

    import ipclab.spawn.proof  # noqa: F401
    from ipclab.spawn import wire, worker

    np.random.Generator(np.random.PCG64(0)).bytes(8)
    np.median(np.arange(3))
    for message in (worker.Meeting({}), worker.Turn({})):  # whose forms each would look up
        wire.from_wire(wire.wire_bytes(message), type(message))
    wire.wire_bytes(worker.Outcome())
    load()
    studies()
