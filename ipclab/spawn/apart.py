"""Namespaces of a process's own (namespaces(7)), as container runtimes part them.

A process leaves those of its peer; a program that listens on every address of the host, as Open
MPI's daemon does, gets a network of its own.
"""

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

from ipclab.spawn.ledger import SHARED_MEMORY

NONE = "none"
# unshare(2)
FLAGS = {"ipc": 0x08000000, "mount": 0x00020000, "net": 0x40000000, "user": 0x10000000}
SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1  # netdevice(7)
MS_REC, MS_PRIVATE = 0x4000, 0x40000
OWN_MEMORY = b"mode=0700"


def unshare(*namespaces: str) -> None:
    """Leave `namespaces` (of `FLAGS`) for new ones.

    In a user namespace, too, this process has the ids that it had. Raises `OSError` where that
    is refused.
    """
    ids = {"uid": os.geteuid(), "gid": os.getegid()}
    flags = sum(FLAGS[name] for name in namespaces)
    if ctypes.CDLL(None, use_errno=True).unshare(flags):
        raise OSError(ctypes.get_errno(), "unshare", namespaces[0])
    if "user" in namespaces:
        Path("/proc/self/setgroups").write_text("deny")
        for kind, number in ids.items():
            Path(f"/proc/self/{kind}_map").write_text(f"{number} {number} 1")


def leave_network() -> None:
    """Move this process into a network of its own that has loopback only.

    Raises `OSError` where that is refused. Without privileges, this takes a user namespace too.
    """
    try:
        unshare("net")
    except OSError:
        unshare("net", "user")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        flags = struct.unpack_from(
            "16xH", fcntl.ioctl(sock, SIOCGIFFLAGS, struct.pack("16sH14x", b"lo", 0))
        )[0]
        fcntl.ioctl(sock, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", flags | IFF_UP))


def permitted(leave: Callable[[], None]) -> bool:
    """Tell whether `leave` works here; a child tries it: half of it would strand a process."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            with suppress(OSError):
                leave()
                code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def leave(boundary: str) -> None:
    """Leave the namespace called `boundary`, for good.

    With that of mounts goes /dev/shm, for one of its own.

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
