"""One session measures at a time on a machine: a second one would measure the first.

A name in the abstract namespace of sockets is held: it is this machine's, whatever folders are
shared with others, and goes with the process that holds it, however that ends.
"""

import errno
import os
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ipclab.errors import LabError

NAME = "\0ipclab-measuring"
BESIDE = "IPCLAB_BESIDE"  # set where a session shall measure beside others
POLL, LONGEST = 0.5, 86_400.0  # seconds
WAITING = (
    "another session is measuring on this machine: this one waits until it ends, since they would"
    f" disturb each other; {BESIDE}=1 (or measure --beside) goes on beside it"
)

STRANGER = (
    "another user says that a session of theirs is measuring here: this one goes on beside it"
)
CREDENTIALS = "3i"  # of whom a socket is: process, user, group
MOST_ASKING = 4_096
SILENT = -1  # no user: whoever holds the name does not answer
BEGINNING = 2.0  # seconds in which a session of ours listens on the name that it has bound


@contextmanager
def alone(say: Callable[[str], object], beside: bool = False) -> Iterator[None]:
    """Measure while no other session of this machine does: wait for it, and `say` so.

    With `beside`, or `IPCLAB_BESIDE` set, nothing is waited for. Raises `LabError` after a day.
    """
    if beside or os.environ.get(BESIDE):
        yield
        return
    until = time.monotonic() + LONGEST
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as held:
        said = False
        while not _bound(held):
            if time.monotonic() > until:
                raise LabError("another session is measuring", "for a day by now", "end it")
            if not said:
                holder = _holder()
                if holder is None:  # it has just ended
                    continue
                if holder not in (0, os.geteuid()):  # a stranger's word makes nobody wait
                    say(STRANGER)
                    break
                say(WAITING)
                said = True
            time.sleep(POLL)
        yield


def _holder() -> int | None:
    """Return the user who holds the name; None once nobody does.

    Who does not answer is a stranger: a session of ours listens at once.
    """
    until = time.monotonic() + BEGINNING
    while not _is_free():
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asks, suppress(OSError):
            asks.settimeout(POLL)
            asks.connect(NAME)
            size = struct.calcsize(CREDENTIALS)
            told = asks.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
            _, uid, _ = struct.unpack(CREDENTIALS, told)
            return int(uid)
        if time.monotonic() > until:
            return SILENT
        time.sleep(POLL / 10)
    return None


def _is_free() -> bool:
    """Tell whether nobody holds the name any more."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as tries:
        return _bound(tries)


def _bound(held: socket.socket) -> bool:
    try:
        held.bind(NAME)
        held.listen(MOST_ASKING)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    return True
