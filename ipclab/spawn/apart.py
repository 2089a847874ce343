"""The namespaces that container runtimes part (namespaces(7)), for a process that leaves those of
its peer.
"""

import ctypes
import os
from functools import cache, partial

from ipclab.spawn.ledger import SHARED_MEMORY
from ipclab.spawn.network import permitted, unshare

NONE = "none"
MS_REC, MS_PRIVATE = 0x4000, 0x40000
OWN_MEMORY = b"mode=0700"


def leave(boundary: str) -> None:
    """Leave the namespace called `boundary`, for good; with that of mounts goes /dev/shm, for one
    of its own.

    Raises `OSError` where that is refused. Without privileges it takes a user namespace too.
    """
    if boundary == NONE:
        return
    unshare(boundary, *(["user"] if os.geteuid() else []))
    if boundary == "mount":
        libc = ctypes.CDLL(None, use_errno=True)
        place = os.fsencode(SHARED_MEMORY)
        apart = libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None)
        if apart or libc.mount(b"tmpfs", place, b"tmpfs", 0, OWN_MEMORY):
            raise OSError(ctypes.get_errno(), "mount", str(SHARED_MEMORY))


@cache
def refuses(boundary: str) -> str | None:
    """Return why no process can leave `boundary` here, None where one can; a child tries it."""
    if boundary == NONE or permitted(partial(leave, boundary)):
        return None
    return "a namespace of one's own takes root, or the right to make user namespaces"
