"""What a launch has left in the system at a moment, by the names that are its own: before anything is cleaned up."""

from pathlib import Path

from ipclab.spawn.ledger import NAME_KINDS, SHARED_MEMORY
from ipclab.spawn.owned import FILE, KINDS, owned


def left(prefix: str, folder: str) -> dict[str, float]:
    """Return how many objects of the launch with `prefix` there are in /dev/shm, in `folder`, and as kernel queues."""
    number = prefix.rpartition("-")[2]
    shared = tuple(f"{kind}{prefix}-" for kind in NAME_KINDS)
    ledger = Path(folder) / f"{number}-{FILE}"
    known = owned(ledger.read_bytes()) if ledger.is_file() else []
    return {
        "shared_memory": sum(entry.name.startswith(shared) for entry in SHARED_MEMORY.iterdir()),
        "files": sum(path != ledger for path in Path(folder).glob(f"{number}-*")),
        "queues": sum(KINDS[kind].exists(name) for kind, name in dict.fromkeys(known)),
    }
