"""A busy loopback: programs that connect to whatever listens there, by mistake, and say anything."""

import os
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ipclab.spawn.processes import children

LISTENS, ADDRESS, INODE = ":0000 0A ", 1, 9
KNOCKS = 40  # at a port that was found, before others are looked for
LINGER = struct.pack("ii", 1, 0)


def processes(pid: int) -> list[int]:
    """Return process `pid` and all that it and those have started (proc(5), children)."""
    found = [pid]
    for child in children(pid):
        found += processes(child)
    return found


def listening() -> set[int]:
    """Return the TCP ports of loopback at which this process and what it started listen."""
    ours = set()
    for pid in processes(os.getpid()):
        with suppress(OSError):
            ours |= {str(entry.readlink()) for entry in Path(f"/proc/{pid}/fd").iterdir()}
    with Path("/proc/net/tcp").open() as table:
        rows = [line.split() for line in table if LISTENS in line]
    ours_listen = [row for row in rows if f"socket:[{row[INODE]}]" in ours]
    return {int(row[ADDRESS].rpartition(":")[2], 16) for row in ours_listen}


def knock(port: int, how: int, kept: list[socket.socket]) -> None:
    """Connect to `port` and say nonsense, hang up, reset or be silent, by the number `how`."""
    with suppress(OSError):
        link = socket.create_connection(("127.0.0.1", port), 1)
        if how % 4 == 3:
            kept.append(link)
            return
        with link:
            if how % 4 == 0:
                link.sendall(os.urandom(512))
            elif how % 4 == 2:
                link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER)


@contextmanager
def busy() -> Iterator[list[int]]:
    """Have strangers knock at every port that we open from now on; give those knocked at."""
    known, over = listening(), threading.Event()
    knocked: list[int] = []
    kept: list[socket.socket] = []

    def run() -> None:
        while not over.wait(0.001):
            for port in listening() - known:
                for how in range(KNOCKS):
                    knock(port, how, kept)
                    knocked.append(port)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield knocked
    finally:
        over.set()
        thread.join()
        for link in kept:
            link.close()
