"""How processes end: with their parent, and with what last words and for what likely reason."""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

from ipclab.spawn.ledger import SHARED_MEMORY, free_shared_memory

PR_SET_PDEATHSIG = 1
STDERR_TAIL = 400
TAIL_BYTES = 8 << 10  # of a file, in which the last line that says anything stands
SILENCE = "nothing on its stderr"


def die_with_parent(parent: int, sign: int = signal.SIGKILL) -> None:
    """Have the kernel send `sign` to this process when its parent `parent` ends (prctl(2))."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, sign)
    if os.getppid() != parent:
        os.kill(os.getpid(), sign)


def tail(file: Path) -> str:
    """Return the end of what `file` says: the last line, however much stands before it."""
    with file.open("rb") as opened:
        opened.seek(-min(TAIL_BYTES, opened.seek(0, os.SEEK_END)), os.SEEK_END)
        return opened.read(TAIL_BYTES).decode(errors="replace")


def last_line(*texts: str) -> str:
    """Return the end of the last line that says anything, in the first of `texts` that has one."""
    for text in texts:
        if lines := [line.strip() for line in text.splitlines() if line.strip("-> \t\0")]:
            return lines[-1][-STDERR_TAIL:]
    return ""


def ending(code: int) -> str:
    """Return how a process with exit code `code` ended.

    What ends one without a word (SIGBUS) is named.
    """
    if code >= 0:
        return f"ended with exit code {code}"
    cut = " or when another process cuts shared memory short that is mapped here"
    why = full_memory_words(sys.maxsize) + cut if code == -signal.SIGBUS else ""
    with suppress(ValueError):  # a real-time signal has no name
        return f"was killed by {signal.Signals(-code).name}{why}"
    return f"was killed by signal {-code}"


def full_memory_words(need: int) -> str:
    """Return words that name a full /dev/shm when fewer than `need` bytes are free there."""
    free = free_shared_memory()
    return (
        f", as happens when {SHARED_MEMORY} is full ({free:,} bytes are free now)"
        if free < need
        else ""
    )
