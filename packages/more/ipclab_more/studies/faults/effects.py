"""What a fault does: how calls of a peer end, to messages, and what it leaves before any clean-up."""

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from time import perf_counter_ns as clock

from ipclab.spawn.ledger import NAME_KINDS, SHARED_MEMORY
from ipclab.spawn.owned import FILE, KINDS, owned

END, HALF, ERROR, SILENCE, OLD, WELL = ENDINGS = ("end", "half", "error", "silence", "old", "well")
SeenNumbers = list[int | None]


def attempt_outcome(
    attempt: Callable[[], object], inside: Callable[[], object] = lambda: False
) -> tuple[str, int]:
    """Return how `attempt`, made again and again, ends, and the clock (ns) then.

    An end is `HALF` where it came `inside` a message; a deadline that passes is `SILENCE`, a
    `StopIteration` is `WELL`.
    """
    try:
        while True:
            attempt()
    except TimeoutError:
        ending = SILENCE
    except StopIteration:
        ending = WELL
    except (BrokenPipeError, ConnectionError, EOFError):
        ending = HALF if inside() else END
    except Exception:
        ending = ERROR
    return ending, clock()


def shares(kind: str) -> dict[str, float]:
    """Return the counters of one fault that was seen as `kind`."""
    return {ending: float(ending == kind) for ending in ENDINGS}


def losses(accepted: int, seen: SeenNumbers) -> dict[str, float]:
    """Return how many messages below `accepted` were lost, and how many came twice, late, torn."""
    whole = [number for number in seen if number is not None]
    return {
        "lost": float(accepted - len({number for number in whole if number < accepted})),
        "doubled": float(len(whole) - len({*whole})),
        "reordered": float(sum(late < early for early, late in pairwise(whole))),
        "torn": float(len(seen) - len(whole)),
    }


def left(prefix: str, folder: str) -> dict[str, float]:
    """Return how many objects of a launch are left: in /dev/shm, `folder`, and kernel queues."""
    number = prefix.rpartition("-")[2]
    shared = tuple(f"{kind}{prefix}-" for kind in NAME_KINDS)
    ledger = Path(folder) / f"{number}-{FILE}"
    entries = owned(ledger.read_bytes()) if ledger.is_file() else []
    return {
        "shared_memory": sum(entry.name.startswith(shared) for entry in SHARED_MEMORY.iterdir()),
        "files": sum(path != ledger for path in Path(folder).glob(f"{number}-*")),
        "queues": sum(KINDS[kind].exists(name) for kind, name in dict.fromkeys(entries)),
    }
