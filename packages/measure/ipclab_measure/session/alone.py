"""One session measures at a time on a machine: a second one would measure the first.

A name in the abstract namespace of sockets is held: it is this machine's, whatever folders are
shared with others, and goes with the process that holds it, however that ends.
"""

import errno
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ipclab.errors import LabError

NAME = "\0ipclab-measuring"
BESIDE = "IPCLAB_BESIDE"  # set where a session shall measure beside others
POLL, LONGEST = 0.5, 86_400.0  # seconds
WAITING = (
    "another session is measuring on this machine: this one waits until it ends, since they would"
    f" disturb each other; {BESIDE}=1 (or measure --beside) goes on beside it"
)


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
                say(WAITING)
            said = True
            time.sleep(POLL)
        yield


def _bound(held: socket.socket) -> bool:
    try:
        held.bind(NAME)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    return True
