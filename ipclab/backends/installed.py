"""The backends that are installed, ours and other packages'."""

from functools import cache
from importlib.metadata import entry_points

from ipclab.backends.interface import Backend
from ipclab.errors import UsageError
from ipclab.errors import nearest

GROUP = "ipclab.backends"


@cache
def backends() -> dict[str, Backend]:
    """Return every registered backend by name, sorted.

    Raises `UsageError` when an entry point cannot be loaded or gives no `Backend`.
    """
    found: dict[str, Backend] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            backend = entry.load()
        except Exception as error:
            raise UsageError(f"backend {entry.name!r} cannot be loaded", str(error), f"fix {entry.value}") from error
        if not isinstance(backend, Backend) or backend.name != entry.name:
            raise UsageError(f"backend {entry.name!r} is not a Backend of that name", f"see {entry.value}")
        found[entry.name] = backend
    return found


def backend(name: str) -> Backend:
    """Return the backend called `name`; raises `UsageError` with the nearest name when there is none."""
    known = backends()
    if name not in known:
        fix = f"did you mean {nearest(name, known)!r}? 'ipclab backends' lists them"
        raise UsageError(f"unknown backend {name!r}", "", fix)
    return known[name]


def preload() -> None:
    """Import what the workers need, so that a forked worker starts in milliseconds."""
    import numpy as np

    import ipclab.spawn.proof
    import ipclab.studies.installed  # noqa: F401

    np.random.Generator(np.random.PCG64(0)).bytes(8)
    backends()
