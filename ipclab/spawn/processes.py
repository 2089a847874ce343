"""What processes have started, and which threads they have (proc(5)): who has ended is left out."""

from contextlib import suppress
from pathlib import Path


def children(process: int | str = "self") -> set[int]:
    """Return the children of `process`, as far as the kernel tells (CONFIG_PROC_CHILDREN).

    Among them are those that have ended and that nobody has waited for yet.
    """
    pids = set()
    for thread in threads_of(process):
        with suppress(OSError):
            started = Path(f"/proc/{process}/task/{thread}/children").read_text()
            pids |= {int(pid) for pid in started.split()}
    return pids


def threads_of(process: int | str) -> list[int]:
    """Return the threads of `process`; none of one that has ended."""
    with suppress(OSError):
        return [int(thread.name) for thread in Path(f"/proc/{process}/task").iterdir()]
    return []
