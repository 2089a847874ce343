"""Is there room in shared memory for what is to be measured?"""

import os

from ipclab.errors import LabError, blamed
from ipclab.spawn import ledger

SHARED_MEMORY_SLACK = 1 << 20


def check_shared_memory(largest: int) -> None:
    """Raise `LabError` before anything is measured when /dev/shm cannot hold `largest` bytes."""
    enlarge = "docker run --shm-size=1g; mount -o remount,size=1G /dev/shm"
    with blamed("no /dev/shm", "mount one: mount -t tmpfs tmpfs /dev/shm"):
        where = os.statvfs(ledger.SHARED_MEMORY)
    if where.f_flag & os.ST_RDONLY or not os.access(ledger.SHARED_MEMORY, os.W_OK):
        raise LabError(
            "/dev/shm cannot be written", "", "mount it for writing: mount -o remount,rw /dev/shm"
        )
    free = ledger.free_shared_memory()
    need = largest + SHARED_MEMORY_SLACK
    if free < need:
        why = f"{free:,} bytes are free and {need:,} are needed"
        raise LabError(
            "no room in /dev/shm",
            why,
            f"free some, enlarge it ({enlarge}) or give a smaller --size",
        )
