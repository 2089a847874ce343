"""The backends that are installed, ours and other packages'."""

from collections.abc import Callable
from functools import cache

from ipclab.backends.interface import Backend
from ipclab.backends.library import Library
from ipclab.plugins import chosen, installed

GROUP = "ipclab.backends"


@cache
def backends() -> dict[str, Backend]:
    """Return every registered backend by name, sorted.

    Raises `UsageError` when an entry point cannot be loaded or gives no `Backend`.
    """
    return installed(GROUP, "backend", Backend)


def load() -> None:
    """Import what the backends rest on, so that processes forked from this one have it."""
    backends()
    for library in Library.known:
        library.load()


def ready(fits: Callable[[Backend], object]) -> dict[str, Backend]:
    """Return by name the backends that are not missing here and of which `fits` says yes."""
    return {
        name: backend
        for name, backend in backends().items()
        if not backend.missing() and fits(backend)
    }


def backend(name: str) -> Backend:
    """Return the backend called `name`; `UsageError` with the nearest name when there is none."""
    return chosen("backend", name, backends())


def keeps(name: str) -> bool:
    """Tell whether what is written into a backend stays to be read: state, not a message."""
    registered = backends().get(name)
    return bool(registered and registered.store and registered.store.keeps)
