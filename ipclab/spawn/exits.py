"""What a process that has ended left to be told: its last words, and why it may have ended."""

import os
import signal
import sys
from contextlib import suppress

from ipclab.spawn.ledger import SHARED_MEMORY

STDERR_TAIL = 400
SILENCE = "nothing on its stderr"


def last_line(text: str) -> str:
    """Return the end of the last line of `text` that says anything."""
    lines = [line.strip() for line in text.splitlines() if line.strip("-> \t\0")]
    return lines[-1][-STDERR_TAIL:] if lines else ""


def ending(code: int) -> str:
    """Return how a process with exit code `code` ended; what ends one without a word (SIGBUS) is
    named.
    """
    if code >= 0:
        return f"ended with exit code {code}"
    cut = " or when another process cuts shared memory short that is mapped here"
    why = full(sys.maxsize) + cut if code == -signal.SIGBUS else ""
    with suppress(ValueError):  # a real-time signal has no name
        return f"was killed by {signal.Signals(-code).name}{why}"
    return f"was killed by signal {-code}"


def full(need: int) -> str:
    """Return words that name /dev/shm as the likely cause when fewer than `need` bytes are free
    there, else nothing.
    """
    where = os.statvfs(SHARED_MEMORY)
    free = where.f_bavail * where.f_frsize
    return (
        f", as happens when {SHARED_MEMORY} is full ({free:,} bytes are free now)"
        if free < need
        else ""
    )
